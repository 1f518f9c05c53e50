import type { HistoryDimension, HistoryMetric } from '../../../schemas/operator/history.ts'
import { CALL_BUCKETS, FIRST_OUTPUT_BUCKETS, bucketOf } from '../durations.ts'
import type { CallSettled } from '../../ports/observe.ts'
import { NANO_PER_USD } from '../../../schemas/money/costs.ts'

/** Keys or models that one front counts separately in one second; the others share one count. Decision. */
export const HISTORY_FRONT_LABELS_MAX = 256

/**
 * Indexes of the sums in the columns of a name. Postgres stores hours by these indexes: a change of them, or
 * of buckets, needs a migration that removes these rows.
 */
export const COLUMN = { calls: 0, refused: 1, failed: 2, tokens: 3, costNano: 4 } as const
/** Index of the first bucket of durations, and number of the sums. */
export const DURATIONS_AT = 5
/** Index of the first bucket of times to the first output. */
export const FIRSTS_AT = DURATIONS_AT + CALL_BUCKETS.length + 1
/** Number of figures of one name in one period: sums, then two histograms. */
export const COLUMNS = FIRSTS_AT + FIRST_OUTPUT_BUCKETS.length + 1

/** The columns of a metric: the first index, and the one after the last. */
export const COLUMNS_OF: Readonly<Record<HistoryMetric, readonly [from: number, to: number]>> = {
  requests: [COLUMN.calls, COLUMN.calls + 1],
  refused: [COLUMN.refused, COLUMN.refused + 1],
  failed: [COLUMN.failed, COLUMN.failed + 1],
  tokens: [COLUMN.tokens, COLUMN.tokens + 1],
  cost: [COLUMN.costNano, COLUMN.costNano + 1],
  latency: [DURATIONS_AT, FIRSTS_AT],
  first_output: [FIRSTS_AT, COLUMNS],
}

/** Figures of one name since the last report. */
export interface NamedColumns {
  readonly name: string
  readonly columns: readonly number[]
}

/** Figures since the last report, by dimension and name; names without figures are left out. */
export type Counts = Readonly<Record<HistoryDimension, readonly NamedColumns[]>>

/** Columns by name, to which figures are added. */
export class ColumnsByName extends Map<string, Float64Array> {
  of(name: string): Float64Array {
    const known = this.get(name)
    if (known !== undefined) return known
    const made = new Float64Array(COLUMNS)
    this.set(name, made)
    return made
  }
}

export type ColumnsByDimension = Readonly<Record<HistoryDimension, ColumnsByName>>

export function noColumns(): ColumnsByDimension {
  return {
    operation: new ColumnsByName(),
    provider: new ColumnsByName(),
    model: new ColumnsByName(),
    key: new ColumnsByName(),
  }
}

export function bump(columns: Float64Array, at: number, by = 1): void {
  columns[at] = (columns[at] ?? 0) + by
}

/** Lowest status of a refused call. */
const REFUSED_FROM = 400

const FAILED_FROM = 500

/** Name for all names after the first HISTORY_FRONT_LABELS_MAX of a second; the metrics of models use the same. */
export const OTHER_NAME = 'other'

type Settled = Pick<CallSettled, 'operation' | 'status' | 'durationMs' | 'keyHash' | 'notes'>

/**
 * Counts finished calls by key and by model, which the metrics do not, and the cost of calls. It keeps only
 * the counts since it was last read, so that its size depends on the calls of one second.
 */
export class SettledCounts {
  #counts = noColumns()

  add({ operation, status, durationMs, keyHash, notes }: Settled): void {
    const { model, provider, costUsd = 0 } = notes
    if (keyHash === null && model === undefined) return
    const place = DURATIONS_AT + bucketOf(CALL_BUCKETS, durationMs / 1_000)
    const end = status >= FAILED_FROM ? COLUMN.failed : status >= REFUSED_FROM ? COLUMN.refused : null
    const { key: keys, model: models, operation: operations, provider: providers } = this.#counts
    const ofKey = keyHash === null ? null : bounded(keys, keyHash)
    const ofModel = model === undefined ? null : bounded(models, model)
    if (ofKey !== null) tally(ofKey, place, end)
    if (ofModel !== null) tally(ofModel, place, end)
    if (costUsd <= 0) return
    const nano = costUsd * NANO_PER_USD
    if (ofKey !== null) bump(ofKey, COLUMN.costNano, nano)
    if (ofModel !== null) bump(ofModel, COLUMN.costNano, nano)
    bump(operations.of(operation), COLUMN.costNano, nano)
    if (provider !== undefined) bump(providers.of(provider), COLUMN.costNano, nano)
  }

  /** Returns the counts since the last call, and resets them. */
  take(): ColumnsByDimension {
    const taken = this.#counts
    this.#counts = noColumns()
    return taken
  }
}

function bounded(names: ColumnsByName, name: string): Float64Array {
  return names.get(name) ?? names.of(names.size < HISTORY_FRONT_LABELS_MAX ? name : OTHER_NAME)
}

/** @param end the column of a call that was refused or failed */
function tally(columns: Float64Array, place: number, end: number | null): void {
  bump(columns, COLUMN.calls)
  bump(columns, place)
  if (end !== null) bump(columns, end)
}
