import { createHash } from 'node:crypto'
import type { AuditEvent } from '../../ports/audit/audit.ts'
import type { Intern } from '../../ports/workspaces/interns.ts'
import type { ChangedBy } from '../../ports/vault/vault.ts'

interface AuditedChange {
  readonly before: Intern | null
  readonly after: Intern | null
  /** Names of the secrets that were removed with the intern. */
  readonly secrets?: readonly string[]
}

/**
 * The audit event of a change of an intern. Long texts appear as digests, since rows of the log are kept for
 * long.
 */
export function internEvent(
  by: ChangedBy,
  operation: string,
  { before, after, secrets }: AuditedChange,
): AuditEvent {
  const intern = after ?? before
  if (intern === null) throw new Error('audit event without an intern')
  return {
    ...by,
    organizationId: intern.organizationId,
    workspaceId: intern.workspaceId,
    operation,
    outcome: 'changed',
    objectKind: 'intern',
    objectId: intern.id,
    before: before === null ? null : { ...toAudit(before), ...(secrets !== undefined && { secrets }) },
    after: after === null ? null : toAudit(after),
  }
}

/** The audit event of a key that ended with its intern. */
export function keyEndedEvent(
  by: ChangedBy,
  intern: Intern,
  { hash, name }: { readonly hash: string; readonly name: string },
): AuditEvent {
  return {
    ...internEvent(by, 'interns.delete', { before: intern, after: null }),
    objectKind: 'key',
    objectId: hash,
    before: { kind: 'intern', name, intern_id: intern.id },
    after: null,
  }
}

function toAudit({ name, status, vaultId, attachedVaultId, description, instructions }: Intern): object {
  return {
    name,
    status,
    vault_id: vaultId,
    attached_vault_id: attachedVaultId,
    description_sha256: digestOf(description),
    instructions_sha256: digestOf(instructions),
  }
}

function digestOf(text: string | null): string | null {
  return text === null ? null : createHash('sha256').update(text).digest('hex')
}
