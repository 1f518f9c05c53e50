import type { PruneStep } from '../../ports/operator/retention.ts'
import { ensureDays, prunedDays, withDays, type DailyTable } from '../base/day-partitions.ts'
import type { Store } from '../base/open.ts'

const ROWS: DailyTable = { table: 'requests', keyColumn: 'ended_at' }
const SEGMENTS: DailyTable = { table: 'request_segments', keyColumn: 'ended_at', counted: 'calls' }

/** The organization of rows whose call had no valid key. */
export const NOBODY = '00000000-0000-0000-0000-000000000000'

/** Makes the partitions of today and the next days, when they are missing. @returns days with a new one */
export async function ensureRequestDays(store: Store): Promise<{ readonly partitions: number }> {
  const [rows, segments] = [await ensureDays(store, ROWS), await ensureDays(store, SEGMENTS)]
  return { partitions: Math.max(rows.partitions, segments.partitions) }
}

/** Runs a write of the log; when the days of these instants (Unix milliseconds) have no partition, creates the partitions first. */
export function withRequestDays<T>(
  store: Store,
  instants: () => Iterable<number>,
  write: () => Promise<T>,
): Promise<T> {
  return withDays(store, { daily: ROWS, instants }, () =>
    withDays(store, { daily: SEGMENTS, instants }, write),
  )
}

/** Drops whole days of the request log. @param keptDays 0 = without end */
export function requestDays(store: Store, keptDays: number): PruneStep {
  return prunedDays(store, { kind: 'requests', tables: [ROWS, SEGMENTS] }, keptDays)
}
