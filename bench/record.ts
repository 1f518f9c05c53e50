/**
 * The record of every scenario, and the form of `results.json`. Names are those on disk: snake_case, with the
 * unit at the end. A field that does not apply to a scenario is null, never left out; a missing figure is
 * null as well.
 */
import type { Machine } from './machine.ts'
import { pairedRatio, spread, type Interval, type Spread } from './statistics.ts'

/** Raised when a field changes its meaning: `--baseline` compares only files of the same form. */
export const RESULTS_FORM = 1

export interface ResultsFile {
  readonly form: typeof RESULTS_FORM
  /** ISO 8601 time of the start. */
  readonly at: string
  /** The typed command without keys. */
  readonly command: string
  readonly machine: Machine
  /** Versions by name: of sluice, of Node, and of each peer that ran. */
  readonly versions: Readonly<Record<string, string>>
  readonly took_seconds: number
  readonly scenarios: readonly ScenarioRecord[]
}

export interface ScenarioRecord {
  readonly scenario: string
  /** One sentence: the subjects of the comparison and the load. */
  readonly question: string
  /** The result in one sentence, with which the page begins. Absent: the page compares subjects. */
  readonly headline?: string
  readonly settings: Readonly<Record<string, string | number>>
  readonly took_seconds: number
  /** The subjects with their differences. */
  readonly subjects: readonly SubjectRecord[]
  /** Subjects that could not run here, with the reason and the way to add them. */
  readonly absent: readonly { readonly name: string; readonly reason: string }[]
  readonly rows: readonly ResultRow[]
  readonly ratios: readonly RatioRecord[]
  readonly curves: readonly CurveRecord[]
  readonly checks: readonly CheckRecord[]
  /** Notes for readers of the rows, one sentence each. */
  readonly notes: readonly string[]
}

export interface SubjectRecord {
  readonly name: string
  readonly note: string
  /** The subject that this one adds a part to: a rung of a ladder. Absent: no rung. */
  readonly below?: string
}

/** One subject in one case of a scenario. Figures are the median, least and most of its repeats. */
export interface ResultRow {
  readonly scenario: string
  /** The case of the scenario: `48 connections`, `files of 1 MB`, `50 % of the ceiling`. */
  readonly case: string
  /** `sluice`, `sluice-ungoverned`, `nginx`, `direct`, … */
  readonly subject: string
  /**
   * Closed: each connection sends its next request after an answer; open: a fixed rate, and latency counts
   * from the time when a request was due.
   */
  readonly pace: 'closed' | 'open'
  readonly connections: number
  /** Requests a second of the open pace. */
  readonly offered_per_second: number | null
  readonly payload_bytes: number | null
  /** CPU of all processes of the subject, as the operating system counts it. */
  readonly cpu_us_per_request: Spread
  readonly cpu_s_per_gb: Spread | null
  readonly requests_per_second: Spread
  readonly mb_per_second: Spread | null
  readonly latency_us: LatencyRecord<Spread> | null
  /**
   * Resident memory of all processes of the subject together: at the end of a cell, or the maximum where it
   * was watched.
   */
  readonly rss_mb: Spread | null
  /** Further figures of a request, by the names of `FURTHER_FIGURES`. Absent: none was taken. */
  readonly figures?: Readonly<Record<string, Spread>>
  readonly generator_cores: Spread
  /** True when the generator limited the rate in at least one repeat; CPU of a request still holds. */
  readonly is_generator_limit: boolean
  readonly failed: number
  /** Reasons of the first failures. */
  readonly failures: readonly string[]
  /** The repeats in order: the nth repeats of all subjects of a case were taken together. */
  readonly samples: readonly SampleRecord[]
}

export interface LatencyRecord<T> {
  readonly p50: T
  readonly p90: T
  readonly p99: T
  readonly p99_9: T
  readonly max: T
}

export interface SampleRecord {
  readonly cpu_us_per_request: number
  readonly cpu_s_per_gb: number | null
  readonly requests_per_second: number
  readonly mb_per_second: number | null
  readonly latency_us: LatencyRecord<number> | null
  /**
   * Microseconds within which a share of the requests was answered, by percent. Absent: only the percentiles
   * of `latency_us` were taken.
   */
  readonly latency_by_percent_us?: Readonly<Record<string, number>>
  readonly rss_mb: number | null
  readonly figures?: Readonly<Record<string, number>>
  readonly generator_cores: number
  readonly failed: number
  readonly failures: readonly string[]
}

/** A figure of one subject over that of another in the same case. */
export interface RatioRecord {
  readonly scenario: string
  readonly case: string
  readonly metric: RatioMetric
  readonly over: string
  readonly under: string
  readonly ratio: Interval
}

export type RatioMetric = 'cpu_us_per_request' | 'cpu_s_per_gb' | 'requests_per_second' | 'mb_per_second'

/** Lines over one axis: latency against offered load, memory over time, rate by worker counts. */
export interface CurveRecord {
  readonly scenario: string
  readonly title: string
  readonly x: string
  readonly y: string
  readonly lines: readonly {
    readonly name: string
    readonly points: readonly (readonly [x: number, y: number])[]
  }[]
}

/** A required figure of the product. One bound is given, the other is null. */
export interface CheckRecord {
  readonly scenario: string
  readonly text: string
  readonly found: Spread
  readonly at_least: number | null
  readonly at_most: number | null
  /** Failures during the measurement: a server that refuses is fast, and proves nothing. */
  readonly failed: number
  /** True when the median lies within the bound. */
  readonly is_met: boolean
  /**
   * Repeats of a figure that differs from one to the next; null: one run decides, as of a count. Absent in
   * files of earlier benches: the check is judged.
   */
  readonly repeats?: number | null
}

