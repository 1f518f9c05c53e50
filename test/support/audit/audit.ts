import type { AuditEvent } from '../../../src/server/ports/audit/audit.ts'
import type { ChangedBy } from '../../../src/server/ports/vault/vault.ts'
import type { Store } from '../../../src/server/store/base/open.ts'

/** An event of an organization, with what a test gives. */
export function auditEvent(organizationId: string, more: Partial<AuditEvent> = {}): AuditEvent {
  return {
    organizationId,
    workspaceId: null,
    actor: { kind: 'system', id: null },
    requestId: null,
    operation: 'test.change',
    outcome: 'changed',
    objectKind: 'thing',
    objectId: 'a',
    before: null,
    after: { name: 'a' },
    ...more,
  }
}

/** A change by an operator. */
export const CLI: ChangedBy = { actor: { kind: 'cli', id: 'ann' }, requestId: null }

/** Every event as it is kept, oldest first. */
export async function auditOf(store: Store): Promise<readonly unknown[]> {
  const rows = await store.sql<{ text: string }[]>`SELECT text FROM audit ORDER BY organization_id, n`
  return rows.map(({ text }) => JSON.parse(text) as unknown)
}
