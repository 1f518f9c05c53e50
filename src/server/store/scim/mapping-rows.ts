import type { MemberRole } from '../../../schemas/workspaces/workspaces.ts'
import type { AuditEvent } from '../../ports/audit/audit.ts'
import type { GroupMapping } from '../../ports/scim/directory.ts'
import type { WorkspaceActor } from '../../ports/workspaces/workspaces.ts'

export interface MappingRow {
  readonly id: string
  readonly organization_id: string
  readonly group_id: string
  readonly workspace_id: string
  readonly role: MemberRole
  readonly created_at: Date
  readonly updated_at: Date
}

export function mappingOf(row: MappingRow): GroupMapping {
  return {
    id: row.id,
    organizationId: row.organization_id,
    groupId: row.group_id,
    workspaceId: row.workspace_id,
    role: row.role,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}

interface AuditedChange {
  readonly before: GroupMapping | null
  readonly after: GroupMapping | null
  /** Counts of the grants that changed. */
  readonly more?: object
}

/** The audit event of a change. */
export function mappingEvent(by: WorkspaceActor, { before, after, more = {} }: AuditedChange): AuditEvent {
  const mapping = after ?? before
  if (mapping === null) throw new Error('audit event without a mapping')
  return {
    actor: by.actor,
    requestId: by.requestId,
    operation: by.operation,
    organizationId: mapping.organizationId,
    workspaceId: mapping.workspaceId,
    outcome: 'changed',
    objectKind: 'group_mapping',
    objectId: mapping.id,
    before: before === null ? null : { ...toAudit(before), ...(after === null ? more : {}) },
    after: after === null ? null : { ...toAudit(after), ...more },
  }
}

function toAudit({ groupId, workspaceId, role }: GroupMapping): object {
  return { scim_group_id: groupId, workspace_id: workspaceId, role }
}
