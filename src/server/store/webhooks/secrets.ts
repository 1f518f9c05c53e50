import { fail, ok, type Outcome } from '../../../schemas/failures.ts'
import { WEBHOOK_SECRETS_MAX } from '../../../schemas/webhooks/webhook-limits.ts'
import type { SealedWebhookSecret, WebhookSecretRows } from '../../ports/webhooks/webhooks.ts'
import type { ChangedBy } from '../../ports/vault/vault.ts'
import { appendAudit } from '../base/append-audit.ts'
import type { Queryable, Store, Transaction } from '../base/open.ts'
import { reach } from '../base/translate.ts'
import { holdWorkspace, lockWorkspace } from '../base/find-workspace.ts'

export function openWebhookSecretRows(store: Store): WebhookSecretRows {
  return {
    signing: (workspaceId) => reach(async () => ok(await signing(store.sql, workspaceId))),
    addFirst: (secret) =>
      reach(() =>
        store.sql.begin(async (tx) => {
          if (!(await holdWorkspace(tx, secret.workspaceId))) return fail('workspace_unknown')
          // A process that lost the race waits for the winner's commit here, and sees its row below.
          await insert(tx, secret)
          return ok(await signing(tx, secret.workspaceId))
        }),
      ),
    replace: (secret, overlapMs, by) =>
      reach(() => store.sql.begin((tx) => replace(tx, secret, { overlapMs, by }))),
  }
}

interface Replacement {
  readonly overlapMs: number
  readonly by: ChangedBy
}

async function replace(
  tx: Transaction,
  secret: SealedWebhookSecret,
  { overlapMs, by }: Replacement,
): Promise<Outcome<readonly SealedWebhookSecret[]>> {
  const { workspaceId } = secret
  const workspace = await lockWorkspace(tx, { organizationId: null, reference: workspaceId })
  if (workspace === null) return fail('workspace_unknown')
  const before = await signing(tx, workspaceId)
  await tx`
    UPDATE webhook_secrets SET signs_until = clock_timestamp() + ${overlapMs} * interval '1 ms'
    WHERE workspace_id = ${workspaceId} AND signs_until IS NULL`
  await insert(tx, secret)
  await tx`
    DELETE FROM webhook_secrets WHERE workspace_id = ${workspaceId} AND (signs_until <= clock_timestamp() OR id IN (
      SELECT id FROM webhook_secrets WHERE workspace_id = ${workspaceId} ORDER BY created_at DESC, id DESC OFFSET ${WEBHOOK_SECRETS_MAX}))`
  const after = await signing(tx, workspaceId)
  await appendAudit(tx, {
    ...by,
    organizationId: workspace.organizationId,
    workspaceId,
    operation: 'cli.webhooks-secret-rotate',
    outcome: 'changed',
    objectKind: 'webhook_secret',
    objectId: secret.id,
    before: { signing: before.map(seen) },
    after: { signing: after.map(seen) },
  })
  return ok(after)
}

/** The facts of a secret that the audit log may hold. */
function seen({ id, signsUntil }: SealedWebhookSecret): {
  readonly id: string
  readonly signs_until: string | null
} {
  return { id, signs_until: signsUntil?.toISOString() ?? null }
}

async function insert(
  tx: Transaction,
  { id, workspaceId, dataKeyId, sealed }: SealedWebhookSecret,
): Promise<void> {
  await tx`
    INSERT INTO webhook_secrets (id, workspace_id, data_key_id, sealed) VALUES (${id}, ${workspaceId}, ${dataKeyId}, ${Buffer.from(sealed)})
    ON CONFLICT (workspace_id) WHERE signs_until IS NULL DO NOTHING`
}

async function signing(sql: Queryable, workspaceId: string): Promise<readonly SealedWebhookSecret[]> {
  const rows = await sql<{ id: string; data_key_id: string; sealed: Buffer; signs_until: Date | null }[]>`
    SELECT id, data_key_id, sealed, signs_until FROM webhook_secrets
    WHERE workspace_id = ${workspaceId} AND (signs_until IS NULL OR signs_until > clock_timestamp())
    ORDER BY signs_until DESC NULLS FIRST, created_at DESC, id DESC`
  return rows.map((row) => ({
    id: row.id,
    workspaceId,
    dataKeyId: row.data_key_id,
    sealed: row.sealed,
    signsUntil: row.signs_until,
  }))
}
