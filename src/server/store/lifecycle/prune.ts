import {
  FRONT_LIVE_MS,
  INVALIDATIONS_KEPT_MS,
  SILENT_FRONTS_KEPT_MS,
} from '../../../schemas/limits/limits.ts'
import type { Queryable } from '../base/open.ts'

/** Rows that one statement removes, so that it never holds many locks for a long time. */
const BATCH_ROWS = 5_000

/** Removes invalidations older than an hour. A front that missed them drops its whole cache. @returns number of rows */
export async function pruneInvalidations(
  sql: Queryable,
  keptMs: number = INVALIDATIONS_KEPT_MS,
): Promise<number> {
  for (let removed = 0; ;) {
    const { count } = await sql`
      DELETE FROM invalidations WHERE n IN (
        SELECT n FROM invalidations WHERE at < clock_timestamp() - ${keptMs} * interval '1 ms' ORDER BY n LIMIT ${BATCH_ROWS})`
    removed += count
    if (count < BATCH_ROWS) return removed
  }
}

/**
 * Removes the rows of fronts that died without removing them. The row of a front that is disconnected from the
 * store but still accepts cached keys in its grace period is kept: `keys revoke --wait` reports it.
 * @returns number of rows
 */
export async function pruneFronts(sql: Queryable, keyGraceMs: number): Promise<number> {
  const keptMs = Math.max(SILENT_FRONTS_KEPT_MS, keyGraceMs + FRONT_LIVE_MS)
  // Postgres may be unable to represent a time that far back, so numbers are compared.
  const { count } =
    await sql`DELETE FROM fronts WHERE extract(epoch FROM clock_timestamp() - heartbeat_at) * 1000 > ${keptMs}`
  return count
}
