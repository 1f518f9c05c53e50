/** Watches a node during a load. */
import { monotonicMs } from '../../test/support/load/load-plan.ts'
import type { Stand } from '../../test/support/nodes/stand.ts'
import { holdings, type Holding } from './holding.ts'
import type { Reading } from './trend.ts'

export interface Look {
  readonly atMs: number
  readonly holdings: readonly Holding[]
}

export interface LoopReading {
  readonly front: string
  readonly atMs: number
  /** Percentiles since the previous reading. */
  readonly p50Ms: number
  readonly p99Ms: number
  readonly maxMs: number
}

export interface Watched {
  readonly looks: readonly Look[]
  readonly loops: readonly LoopReading[]
  /** Reasons why metrics could not be read, each once. */
  readonly problems: readonly string[]
}

export interface Watch {
  stop(): Promise<Watched>
}

interface Pace {
  readonly lookEveryMs: number
  /** Milliseconds between two readings of the loop; the first one only discards earlier values. */
  readonly loopEveryMs: number
}

export async function watch(
  stand: Pick<Stand, 'pid' | 'admin'>,
  { lookEveryMs, loopEveryMs }: Pace,
): Promise<Watch> {
  const startedAt = monotonicMs()
  const [looks, loops, problems]: [Look[], LoopReading[], Set<string>] = [[], [], new Set()]
  const look = (): void => void looks.push({ atMs: monotonicMs() - startedAt, holdings: holdings(stand.pid) })
  const readLoops = async (): Promise<void> => {
    try {
      loops.push(...loopReadings((await stand.admin('/metrics')).text, monotonicMs() - startedAt))
    } catch (problem) {
      problems.add(`/metrics: ${problem instanceof Error ? problem.message : String(problem)}`)
    }
  }
  await readLoops()
  loops.length = 0
  let reading: Promise<void> = Promise.resolve()
  const timers = [
    setInterval(look, lookEveryMs),
    setInterval(() => (reading = reading.then(readLoops)), loopEveryMs),
  ]
  look()
  return {
    async stop() {
      for (const timer of timers) clearInterval(timer)
      await reading
      // A load shorter than one interval gets one reading too.
      if (loops.length === 0) await readLoops()
      return { looks, loops, problems: [...problems] }
    },
  }
}

const LINE = /^sluice_front_event_loop_delay_seconds\{front="([^"]+)",percentile="([^"]+)"\} (\S+)$/gm

export function loopReadings(metrics: string, atMs: number): readonly LoopReading[] {
  const byFront = new Map<string, Map<string, number>>()
  for (const [, front = '', percentile = '', seconds] of metrics.matchAll(LINE)) {
    byFront.set(
      front,
      (byFront.get(front) ?? new Map<string, number>()).set(percentile, Number(seconds) * 1_000),
    )
  }
  return [...byFront].map(([front, of]) => ({
    front,
    atMs,
    p50Ms: of.get('50') ?? Number.NaN,
    p99Ms: of.get('99') ?? Number.NaN,
    maxMs: of.get('100') ?? Number.NaN,
  }))
}

/** Series by name, for processes that were present in every look. */
export function seriesOf(
  looks: readonly Look[],
  read: (holding: Holding) => number | null,
): ReadonlyMap<string, readonly Reading[]> {
  const series = new Map<string, Reading[]>()
  for (const { atMs, holdings } of looks) {
    for (const holding of holdings) {
      const value = read(holding)
      if (value !== null) series.set(holding.name, [...(series.get(holding.name) ?? []), [atMs, value]])
    }
  }
  return new Map([...series].filter(([, readings]) => readings.length === looks.length))
}
