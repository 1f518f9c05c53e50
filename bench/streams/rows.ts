/** The record of a load test of streams: rows, curves, and its result in sentences. */
import { decodeFromCompressedBase64, type Histogram } from 'hdr-histogram-js'
import { latencyOf } from '../../test/support/load/load-latency.ts'
import {
  GENERATOR_CORES_MAX,
  resultRow,
  type CurveRecord,
  type LatencyRecord,
  type ResultRow,
  type SampleRecord,
} from '../record.ts'
import { spread } from '../statistics.ts'
import type { StreamsResult } from './cell.ts'
import { P99_9_SAMPLES_MIN } from './limits.ts'
import { hasSlo } from './slo.ts'
import type { StreamsOptions } from './options.ts'

export const SUBJECT = 'target'
export const SCENARIO = 'streams'

/** A cell, and what each of its repeats found. */
export interface FoundCell {
  readonly name: string
  /** Calls a second; null: closed pace. */
  readonly ratePerS: number | null
  readonly results: readonly StreamsResult[]
}

export function cellName(ratePerS: number | null, { connections, arrivals }: StreamsOptions): string {
  return ratePerS === null ? `${connections} streams at once` : `${ratePerS} calls/s (${arrivals})`
}

/** @param text of `TallyFigures` */
export function histogramOf(text: string): Histogram {
  return decodeFromCompressedBase64(text)
}

const US = 1_000

/** p99.9 of few samples is the time of one call, and is left out. */
function latencyUs(text: string): LatencyRecord<number> | null {
  const histogram = histogramOf(text)
  if (histogram.totalCount === 0) return null
  const { p50, p90, p99, p99_9, max } = latencyOf(histogram)
  const isKnown = histogram.totalCount >= P99_9_SAMPLES_MIN
  return {
    p50: p50 * US,
    p90: p90 * US,
    p99: p99 * US,
    p99_9: isKnown ? p99_9 * US : Number.NaN,
    max: max * US,
  }
}

function sampleOf(result: StreamsResult, options: StreamsOptions): SampleRecord {
  const { ended, reasons, carriedSeconds } = result
  const [gap, total, pace] = [result.gap, result.total, result.pace].map((text) => histogramOf(text))
  const at = (histogram: Histogram | undefined, percentile: number): number =>
    histogram === undefined || histogram.totalCount === 0
      ? Number.NaN
      : histogram.getValueAtPercentile(percentile) / US
  return {
    cpu_us_per_request: Number.NaN,
    cpu_s_per_gb: null,
    requests_per_second: ended.whole / carriedSeconds,
    mb_per_second: null,
    latency_us: latencyUs(result.first),
    rss_mb: null,
    figures: {
      gap_p50_ms: at(gap, 50),
      gap_p99_ms: at(gap, 99),
      stream_p50_ms: at(total, 50),
      stream_p99_ms: at(total, 99),
      stream_tokens_per_s: at(pace, 50),
      tokens_per_s: result.tokens / carriedSeconds,
      calls_per_s: (result.sent + result.unsent) / result.dueSeconds,
      cut: ended.cut,
      limited: ended.limited,
      open: ended.open,
      ...(hasSlo(options.slo) && { good_per_s: result.good / carriedSeconds }),
    },
    generator_cores: result.cores,
    failed: ended.failed + ended.cut,
    failures: reasons.map(([text, times]) => `${text}, ${times} times`),
  }
}

export function rowOf({ name, ratePerS, results }: FoundCell, options: StreamsOptions): ResultRow {
  return resultRow(
    {
      scenario: SCENARIO,
      case: name,
      subject: SUBJECT,
      pace: ratePerS === null ? 'closed' : 'open',
      connections: options.connections,
      offered_per_second: ratePerS,
      payload_bytes: null,
    },
    results.map((result) => sampleOf(result, options)),
  )
}

const TIME_NAMES = ['p50', 'p90', 'p99'] as const

/** Time to the first token by rate, and within the last cell by time. */
export function curvesOf(cells: readonly FoundCell[], rows: readonly ResultRow[]): readonly CurveRecord[] {
  const byRate = rows.filter((row) => row.offered_per_second !== null && row.latency_us !== null)
  const lines = TIME_NAMES.map((name) => ({
    name,
    points: byRate.map(
      (row) => [row.offered_per_second ?? 0, (row.latency_us?.[name].median ?? 0) / US] as const,
    ),
  }))
  return [
    ...(byRate.length < 2
      ? []
      : [
          {
            scenario: SCENARIO,
            title: 'Latency of the first token against offered load',
            x: 'calls per second',
            y: 'ms',
            lines,
          },
        ]),
    ...cells.flatMap(timeCurve),
  ]
}

