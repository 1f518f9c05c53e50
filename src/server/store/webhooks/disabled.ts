import type { Queryable, Transaction } from '../base/open.ts'

/** Lets the URLs of these deliveries be tried again, though they answered 410. */
export async function enableUrlsOf(tx: Transaction, ids: readonly string[]): Promise<void> {
  await tx`
    DELETE FROM webhook_disabled x USING webhook_deliveries d
    WHERE d.id IN ${tx(ids)} AND x.workspace_id = d.workspace_id AND x.url = d.url`
}

export async function isUrlDisabled(
  sql: Queryable,
  { workspaceId, url }: { readonly workspaceId: string; readonly url: string },
): Promise<boolean> {
  const [row] = await sql`SELECT 1 FROM webhook_disabled WHERE workspace_id = ${workspaceId} AND url = ${url}`
  return row !== undefined
}
