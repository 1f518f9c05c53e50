import type { AuditEvent } from '../../ports/audit/audit.ts'
import type { KeyActor, ManagedKey } from '../../ports/keys/api-keys.ts'
import { usdOfNano } from '../../../schemas/money/costs.ts'

export interface KeyChange {
  readonly before: ManagedKey | null
  readonly after: ManagedKey | null
}

/** The audit event of a change; the key is identified only by its hash. */
export function keyEvent(by: KeyActor, { before, after }: KeyChange): AuditEvent {
  const key = after ?? before
  if (key === null) throw new Error('audit event without a key')
  const { organizationId, workspaceId, hash } = key
  const { actor, requestId, operation } = by
  return {
    actor,
    requestId,
    organizationId,
    workspaceId,
    operation,
    outcome: 'changed',
    objectKind: 'key',
    objectId: hash,
    before: before === null ? null : toAudit(before),
    after: after === null ? null : toAudit(after),
  }
}

/** One event, for the key that ends: its successor is part of `after`. */
export function rotationEvent(
  by: KeyActor,
  {
    before,
    after,
    successor,
  }: { readonly before: ManagedKey; readonly after: ManagedKey; readonly successor: ManagedKey },
): AuditEvent {
  return {
    ...keyEvent(by, { before, after }),
    after: { ...toAudit(after), successor: { hash: successor.hash, ...toAudit(successor) } },
  }
}

function toAudit(key: ManagedKey): object {
  return {
    kind: key.kind,
    name: key.name,
    intern_id: key.internId,
    disabled: key.isDisabled,
    limit: key.limitNano === null ? null : usdOfNano(key.limitNano),
    limit_reset: key.limitReset,
    include_byok_in_limit: key.countsByok,
    rate_limit_rpm: key.rateLimitRpm,
    rate_limit_burst: key.rateLimitBurst,
    ...key.callLimits,
    allowed_models: key.allowedModels,
    scopes: key.scopes,
    expires_at: key.expiresAt?.toISOString() ?? null,
  }
}
