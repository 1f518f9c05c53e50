import type { Queryable } from '../base/open.ts'

/** Rows that one statement removes, so that it never holds many locks for long. */
const BATCH_ROWS = 5_000
/** Tables whose rows belong to a workspace and end with it. */
const OWNED = ['webhook_deliveries', 'webhook_secrets', 'webhook_disabled']

/** Removes rows of deleted workspaces, and secrets whose time is over. @returns number of rows */
export async function pruneWebhooks(sql: Queryable): Promise<number> {
  let removed = 0
  for (const table of OWNED) removed += await pruneOfDeleted(sql, table)
  const { count } = await sql`DELETE FROM webhook_secrets WHERE signs_until < clock_timestamp()`
  return removed + count
}

function pruneOfDeleted(sql: Queryable, table: string): Promise<number> {
  return inBatches(
    () => sql`
    DELETE FROM ${sql(table)} WHERE ctid = ANY(ARRAY(
      SELECT x.ctid FROM workspaces w JOIN ${sql(table)} x ON x.workspace_id = w.id WHERE w.deleted_at IS NOT NULL LIMIT ${BATCH_ROWS}))`,
  )
}

async function inBatches(remove: () => PromiseLike<{ readonly count: number }>): Promise<number> {
  for (let removed = 0; ;) {
    const { count } = await remove()
    removed += count
    if (count < BATCH_ROWS) return removed
  }
}