export type RowHead = Pick<
  ResultRow,
  'scenario' | 'case' | 'subject' | 'pace' | 'connections' | 'offered_per_second' | 'payload_bytes'
>

/** The rows of all scenarios of a run. */
export function rowsOf({ scenarios }: Pick<ResultsFile, 'scenarios'>): readonly ResultRow[] {
  return scenarios.flatMap(({ rows }) => rows)
}

/** True for the rows of one subject in one case, in two runs. */
export function isSameRow(one: ResultRow, other: ResultRow): boolean {
  return one.scenario === other.scenario && one.case === other.case && one.subject === other.subject
}

/** Share of a core above which the generator, not the subject, limits the rate. */
export const GENERATOR_CORES_MAX = 0.9

/** A sample with what its CPU was and the given figures; nothing else was measured. */
export function bareSample(cpuUs: number, more: Partial<SampleRecord>): SampleRecord {
  return {
    cpu_us_per_request: cpuUs,
    cpu_s_per_gb: null,
    requests_per_second: 1,
    mb_per_second: null,
    latency_us: null,
    rss_mb: null,
    generator_cores: 0,
    failed: 0,
    failures: [],
    ...more,
  }
}

export function resultRow(head: RowHead, samples: readonly SampleRecord[]): ResultRow {
  const of = (read: (one: SampleRecord) => number): Spread => spread(samples.map(read))
  const ifAny = (read: (one: SampleRecord) => number | null): Spread | null => {
    const values = samples.map(read).filter((value) => value !== null)
    return values.length === 0 ? null : spread(values)
  }
  const latency = (name: keyof LatencyRecord<number>): Spread | null =>
    ifAny((one) => one.latency_us?.[name] ?? null)
  const [p50, p90, p99, p99_9, max] = [
    latency('p50'),
    latency('p90'),
    latency('p99'),
    latency('p99_9'),
    latency('max'),
  ]
  return {
    ...head,
    cpu_us_per_request: of((one) => one.cpu_us_per_request),
    cpu_s_per_gb: ifAny((one) => one.cpu_s_per_gb),
    requests_per_second: of((one) => one.requests_per_second),
    mb_per_second: ifAny((one) => one.mb_per_second),
    latency_us:
      p50 === null || p90 === null || p99 === null || p99_9 === null || max === null
        ? null
        : { p50, p90, p99, p99_9, max },
    rss_mb: ifAny((one) => one.rss_mb),
    ...furtherOf(samples),
    generator_cores: of((one) => one.generator_cores),
    is_generator_limit: samples.some((one) => one.generator_cores > GENERATOR_CORES_MAX),
    failed: samples.reduce((sum, one) => sum + one.failed, 0),
    failures: [...new Set(samples.flatMap((one) => one.failures))].slice(0, 3),
    samples,
  }
}

/** The further figures that at least one of the samples has. */
function furtherOf(samples: readonly SampleRecord[]): Pick<ResultRow, 'figures'> {
  const names = [...new Set(samples.flatMap(({ figures }) => Object.keys(figures ?? {})))]
  if (names.length === 0) return {}
  return {
    figures: Object.fromEntries(
      names.map((name) => [name, spread(samples.map(({ figures }) => figures?.[name] ?? Number.NaN))]),
    ),
  }
}

/**
 * The ratio of the nth repeats of both; a repeat without the figure leaves its pair out and shifts no other.
 * @returns null when no pair has the figure
 */
export function ratioRecord(metric: RatioMetric, over: ResultRow, under: ResultRow): RatioRecord | null {
  const of = (row: ResultRow): readonly number[] => row.samples.map((one) => one[metric] ?? Number.NaN)
  const ratio = pairedRatio(of(over), of(under))
  if (!Number.isFinite(ratio.median)) return null
  return { scenario: over.scenario, case: over.case, metric, over: over.subject, under: under.subject, ratio }
}

export type Bound = { readonly atLeast: number } | { readonly atMost: number }

type CheckedRow = Pick<ResultRow, 'failed'> & Partial<Pick<ResultRow, 'scenario' | 'samples'>>

export interface Checked {
  readonly bound: Bound
  /** The rows of the figure. */
  readonly rows: readonly CheckedRow[]
  /** As in `CheckRecord`; the fewest repeats of the rows unless given. */
  readonly repeats?: number | null
}

export function checkRecord(
  text: string,
  found: Spread,
  { bound, rows, repeats = fewestOf(rows) }: Checked,
): CheckRecord {
  const failed = rows.reduce((sum, one) => sum + one.failed, 0)
  const isWithin = 'atLeast' in bound ? found.median >= bound.atLeast : found.median <= bound.atMost
  return {
    scenario: rows[0]?.scenario ?? '',
    text,
    found,
    at_least: 'atLeast' in bound ? bound.atLeast : null,
    at_most: 'atMost' in bound ? bound.atMost : null,
    failed,
    is_met: isWithin && failed === 0 && rows.length > 0,
    repeats,
  }
}

function fewestOf(rows: readonly CheckedRow[]): number | null {
  const counts = rows.flatMap(({ samples }) => samples?.length ?? [])
  return counts.length === 0 ? null : Math.min(...counts)
}

export type CheckResult = 'met' | 'missed' | 'not judged'

/** Repeats below which a figure that differs from one to the next has no spread. */
const REPEATS_JUDGED_MIN = 2

/** A request that failed and a figure that nobody took are misses, however few the repeats. */
export function checkResult({ found, failed, is_met, repeats = null }: CheckRecord): CheckResult {
  const isTakenOnce = repeats !== null && repeats < REPEATS_JUDGED_MIN
  if (isTakenOnce && failed === 0 && Number.isFinite(found.median)) return 'not judged'
  return is_met ? 'met' : 'missed'
}
