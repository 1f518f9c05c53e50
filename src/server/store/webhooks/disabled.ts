import type { Transaction } from '../base/open.ts'

/** Lets the URLs of these deliveries be tried again, though they answered 410. C17. */
export async function enableUrlsOf(tx: Transaction, ids: readonly string[]): Promise<void> {
  await tx`
    DELETE FROM webhook_disabled x USING webhook_deliveries d
    WHERE d.id IN ${tx(ids)} AND x.workspace_id = d.workspace_id AND x.url = d.url`
}
