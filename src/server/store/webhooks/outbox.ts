import type { NewDelivery } from '../../ports/webhooks/webhooks.ts'
import { newId } from '../base/ids.ts'
import type { Transaction } from '../base/open.ts'

/**
 * Writes deliveries in the transaction of the change that they report; a runner that is woken after the
 * commit finds them. A delivery whose key exists stays unchanged.
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
 * The host that distinguishes receivers: a name without its port, so that a receiver with many ports gets no
 * more than its share. A malformed URL has the empty host: its delivery fails when it is attempted.
 */
function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).hostname.replace(/\.$/, '') : ''
}
