import { isDeepStrictEqual } from 'node:util'
import { SCIM_AUDITED_NAMES_MAX } from '../../../schemas/scim/scim-resource-limits.ts'
import type { AuditEvent } from '../../ports/audit/audit.ts'
import type { DirectoryActor } from '../../ports/scim/directory.ts'
import type { ScimUser, ScimUserInput } from '../../ports/scim/scim.ts'
import type { Fragment } from '../base/guarded-row.ts'
import type { Queryable } from '../base/open.ts'

export interface UserRow {
  readonly id: string
  readonly user_name: string
  readonly external_id: string | null
  readonly display_name: string | null
  readonly email: string | null
  readonly is_active: boolean
  readonly attributes: Readonly<Record<string, unknown>>
  readonly groups: ScimUser['groups'] | null
  readonly version: string
  readonly created_at: Date
  readonly updated_at: Date | null
}

/** Users as `u`, with their groups. */
export function userRows(sql: Queryable): Fragment {
  return sql`
    SELECT u.id, u.user_name, u.external_id, u.display_name, u.email, u.is_active, u.attributes, u.version, u.created_at, u.updated_at,
      (SELECT json_agg(json_build_object('id', g.id, 'displayName', g.display_name) ORDER BY lower(g.display_name), g.id)
        FROM scim_members m JOIN scim_groups g ON g.id = m.group_id WHERE m.user_id = u.id AND g.deleted_at IS NULL) AS groups
    FROM users u`
}

export function userOf(row: UserRow): ScimUser {
  const { attributes, email } = row
  const isByHand = email !== null && attributes['emails'] === undefined
  return {
    id: row.id,
    userName: row.user_name,
    externalId: row.external_id,
    displayName: row.display_name,
    isActive: row.is_active,
    email,
    attributes: isByHand ? { ...attributes, emails: [{ value: email, primary: true }] } : attributes,
    groups: row.groups ?? [],
    version: Number(row.version),
    createdAt: row.created_at,
    updatedAt: row.updated_at ?? row.created_at,
  }
}

export function isSameUser(before: ScimUser, input: ScimUserInput): boolean {
  return (
    before.userName === input.userName &&
    before.displayName === input.displayName &&
    before.externalId === input.externalId &&
    before.isActive === input.isActive &&
    isDeepStrictEqual(before.attributes, input.attributes)
  )
}

/** The audit event of a change: of the other attributes that an identity provider sends, the names alone. */
export function userEvent(by: DirectoryActor, before: ScimUser | null, after: ScimUser | null): AuditEvent {
  const user = after ?? before
  if (user === null) throw new Error('audit event without a user')
  const changed = before === null || after === null ? [] : changedNames(before.attributes, after.attributes)
  return {
    actor: by.actor,
    requestId: by.requestId,
    operation: by.operation,
    organizationId: by.organizationId,
    workspaceId: null,
    outcome: 'changed',
    objectKind: 'user',
    objectId: user.id,
    before: before === null ? null : toAudit(before),
    after:
      after === null
        ? null
        : { ...toAudit(after), ...(changed.length > 0 && { changed_attributes: changed }) },
  }
}

function changedNames(before: ScimUser['attributes'], after: ScimUser['attributes']): readonly string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)])
  return [...names]
    .filter((name) => !isDeepStrictEqual(before[name], after[name]))
    .sort()
    .slice(0, SCIM_AUDITED_NAMES_MAX)
}

function toAudit({ userName, externalId, displayName, isActive }: ScimUser): object {
  return { user_name: userName, external_id: externalId, display_name: displayName, active: isActive }
}
