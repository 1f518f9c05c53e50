import { latencyFigures } from '../measure.ts'
import { resultRow, type CurveRecord, type ResultRow, type SampleRecord } from '../record.ts'
import type { Found } from './load.ts'
import type { Ceiling } from './measure.ts'
import { textOf } from './pairs.ts'
import { ceilingRate, heldRate, type PairFound } from './recommend.ts'

export const SWEPT = 'sluice'

/** Rows of the ceiling, and of the highest rate answered in time, if there is one. */
export function rowsOf(
  { pair, repeats }: PairFound,
  { connections, p99Ms }: { readonly connections: number; readonly p99Ms: number },
): readonly ResultRow[] {
  const head = { scenario: 'sweep', subject: SWEPT, connections, payload_bytes: null }
  const held = repeats.flatMap((one) => (one.held === null ? [] : [{ ...one.held, of: one.ceiling }]))
  const ceiling = resultRow(
    { ...head, case: `${textOf(pair)}, ceiling`, pace: 'closed', offered_per_second: null },
    repeats.map(({ ceiling: one }) => sampleOf(one, one)),
  )
  if (held.length === 0) return [ceiling]
  const offered = Math.round(heldRate({ pair, repeats }))
  return [
    ceiling,
    resultRow(
      { ...head, case: `${textOf(pair)}, p99 within ${p99Ms} ms`, pace: 'open', offered_per_second: offered },
      held.map((one) => sampleOf(one, null)),
    ),
  ]
}

/** @param accounts CPU and memory of the processes, measured only at the ceiling */
export function sampleOf(found: Found, accounts: Pick<Ceiling, 'cpuUs' | 'rssMb'> | null): SampleRecord {
  return {
    cpu_us_per_request: accounts?.cpuUs ?? Number.NaN,
    cpu_s_per_gb: null,
    requests_per_second: found.ratePerS,
    mb_per_second: null,
    ...latencyFigures(found),
    rss_mb: accounts?.rssMb ?? null,
    generator_cores: found.generatorCores,
    failed: found.failed,
    failures: found.failures,
  }
}

/** Curves over worker threads, with a line for each number of fronts. */
export function curvesOf(all: readonly PairFound[], p99Ms: number): readonly CurveRecord[] {
  const fronts = [...new Set(all.map(({ pair }) => pair.fronts))]
  const curve = (title: string, read: (one: PairFound) => number): CurveRecord => ({
    scenario: 'sweep',
    title,
    x: 'worker threads',
    y: 'requests per second',
    lines: fronts.map((count) => ({
      name: `${count} front${count === 1 ? '' : 's'}`,
      points: all
        .filter(({ pair }) => pair.fronts === count)
        .map((one) => [one.pair.workers, read(one)] as const),
    })),
  })
  return [
    curve(`Highest rate with p99 within ${p99Ms} ms, by worker threads`, heldRate),
    curve('Ceiling, by worker threads', ceilingRate),
  ]
}