/** Of the first repeat. */
function timeCurve({ name, results }: FoundCell): readonly CurveRecord[] {
  const slots = results[0]?.slots ?? []
  if (slots.length < 2) return []
  return [
    {
      scenario: SCENARIO,
      title: `Latency of the first token over time, ${name}`,
      x: 'seconds',
      y: 'ms',
      lines: [
        { name: 'p50', points: slots.map(({ atS, p50Ms }) => [atS, p50Ms] as const) },
        { name: 'p99', points: slots.map(({ atS, p99Ms }) => [atS, p99Ms] as const) },
      ],
    },
  ]
}

/** Share of the offered calls that must end whole for a target to keep up. Decision. */
const KEPT_SHARE_MIN = 0.95
/** Times the p99 of the lowest rate above which a target no longer keeps up, without an SLO. Decision. */
const P99_TIMES_MAX = 3

/** One sentence with the result; for several rates, with the highest rate that the target keeps up with. */
export function headlineOf(rows: readonly ResultRow[], { slo }: Pick<StreamsOptions, 'slo'>): string {
  const [first] = rows
  if (first === undefined) return 'No cell was run.'
  if (rows.length === 1) return cellSentence(first)
  const keeps = rows.map((row) => keepsUp(row, first, hasSlo(slo)))
  const knee = keeps.indexOf(false)
  const last = rows[knee === -1 ? rows.length - 1 : knee]
  const before = rows[knee - 1]
  if (knee === -1) return `The target keeps up at each rate; at the highest: ${cellSentence(last ?? first)}`
  if (before === undefined) return `The target does not keep up at the lowest rate: ${cellSentence(first)}`
  return `The target keeps up to ${rateText(before)}; at ${rateText(last ?? first)} it does not: ${cellSentence(last ?? first)}`
}

function keepsUp(row: ResultRow, first: ResultRow, isBySlo: boolean): boolean {
  // Arrivals of chance are a few more or fewer than were offered.
  const offered = row.figures?.['calls_per_s']?.median ?? 0
  const good = isBySlo ? (row.figures?.['good_per_s']?.median ?? 0) : row.requests_per_second.median
  if (good < KEPT_SHARE_MIN * offered) return false
  if (isBySlo) return true
  return (
    (row.latency_us?.p99.median ?? Infinity) <= P99_TIMES_MAX * (first.latency_us?.p99.median ?? Infinity)
  )
}

function rateText({ offered_per_second }: ResultRow): string {
  return `${offered_per_second} calls/s`
}

function cellSentence(row: ResultRow): string {
  const p99 = row.latency_us?.p99.median
  const time = p99 === undefined ? 'no stream had a token' : `p99 time to first token ${msText(p99 / US)}`
  const load = row.offered_per_second === null ? row.case : rateText(row)
  const good = row.figures?.['good_per_s']
  const slo = good === undefined ? '' : `; ${good.median.toFixed(1)} streams/s within the SLO`
  const left = row.samples.reduce((sum, one) => sum + (one.figures?.['open'] ?? 0), 0)
  const open = left === 0 ? '' : `, ${left} not ended`
  return `${time} at ${load}; ${row.failed} failed${open}${slo}`
}

function msText(ms: number): string {
  return ms < 10
    ? `${ms.toFixed(1)} ms`
    : ms < 10_000
      ? `${Math.round(ms)} ms`
      : `${(ms / 1_000).toFixed(1)} s`
}

/** Milliseconds that the generator may begin calls late at p99: later calls make a figure that is not the target's. */
const LATE_MS_MAX = 5

/** Notes on what held a figure back, and on calls that are in no figure. */
export function notesOf(cells: readonly FoundCell[]): readonly string[] {
  return cells.flatMap(({ name, results }) => {
    const late = spread(results.map(({ late: text }) => latencyOf(histogramOf(text)).p99)).max
    const cores = spread(results.map((one) => one.cores)).max
    const sum = (of: (one: StreamsResult) => number): number => results.reduce((all, one) => all + of(one), 0)
    const [limited, open, unsent, resent] = [
      sum((one) => one.ended.limited),
      sum((one) => one.ended.open),
      sum((one) => one.unsent),
      sum((one) => one.resent),
    ]
    return [
      ...(cores > GENERATOR_CORES_MAX || late > LATE_MS_MAX
        ? [
            `${name}: the generator used ${cores.toFixed(2)} of a core and began calls up to ${late.toFixed(1)} ms late ` +
              `(p99): ${cores > GENERATOR_CORES_MAX ? 'its own load' : 'a busy machine'} is in these figures`,
          ]
        : []),
      ...(limited === 0 ? [] : [`${name}: ${limited} calls were answered with 429, which is no failure`]),
      ...(open === 0
        ? []
        : [
            `${name}: ${open} streams had not ended when the cell was over: of their times, only the first token ` +
              'and the gaps are in these figures',
          ]),
      ...(unsent === 0
        ? []
        : [
            `${name}: ${unsent} calls were not sent, since all streams were busy: raise --connections or lower the rate`,
          ]),
      ...(resent === 0
        ? []
        : [
            `${name}: ${resent} times a call was sent again, since the target had closed its kept connection`,
          ]),
      ...(results.some((one) => one.isStopped) ? [`${name}: ended early`] : []),
    ]
  })
}
