import { checkLine, type FigureCheck } from '../figure.ts'
import { spread } from '../statistics.ts'
import { columns, headLines, type ReportHead } from '../text.ts'
import type { Latency } from '../transfers/tiny.ts'

/** What a load of writes found. */
export interface Writes {
  readonly ratePerS: number
  readonly failed: number
  readonly failures: readonly string[]
  readonly p50Ms: number
  readonly p99Ms: number
  /** Microseconds of CPU a write: first thread of the front, its other threads, all other processes. */
  readonly mainUs: number
  readonly threadsUs: number
  readonly restUs: number
}

export interface VaultRepeat {
  /** Of the small reads. */
  readonly alone: Latency
  readonly beside: Latency
  readonly burner: Latency
  readonly writes: Writes
  readonly loopP99Ms: number | null
  readonly burnerLoopP99Ms: number | null
}

export interface VaultReport extends ReportHead {
  readonly repeats: readonly VaultRepeat[]
  readonly checks: readonly FigureCheck[]
  readonly notes: readonly string[]
}

type Figure = readonly [name: string, digits: number, read: (one: VaultRepeat) => number | null]

const FIGURES: readonly Figure[] = [
  ['secrets written/s', 1, (one) => one.writes.ratePerS],
  ['writes that failed', 0, (one) => one.writes.failed],
  ['write p50 ms', 1, (one) => one.writes.p50Ms],
  ['write p99 ms', 1, (one) => one.writes.p99Ms],
  ['CPU µs/write, main thread', 0, (one) => one.writes.mainUs],
  ['CPU µs/write, other threads', 0, (one) => one.writes.threadsUs],
  ['CPU µs/write, other processes', 0, (one) => one.writes.restUs],
  ['model read p50 ms, alone', 2, (one) => one.alone.p50],
  ['model read p50 ms, beside writes', 2, (one) => one.beside.p50],
  ['model read p50 ms, beside a burner', 2, (one) => one.burner.p50],
  ['model read p99 ms, alone', 1, (one) => one.alone.p99],
  ['model read p99 ms, beside writes', 1, (one) => one.beside.p99],
  ['model read p99 ms, beside a burner', 1, (one) => one.burner.p99],
  ['p99 beside writes over beside a burner', 2, (one) => one.beside.p99 / one.burner.p99],
  ['event-loop delay p99 ms, beside writes', 1, (one) => one.loopP99Ms],
  ['event-loop delay p99 ms, beside a burner', 1, (one) => one.burnerLoopP99Ms],
]

export function vaultText(report: VaultReport): string {
  const rows = FIGURES.map(([name, digits, read]) => {
    const { median, min, max } = spread(report.repeats.map((one) => read(one) ?? Number.NaN))
    return [name, ...[median, min, max].map((value) => (Number.isFinite(value) ? value.toFixed(digits) : '–'))]
  })
  const failures = new Set(report.repeats.flatMap((one) => one.writes.failures))
  return [
    ...headLines(report),
    '',
    ...columns([['', 'median', 'least', 'most'], ...rows]),
    '',
    ...report.checks.map(checkLine),
    '',
    ...[...failures].slice(0, 3).map((text) => `failed: ${text}`),
    ...report.notes,
  ].join('\n')
}
