/** Webhook deliveries in a database of their own. */
import { randomUUID } from 'node:crypto'
import type { DeliveryInput, NewDelivery } from '../../../src/server/ports/webhooks/webhooks.ts'
import type { Store } from '../../../src/server/store/base/open.ts'
import { insertDeliveries } from '../../../src/server/store/webhooks/outbox.ts'

/** A new delivery, by default about a job that has completed. */
export function delivery(workspaceId: string, more: Partial<NewDelivery> = {}): NewDelivery {
  const jobId = more.jobId ?? randomUUID()
  return {
    workspaceId,
    jobId,
    idempotencyKey: `${jobId}-completed`,
    url: 'https://hooks.example/in?token=t',
    body: JSON.stringify({ type: 'video.generation.completed', data: { id: jobId, text: 'é\u2028' } }),
    ...more,
  }
}

/** Puts them into the outbox. */
export async function outboxed(store: Store, deliveries: readonly NewDelivery[]): Promise<void> {
  await store.sql.begin((tx) => insertDeliveries(tx, deliveries))
}

/** A wish of a runner that has nothing under way. */
export function input(more: Partial<DeliveryInput> = {}): DeliveryInput {
  return {
    countMax: 100,
    perHostMax: 4,
    perWorkspaceMax: 50,
    busy: { hosts: new Map(), workspaces: new Map() },
    leaseMs: 60_000,
    ...more,
  }
}
