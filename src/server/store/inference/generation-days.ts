import type { PruneStep } from '../../ports/operator/retention.ts'
import { ensureDays, prunedDays, type DailyTable } from '../base/day-partitions.ts'
import type { Store } from '../base/open.ts'

export const GENERATION_TABLE: DailyTable = { table: 'generation_records', keyColumn: 'created_at' }
/** Rows of older versions: migration 33. */
const OLDER_TABLE: DailyTable = { table: 'generations', keyColumn: 'created_at' }

/** Makes the partitions of today and the next days, where they are missing. @returns number of new ones */
export function ensureGenerationDays(store: Store): Promise<{ readonly partitions: number }> {
  return ensureDays(store, GENERATION_TABLE)
}

/** Drops whole days of the records of calls. @param keptDays 0 = without end */
export function generationDays(store: Store, keptDays: number): PruneStep {
  return prunedDays(store, { kind: 'generations', tables: [GENERATION_TABLE, OLDER_TABLE] }, keptDays)
}
