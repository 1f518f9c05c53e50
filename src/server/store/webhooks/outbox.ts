import type { NewDelivery } from '../../ports/webhooks/webhooks.ts'
import { newId } from '../base/ids.ts'
import type { Transaction } from '../base/open.ts'

/**
 * Writes what is to be told, in the transaction of what it tells of; a runner that is woken after the commit
 * finds it. A delivery whose key is there already is left as it is. C17.
 */
export async function insertDeliveries(tx: Transaction, deliveries: readonly NewDelivery[]): Promise<void> {
  if (deliveries.length === 0) return
  const rows = deliveries.map(({ workspaceId, jobId, idempotencyKey, url, body }) => ({
    id: newId(),
    workspace_id: workspaceId,
    job_id: jobId,
    idempotency_key: idempotencyKey,
    url,
    host: hostOf(url),
    body,
  }))
  await tx`INSERT INTO webhook_deliveries ${tx(rows)} ON CONFLICT (idempotency_key) DO NOTHING`
}

/**
 * What receivers are told apart by: a name, whatever its port, since nobody gets more of us by listening on
 * many. An address that is none has a place too: its delivery fails where it is seen.
 */
function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).hostname.replace(/\.$/, '') : ''
}
