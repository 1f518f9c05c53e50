import { fail, ok, type Outcome } from '../../../schemas/failures.ts'
import type { MemberRole } from '../../../schemas/workspaces/workspaces.ts'
import type { AuditEvent } from '../../ports/audit/audit.ts'
import type { ChangedBy } from '../../ports/vault/vault.ts'
import type { Member, MemberGrant, Page, PageInput } from '../../ports/workspaces/workspaces.ts'
import { appendAudit } from '../base/append-audit.ts'
import type { Fragment } from '../base/guarded-row.ts'
import { idList, isId, newId } from '../base/ids.ts'
import type { Queryable, Store, Transaction } from '../base/open.ts'
import { reach } from '../base/translate.ts'
import { holdWorkspace } from '../base/find-workspace.ts'
import { lockDirectory } from '../scim/one-at-a-time.ts'

export interface User {
  readonly id: string
  readonly organizationId: string
  /** Unique in the organization, whatever its case. */
  readonly userName: string
  readonly displayName: string | null
  readonly email: string | null
}

export type NewUser = Pick<User, 'organizationId' | 'userName'> & Partial<Pick<User, 'displayName' | 'email'>>

export interface MembershipRef {
  readonly workspaceId: string
  readonly userId: string
}

export interface MembershipInput {
  readonly workspace: { readonly id: string; readonly organizationId: string }
  /** Name of the user; an unknown user is made. */
  readonly userName: string
  readonly role: MemberRole
}

/** Active members, by user name, with the strongest role of all sources. */
export async function listMembers(
  sql: Queryable,
  workspaceId: string,
  { limit, offset }: PageInput,
): Promise<Page<Member>> {
  const [rows, [counted]] = await Promise.all([
    // Grants are read for this page only: a group may have brought 100,000 members.
    membersOf(
      sql,
      workspaceId,
      sql`u.id IN (SELECT user_id FROM member_grants WHERE workspace_id = ${workspaceId})
        ORDER BY lower(u.user_name), u.id LIMIT ${limit} OFFSET ${offset}`,
    ),
    sql<{ count: number }[]>`
      SELECT count(DISTINCT g.user_id)::int AS count FROM member_grants g JOIN users u ON u.id = g.user_id
      WHERE g.workspace_id = ${workspaceId} AND u.is_active`,
  ])
  return { rows, totalCount: counted?.count ?? 0 }
}

/** The active members among these users, by user name. */
export function membersAmong(
  sql: Queryable,
  workspaceId: string,
  userIds: readonly string[],
): Promise<readonly Member[]> {
  return membersOf(
    sql,
    workspaceId,
    sql`u.id IN ${idList(sql, userIds)}
      AND EXISTS (SELECT 1 FROM member_grants WHERE workspace_id = ${workspaceId} AND user_id = u.id)`,
  )
}

/** @param chosen condition on users as `u`, who are all members, with the order and bounds of a page */
async function membersOf(sql: Queryable, workspaceId: string, chosen: Fragment): Promise<readonly Member[]> {
  const rows = await sql<MemberRow[]>`
    WITH page AS (
      SELECT u.id, u.user_name, u.display_name, u.email FROM users u WHERE u.is_active AND ${chosen})
    SELECT p.*, g.* FROM page p CROSS JOIN LATERAL (
      SELECT bool_or(role = 'admin') AS is_admin,
        json_agg(json_build_object('source', source, 'mapping_id', mapping_id, 'role', role, 'created_at', created_at)
          ORDER BY created_at, mapping_id) AS grants
      FROM member_grants WHERE workspace_id = ${workspaceId} AND user_id = p.id) AS g
    ORDER BY lower(p.user_name), p.id`
  return rows.map((row) => memberOf(workspaceId, row))
}

/** Makes the user if the name is new; an existing user stays unchanged. */
export async function ensureUser(tx: Transaction, input: NewUser): Promise<User> {
  const { organizationId, userName, displayName = null, email = null } = input
  await tx`
    INSERT INTO users (id, organization_id, user_name, display_name, email)
    VALUES (${newId()}, ${organizationId}, ${userName}, ${displayName}, ${email})
    ON CONFLICT (organization_id, lower(user_name)) DO NOTHING`
  const user = await findUser(tx, organizationId, userName)
  if (!user.ok) throw new Error('the inserted user was not returned')
  return user.value
}

/** @param reference id or name. Failure: user_unknown. */
export async function findUser(
  sql: Queryable,
  organizationId: string,
  reference: string,
): Promise<Outcome<User>> {
  if (reference.includes('\0')) return fail('user_unknown')
  const [row] = await sql<Omit<MemberRow, 'grants' | 'is_admin'>[]>`
    SELECT id, user_name, display_name, email FROM users WHERE organization_id = ${organizationId}
      AND ${isId(reference) ? sql`id = ${reference}` : sql`lower(user_name) = lower(${reference})`}`
  if (row === undefined) return fail('user_unknown')
  return ok({
    id: row.id,
    organizationId,
    userName: row.user_name,
    displayName: row.display_name,
    email: row.email,
  })
}

