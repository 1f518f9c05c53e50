import type { AuditEvent } from '../../ports/audit/audit.ts'
import type { Transaction } from './open.ts'

/**
 * Appends events to the chain of their organization, in the transaction of the change that they record. To be
 * called late in the transaction (but before `bump`, which must be last), since the organization's lock is
 * held until the commit.
 */
export async function appendAudit(tx: Transaction, ...events: readonly AuditEvent[]): Promise<void> {
  // Organizations are locked in one order, so that two transactions with the same organizations do not
  // deadlock.
  for (const organizationId of new Set(events.map((event) => event.organizationId).sort())) {
    const own = events.filter((event) => event.organizationId === organizationId)
    await tx`SELECT audit_append(${organizationId}, ${tx.json(own.map(rowOf) as never)})`
  }
}

function rowOf(event: AuditEvent): Record<string, unknown> {
  return {
    workspace_id: event.workspaceId,
    actor: event.actor,
    request_id: event.requestId,
    operation: event.operation,
    outcome: event.outcome,
    object_kind: event.objectKind,
    object_id: event.objectId,
    before: event.before,
    after: event.after,
    ...(event.count !== undefined && { count: event.count, since: event.since }),
  }
}
