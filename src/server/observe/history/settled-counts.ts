import { HISTORY_FRONT_LABELS_MAX } from '../../../schemas/operator/history-limits.ts'
import { NANO_PER_USD } from '../../../schemas/money/usd.ts'
import type { CallSettled } from '../../ports/observe.ts'
import { bucketOf, CALL_BUCKETS } from '../buckets.ts'
import {
  bump,
  COLUMN,
  DURATIONS_AT,
  noColumns,
  type ColumnsByDimension,
  type ColumnsByName,
} from './columns.ts'

/** Lowest status of a refused call. */
const REFUSED_FROM = 400
/** Lowest status of a failed call. */
const FAILED_FROM = 500
/** The name of those behind the first HISTORY_FRONT_LABELS_MAX of a second; the metrics of models call theirs so, too. */
export const OTHER_NAME = 'other'

type Settled = Pick<CallSettled, 'operation' | 'status' | 'durationMs' | 'keyHash' | 'notes'>

/**
 * Counts finished calls by key and by model, which the metrics do not, and what calls cost. It keeps what
 * came since it was last read, so that its size follows the calls of a second.
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

  /** What came since the last time. */
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
