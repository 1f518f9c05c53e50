import type { PruneStep } from '../../ports/operator/retention.ts'
import { ensureDays, prunedDays, type DailyTable } from '../base/day-partitions.ts'
import type { Store } from '../base/open.ts'

export const REQUEST_TABLE: DailyTable = { table: 'requests', keyColumn: 'ended_at' }

/** The organization of rows whose call had no valid key. */
export const NOBODY = '00000000-0000-0000-0000-000000000000'

/** Makes the partitions of today and the next days, where they are missing. @returns number of new ones */
export function ensureRequestDays(store: Store): Promise<{ readonly partitions: number }> {
  return ensureDays(store, REQUEST_TABLE)
}

/**
 * Drops whole days of the request log.
 * @param keptDays 0 = without end
 */
export function requestDays(store: Store, keptDays: number): PruneStep {
  return prunedDays(store, REQUEST_TABLE, keptDays)
}
