import { randomBytes } from 'node:crypto'
import type { WebhookSecret, WebhookSecrets } from '../../ports/webhooks/webhooks.ts'
import type { Workspace } from '../../ports/workspaces/workspaces.ts'
import { appendAudit } from '../../store/base/append-audit.ts'
import type { Store } from '../../store/base/open.ts'
import { openWebhookSecretRows } from '../../store/webhooks/secrets.ts'
import { openWebhookSecrets } from '../../vault/webhook-secrets.ts'
import { need, type DatabaseHandle } from '../parts/database.ts'
import { rootRing } from '../vault/root-keys.ts'

/** The signing secrets of this installation. Throws CliFailure. */
export function ownWebhookSecrets(store: Store): WebhookSecrets {
  return openWebhookSecrets({ rows: openWebhookSecretRows(store), keyRing: rootRing(store), randomBytes })
}

/** The secrets that sign now for a workspace, the newest first. The audit log records that they were shown. Throws CliFailure. */
export async function shownSecrets(
  { store, by }: DatabaseHandle,
  { id, organizationId }: Pick<Workspace, 'id' | 'organizationId'>,
): Promise<readonly WebhookSecret[]> {
  const current = need(await ownWebhookSecrets(store).current(id))
  await store.sql.begin((tx) =>
    appendAudit(tx, {
      ...by,
      organizationId,
      workspaceId: id,
      operation: 'cli.webhooks-secret-show',
      outcome: 'released',
      objectKind: 'webhook_secret',
      objectId: id,
      before: null,
      after: { signing: current.length },
    }),
  )
  return current
}
