import type { HistoryDimension, HistoryMetric } from '../../../schemas/operator/history.ts'
import { CALL_BUCKETS, FIRST_OUTPUT_BUCKETS } from '../buckets.ts'

/**
 * Places of the sums in the columns of a name. Postgres keeps hours by these places: a change of them, or of
 * buckets, needs a migration that removes these rows.
 */
export const COLUMN = { calls: 0, refused: 1, failed: 2, tokens: 3, costNano: 4 } as const
/** Place of the first bucket of durations, and number of the sums. */
export const DURATIONS_AT = 5
/** Place of the first bucket of times to the first output. */
export const FIRSTS_AT = DURATIONS_AT + CALL_BUCKETS.length + 1
/** Figures of one name in one time: sums, then two histograms. */
export const COLUMNS = FIRSTS_AT + FIRST_OUTPUT_BUCKETS.length + 1

/** The columns behind a metric: from the first up to the one behind the last. */
export const COLUMNS_OF: Readonly<Record<HistoryMetric, readonly [from: number, to: number]>> = {
  requests: [COLUMN.calls, COLUMN.calls + 1],
  refused: [COLUMN.refused, COLUMN.refused + 1],
  failed: [COLUMN.failed, COLUMN.failed + 1],
  tokens: [COLUMN.tokens, COLUMN.tokens + 1],
  cost: [COLUMN.costNano, COLUMN.costNano + 1],
  latency: [DURATIONS_AT, FIRSTS_AT],
  first_output: [FIRSTS_AT, COLUMNS],
}

/** What came under one name since it was last told. */
export interface NamedColumns {
  readonly name: string
  readonly columns: readonly number[]
}

/** What came since it was last told, by dimension and name; names with nothing are left out. */
export type Counts = Readonly<Record<HistoryDimension, readonly NamedColumns[]>>

/** Columns by name, to be added to. */
export class ColumnsByName extends Map<string, Float64Array> {
  of(name: string): Float64Array {
    const known = this.get(name)
    if (known !== undefined) return known
    const made = new Float64Array(COLUMNS)
    this.set(name, made)
    return made
  }
}

/** Columns by dimension and name. */
export type ColumnsByDimension = Readonly<Record<HistoryDimension, ColumnsByName>>

export function noColumns(): ColumnsByDimension {
  return {
    operation: new ColumnsByName(),
    provider: new ColumnsByName(),
    model: new ColumnsByName(),
    key: new ColumnsByName(),
  }
}

/** Adds to one column. */
export function bump(columns: Float64Array, at: number, by = 1): void {
  columns[at] = (columns[at] ?? 0) + by
}
