import {
  HISTORY_QUANTILES,
  type HistoryData,
  type HistoryLine,
  type HistoryMetric,
  type HistoryQuantile,
} from '../../../schemas/operator/history.ts'
import type { HistoryInput } from '../../../schemas/operator/history-range.ts'
import { bump, COLUMN, COLUMNS_OF } from './columns.ts'
import { CALL_BUCKETS, FIRST_OUTPUT_BUCKETS, quantileMs, rounded } from '../durations.ts'
import { usdOfNano } from '../../../schemas/money/costs.ts'
import { HISTORY_LINES_MAX } from '../../../schemas/operator/admin-port-limits.ts'

const MINUTE_S = 60
const SHARE_OF: Readonly<Record<HistoryQuantile, number>> = { p50: 0.5, p90: 0.9, p99: 0.99 }

/** The cells of one line: for each point a row of the metric's columns. */
export interface NamedCells {
  readonly name: string
  readonly isOthers: boolean
  readonly cells: Float64Array
}

export function pointsOf({ sinceS, untilS, grainS }: HistoryInput): number {
  return (untilS - sinceS) / grainS
}

export function unitOf(metric: HistoryMetric): HistoryData['unit'] {
  if (metric === 'latency' || metric === 'first_output') return 'ms'
  return metric === 'cost' ? 'usd_per_minute' : 'per_second'
}

/** The largest tables, the largest first, and one of all others; empty tables are left out. */
export function largest(tables: readonly NamedCells[]): readonly NamedCells[] {
  const found = tables
    .map((table) => ({ table, weight: sumOf(table.cells) }))
    .filter(({ weight }) => weight > 0)
    .sort((a, b) => b.weight - a.weight)
    .map(({ table }) => table)
  const named = found.filter(({ isOthers }) => !isOthers)
  const rest = [...named.slice(HISTORY_LINES_MAX), ...found.filter(({ isOthers }) => isOthers)]
  const shown = named.slice(0, HISTORY_LINES_MAX)
  return rest.length === 0 ? shown : [...shown, othersOf(rest)]
}

/**
 * The lines of tables. Quantiles are computed from merged buckets, never as means of quantiles.
 * @param secondsOf seconds of a point that are known; 0: none
 */
export function linesOf(
  metric: HistoryMetric,
  tables: readonly NamedCells[],
  secondsOf: (point: number) => number,
): readonly HistoryLine[] {
  const [from, to] = COLUMNS_OF[metric]
  const width = to - from
  return tables.flatMap(({ name, isOthers, cells }): HistoryLine[] => {
    const rows = Array.from({ length: cells.length / width }, (_, point) => ({
      row: cells.subarray(point * width, (point + 1) * width),
      seconds: secondsOf(point),
    }))
    const line = { name, is_others: isOthers }
    if (unitOf(metric) !== 'ms')
      return [{ ...line, quantile: null, values: rows.map((point) => rateOf(metric, point)) }]
    const bounds = metric === 'latency' ? CALL_BUCKETS : FIRST_OUTPUT_BUCKETS
    return HISTORY_QUANTILES.map((quantile) => ({
      ...line,
      quantile,
      values: rows.map(({ row }) => quantileMs(row, SHARE_OF[quantile], bounds)),
    }))
  })
}

/**
 * Splits calls by status; calls neither refused nor failed are 2xx.
 * @param cells calls, refused and failed ones of each point
 * @param width columns of a point
 */
export function statusTables(cells: Float64Array, width: number): readonly NamedCells[] {
  const points = cells.length / width
  const column = (at: number): Float64Array =>
    Float64Array.from({ length: points }, (_, point) => cells[point * width + at] ?? 0)
  const [refused, failed] = [column(COLUMN.refused), column(COLUMN.failed)]
  const served = column(COLUMN.calls).map((all, at) => all - (refused[at] ?? 0) - (failed[at] ?? 0))
  return [
    { name: '2xx', isOthers: false, cells: served },
    { name: '4xx', isOthers: false, cells: refused },
    { name: '5xx', isOthers: false, cells: failed },
  ]
}

interface Point {
  readonly row: Float64Array
  readonly seconds: number
}

function rateOf(metric: HistoryMetric, { row: [sum = 0], seconds }: Point): number | null {
  if (seconds <= 0) return null
  // Costs are small: if they were rounded like rates, the cheapest calls would seem free.
  if (metric === 'cost') return usdOfNano(Math.round((sum / seconds) * MINUTE_S))
  return rounded(sum / seconds)
}

function othersOf(tables: readonly NamedCells[]): NamedCells {
  const cells = new Float64Array(tables[0]?.cells.length ?? 0)
  for (const { cells: more } of tables) for (let at = 0; at < cells.length; at++) bump(cells, at, more[at])
  return { name: 'others', isOthers: true, cells }
}

/** Sums with an index, as all loops over cells do here: an answer has a million of them. */
function sumOf(cells: Float64Array): number {
  let sum = 0
  for (let at = 0; at < cells.length; at++) sum += cells[at] ?? 0
  return sum
}
