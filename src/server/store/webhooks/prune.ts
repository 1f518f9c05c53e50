import { WEBHOOK_DEAD_KEPT_MS, WEBHOOK_DELIVERED_KEPT_MS } from '../../../schemas/webhook-limits.ts'
import type { Queryable } from '../open.ts'

/** Rows that one statement removes, so that it never holds many locks for long. */
const BATCH_ROWS = 5_000
/** Tables that are of a workspace, and end with it. */
const OWNED = ['webhook_deliveries', 'webhook_secrets', 'webhook_disabled']

/** Removes deliveries that ended long ago, all that belongs to deleted workspaces, and secrets that sign no more. @returns rows */
export async function pruneWebhooks(sql: Queryable): Promise<number> {
  let removed = await pruneEnded(sql, 'delivered', WEBHOOK_DELIVERED_KEPT_MS) + await pruneEnded(sql, 'dead', WEBHOOK_DEAD_KEPT_MS)
  for (const table of OWNED) removed += await pruneOfDeleted(sql, table)
  const { count } = await sql`DELETE FROM webhook_secrets WHERE signs_until < clock_timestamp()`
  return removed + count
}

function pruneEnded(sql: Queryable, state: 'delivered' | 'dead', keptMs: number): Promise<number> {
  return inBatches(() => sql`
    DELETE FROM webhook_deliveries WHERE id IN (
      SELECT id FROM webhook_deliveries
      WHERE state = ${state} AND ended_at < statement_timestamp() - ${keptMs} * interval '1 ms' LIMIT ${BATCH_ROWS})`)
}

function pruneOfDeleted(sql: Queryable, table: string): Promise<number> {
  return inBatches(() => sql`
    DELETE FROM ${sql(table)} WHERE ctid = ANY(ARRAY(
      SELECT x.ctid FROM workspaces w JOIN ${sql(table)} x ON x.workspace_id = w.id WHERE w.deleted_at IS NOT NULL LIMIT ${BATCH_ROWS}))`)
}

async function inBatches(remove: () => PromiseLike<{ readonly count: number }>): Promise<number> {
  for (let removed = 0; ;) {
    const { count } = await remove()
    removed += count
    if (count < BATCH_ROWS) return removed
  }
}
