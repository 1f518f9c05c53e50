/**
 * Each subject's ceiling by a closed loop, then fixed rates at shares of it: latency counts from the time
 * when a request was due.
 */
import { runLoad } from '../../test/support/load/load.ts'
import type { LoadPace, LoadResult } from '../../test/support/load/load-plan.ts'
import { tree, treeCpuS } from '../../test/support/load/process-cpu.ts'
import { rotated, sampleOf } from '../measure.ts'
import {
  resultRow,
  type CurveRecord,
  type LatencyRecord,
  type ResultRow,
  type SampleRecord,
} from '../record.ts'
import type { Target } from '../target.ts'
import { readMemory, totalOf } from '../transfers/resources.ts'

export interface Stepped {
  /** Begins the names of its cases: the kind of request. */
  readonly of: string
  readonly target: Target
}

export interface StepSettings {
  readonly connections: number
  readonly durationMs: number
  /** Milliseconds before each subject's ceiling. */
  readonly warmUpMs: number
  readonly repeats: number
  /** Percent of the ceiling. */
  readonly shares: readonly number[]
}

/**
 * Milliseconds of the generator's own lateness at the 99th percentile beyond which a cell measures the
 * generator.
 */
export const GENERATOR_LATE_MS_MAX = 5
/** Milliseconds at the head of a cell: connections open in them. */
const SETTLE_MS = 300

export interface Cell {
  readonly sample: SampleRecord
  readonly generatorLateMs: number
}

export interface Steps {
  readonly of: string
  readonly subject: string
  readonly connections: number
  /** Requests a second. */
  readonly ceiling: number
  readonly ceilingSample: SampleRecord
  readonly cells: ReadonlyMap<number, readonly Cell[]>
}

export async function latencySteps(
  all: readonly Stepped[],
  settings: StepSettings,
  progress: (text: string) => void,
): Promise<readonly Steps[]> {
  const found: (Steps & { readonly cells: Map<number, Cell[]> })[] = []
  for (const one of all) {
    progress(`the ceiling of ${one.target.name}, ${one.of}`)
    await load(one.target, { ...settings, durationMs: settings.warmUpMs, pace: { kind: 'closed' } })
    const { sample } = await load(one.target, { ...settings, pace: { kind: 'closed' } })
    const { connections } = settings
    found.push({
      of: one.of,
      subject: one.target.name,
      connections,
      ceiling: sample.requests_per_second,
      ceilingSample: sample,
      cells: new Map(),
    })
  }
  const pairs = all.flatMap((one, at) => {
    const steps = found[at]
    return steps === undefined ? [] : [{ one, steps }]
  })
  for (let repeat = 0; repeat < settings.repeats; repeat++) {
    for (const share of settings.shares) {
      for (const { one, steps } of rotated(pairs, repeat)) {
        progress(`repeat ${repeat + 1} of ${settings.repeats}: ${one.target.name}, ${one.of}, ${share} %`)
        const cell = await load(one.target, {
          ...settings,
          pace: { kind: 'open', ratePerS: rateOf(steps, share) },
        })
        steps.cells.set(share, [...(steps.cells.get(share) ?? []), cell])
      }
    }
  }
  return found
}

export function rateOf({ ceiling }: Pick<Steps, 'ceiling'>, share: number): number {
  return Math.max(1, Math.round((ceiling * share) / 100))
}

interface LoadInput {
  readonly connections: number
  readonly durationMs: number
  readonly pace: LoadPace
}

async function load(target: Target, { connections, durationMs, pace }: LoadInput): Promise<Cell> {
  await target.before?.()
  const before = treeCpuS(target.pid)
  const result: LoadResult = await runLoad({
    host: '127.0.0.1',
    port: target.port,
    connections,
    durationMs,
    warmUpMs: SETTLE_MS,
    pace,
    requests: [target.request],
  })
  const cpuS = treeCpuS(target.pid) - before
  const rssBytes = totalOf(readMemory(tree(target.pid)))
  return {
    sample: sampleOf(result, { cpuS, rssBytes, successStatus: target.successStatus ?? 200 }),
    generatorLateMs: result.generatorLate.p99,
  }
}

/** The row of the ceiling and one row for each share. */
export function stepRows(scenario: string, all: readonly Steps[]): readonly ResultRow[] {
  const head = ({ subject, connections }: Steps) => ({ scenario, subject, connections, payload_bytes: null })
  return all.flatMap((steps) => [
    resultRow(
      { ...head(steps), case: `${steps.of}, the ceiling`, pace: 'closed', offered_per_second: null },
      [steps.ceilingSample],
    ),
    ...[...steps.cells].map(([share, cells]) =>
      lateMarked(
        cells,
        resultRow(
          {
            ...head(steps),
            case: `${steps.of}, ${share} % of the ceiling`,
            pace: 'open',
            offered_per_second: rateOf(steps, share),
          },
          cells.map(({ sample }) => sample),
        ),
      ),
    ),
  ])
}

function lateMarked(cells: readonly Cell[], row: ResultRow): ResultRow {
  return { ...row, is_generator_limit: row.is_generator_limit || cells.some(isLate) }
}

function isLate({ generatorLateMs }: Cell): boolean {
  return generatorLateMs > GENERATOR_LATE_MS_MAX
}

/** A sentence for each cell whose generator was late. */
export function lateNotes(all: readonly Steps[]): readonly string[] {
  return all.flatMap(({ of, subject, cells }) =>
    [...cells].flatMap(([share, taken]) => {
      const late = taken.filter(isLate)
      const most = Math.max(...late.map(({ generatorLateMs }) => generatorLateMs)).toFixed(1)
      const times = `in ${late.length} of ${taken.length} repeats, p99 up to ${most} ms`
      return late.length === 0
        ? []
        : [`${subject}, ${of}, ${share} %: the generator itself was late ${times}, which its latency holds`]
    }),
  )
}

const PERCENTILES: readonly (readonly [keyof LatencyRecord<number>, string])[] = [
  ['p50', 'p50'],
  ['p90', 'p90'],
  ['p99', 'p99'],
  ['p99_9', 'p99.9'],
  ['max', 'the slowest'],
]

/** A curve for each percentile with a line for each subject. */
export function latencyCurves(scenario: string, rows: readonly ResultRow[]): readonly CurveRecord[] {
  const open = rows.filter((row) => row.pace === 'open')
  const of = (row: ResultRow): string => row.case.split(',')[0] ?? ''
  return [...new Set(open.map(of))].flatMap((what) =>
    PERCENTILES.map(([percentile, text]) => {
      const ours = open.filter((row) => of(row) === what)
      return {
        scenario,
        title: `${what}: ${text} against offered load`,
        x: 'requests offered a second',
        y: 'ms',
        lines: [...new Set(ours.map(({ subject }) => subject))].map((name) => ({
          name,
          points: ours.filter(({ subject }) => subject === name).flatMap((row) => pointOf(row, percentile)),
        })),
      }
    }),
  )
}

function pointOf(
  row: ResultRow,
  percentile: keyof LatencyRecord<number>,
): readonly (readonly [number, number])[] {
  const { offered_per_second: x, latency_us: latency } = row
  return x === null || latency === null ? [] : [[x, latency[percentile].median / 1_000]]
}
