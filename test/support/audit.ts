import type { AuditEvent } from '../../src/server/ports/audit.ts'

/** An event of an organization, with what a test gives. */
export function auditEvent(organizationId: string, more: Partial<AuditEvent> = {}): AuditEvent {
  return {
    organizationId, workspaceId: null, actor: { kind: 'system', id: null }, requestId: null, operation: 'test.change', outcome: 'changed',
    objectKind: 'thing', objectId: 'a', before: null, after: { name: 'a' }, ...more,
  }
}
