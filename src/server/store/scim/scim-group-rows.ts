import { SCIM_AUDITED_MEMBERS_MAX } from '../../../schemas/scim/scim-resource-limits.ts'
import type { AuditEvent } from '../../ports/audit/audit.ts'
import type { DirectoryActor } from '../../ports/scim/directory.ts'
import type { ScimGroup } from '../../ports/scim/scim.ts'
import type { Fragment } from '../base/guarded-row.ts'
import type { Queryable } from '../base/open.ts'

export interface GroupRow {
  readonly id: string
  readonly display_name: string
  readonly external_id: string | null
  readonly version: string
  readonly created_at: Date
  readonly updated_at: Date
  readonly members: string
}

/**
 * Existing groups, as `g`. The store builds the text of the members: as rows they would fill this process.
 */
export function groupRows(sql: Queryable, organizationId: string, hasMembers: boolean): Fragment {
  const members = hasMembers
    ? sql`(
    SELECT '[' || coalesce(string_agg('{"value":"' || u.id || '","display":' || to_json(coalesce(u.display_name, u.user_name))
      || ',"$ref":"Users/' || u.id || '","type":"User"}', ',' ORDER BY u.id), '') || ']'
    FROM scim_members m JOIN users u ON u.id = m.user_id WHERE m.group_id = g.id)`
    : sql`'[]'`
  return sql`
    SELECT g.id, g.display_name, g.external_id, g.version, g.created_at, g.updated_at, ${members} AS members
    FROM scim_groups g WHERE g.organization_id = ${organizationId} AND g.deleted_at IS NULL`
}

export function groupOf(row: GroupRow): ScimGroup {
  return {
    id: row.id,
    displayName: row.display_name,
    externalId: row.external_id,
    version: Number(row.version),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    members: row.members,
  }
}

type Named = Pick<ScimGroup, 'id' | 'displayName' | 'externalId'>

interface AuditedChange {
  readonly before: Named | null
  readonly after: Named | null
  readonly added?: ReadonlySet<string>
  readonly removed?: ReadonlySet<string>
  /** Counts of mappings and grants that changed too. */
  readonly more?: object
}

/** The audit event of a change: the number of members that changed, and the first of their ids. */
export function groupEvent(
  by: DirectoryActor,
  { before, after, added = NOBODY, removed = NOBODY, more = {} }: AuditedChange,
): AuditEvent {
  const group = after ?? before
  if (group === null) throw new Error('audit event without a group')
  const members = { ...moved('added', added), ...moved('removed', removed), ...more }
  return {
    actor: by.actor,
    requestId: by.requestId,
    operation: by.operation,
    organizationId: by.organizationId,
    workspaceId: null,
    outcome: 'changed',
    objectKind: 'scim_group',
    objectId: group.id,
    before: before === null ? null : { ...toAudit(before), ...(after === null && members) },
    after: after === null ? null : { ...toAudit(after), ...members },
  }
}

const NOBODY: ReadonlySet<string> = new Set()

function moved(word: 'added' | 'removed', ids: ReadonlySet<string>): object {
  if (ids.size === 0) return {}
  return {
    [`members_${word}`]: ids.size,
    [`member_ids_${word}`]: [...ids].slice(0, SCIM_AUDITED_MEMBERS_MAX),
  }
}

function toAudit({ displayName, externalId }: Named): object {
  return { display_name: displayName, external_id: externalId }
}