/** Adds or changes a manual grant, under the directory's lock. @returns the role of the grant before; null = none */
export async function grantByHand(
  tx: Transaction,
  { workspaceId, userId }: MembershipRef,
  role: MemberRole,
): Promise<MemberRole | null> {
  const [before] = await tx<{ role: MemberRole }[]>`
    SELECT role FROM member_grants WHERE workspace_id = ${workspaceId} AND user_id = ${userId} AND source = 'manual'`
  await tx`
    INSERT INTO member_grants (workspace_id, user_id, source, role) VALUES (${workspaceId}, ${userId}, 'manual', ${role})
    ON CONFLICT (workspace_id, user_id) WHERE source = 'manual' DO UPDATE SET role = excluded.role`
  return before?.role ?? null
}

/** Removes a manual grant; grants of mappings stay. @returns the role of the grant; null = none */
export async function revokeByHand(
  tx: Transaction,
  { workspaceId, userId }: MembershipRef,
): Promise<MemberRole | null> {
  const [row] = await tx<{ role: MemberRole }[]>`
    DELETE FROM member_grants WHERE workspace_id = ${workspaceId} AND user_id = ${userId} AND source = 'manual' RETURNING role`
  return row?.role ?? null
}

/**
 * Makes a user a member by a manual grant; the same grant again changes nothing, and is not audited.
 * Failures: workspace_unknown (the workspace was deleted meanwhile), store_unavailable.
 */
export function addMember(store: Store, input: MembershipInput, by: ChangedBy): Promise<Outcome<User>> {
  return reach(() =>
    store.sql.begin(async (tx) => {
      const { workspace, userName, role } = input
      if (!(await holdWorkspace(tx, workspace.id))) return fail('workspace_unknown')
      await lockDirectory(tx, workspace.organizationId)
      const user = await ensureUser(tx, { organizationId: workspace.organizationId, userName })
      const before = await grantByHand(tx, { workspaceId: workspace.id, userId: user.id }, role)
      if (before !== role)
        await appendAudit(
          tx,
          memberEvent({ ...input, user }, by, { operation: 'cli.members-add', before, after: role }),
        )
      return ok(user)
    }),
  )
}

/** Removes a manual grant. Failures: user_unknown (or a user without a manual grant), store_unavailable. */
export function removeMember(
  store: Store,
  input: Omit<MembershipInput, 'role'>,
  by: ChangedBy,
): Promise<Outcome<User>> {
  return reach(() =>
    store.sql.begin(async (tx) => {
      const { workspace, userName } = input
      await lockDirectory(tx, workspace.organizationId)
      const user = await findUser(tx, workspace.organizationId, userName)
      if (!user.ok) return user
      const before = await revokeByHand(tx, { workspaceId: workspace.id, userId: user.value.id })
      if (before === null)
        return fail('user_unknown', { detail: 'No user with this name was added manually.' })
      await appendAudit(
        tx,
        memberEvent({ ...input, user: user.value }, by, {
          operation: 'cli.members-remove',
          before,
          after: null,
        }),
      )
      return user
    }),
  )
}

interface Change {
  readonly operation: string
  readonly before: MemberRole | null
  readonly after: MemberRole | null
}

/** The audit event of a grant by hand. */
export function memberEvent(
  { workspace, user }: { readonly workspace: MembershipInput['workspace']; readonly user: User },
  by: ChangedBy,
  { operation, before, after }: Change,
): AuditEvent {
  const seen = (role: MemberRole | null) =>
    role === null ? null : { user_name: user.userName, source: 'manual', role }
  return {
    ...by,
    operation,
    organizationId: workspace.organizationId,
    workspaceId: workspace.id,
    outcome: 'changed',
    objectKind: 'member',
    objectId: user.id,
    before: seen(before),
    after: seen(after),
  }
}

interface MemberRow {
  readonly id: string
  readonly user_name: string
  readonly display_name: string | null
  readonly email: string | null
  readonly is_admin: boolean
  readonly grants: readonly {
    readonly source: MemberGrant['source']
    readonly mapping_id: string | null
    readonly role: MemberRole
    readonly created_at: string
  }[]
}

function memberOf(workspaceId: string, row: MemberRow): Member {
  return {
    workspaceId,
    userId: row.id,
    userName: row.user_name,
    displayName: row.display_name,
    email: row.email,
    role: row.is_admin ? 'admin' : 'member',
    grants: row.grants.map((grant) => ({
      source: grant.source,
      mappingId: grant.mapping_id,
      role: grant.role,
      createdAt: new Date(grant.created_at),
    })),
  }
}
