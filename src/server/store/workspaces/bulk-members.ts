import { fail, ok, type Outcome } from '../../../schemas/failures.ts'
import type { Issue } from '../../../schemas/failure-metadata.ts'
import { ISSUES_MAX } from '../../../schemas/limits/limits.ts'
import type {
  AddedMembers,
  NewMembers,
  WorkspaceActor,
  WorkspaceRef,
  OrganizationMember,
  Page,
  PageInput,
} from '../../ports/workspaces/workspaces.ts'
import { appendAudit } from '../base/append-audit.ts'
import { lockWorkspace } from '../base/find-workspace.ts'
import { idList, isId } from '../base/ids.ts'
import { workspaceUnknown } from '../base/near-names.ts'
import type { Queryable, Store, Transaction } from '../base/open.ts'
import { reach } from '../base/translate.ts'
import { grantByHand, memberEvent, membersAmong, revokeByHand, type User } from './members.ts'
import { lockDirectory } from '../scim/one-at-a-time.ts'

interface Held {
  readonly id: string
  readonly organizationId: string
}

/**
 * Gives users a manual grant, all or none; equal grants change nothing, and are not audited. Failures:
 * workspace_unknown, body_invalid (no active user of the organization), store_unavailable.
 */
export function addMembers(
  store: Store,
  ref: WorkspaceRef,
  { userIds, role }: NewMembers,
  by: WorkspaceActor,
): Promise<Outcome<AddedMembers>> {
  return changing(store, ref, async (tx, workspace) => {
    const users = await namedUsers(tx, workspace, { userIds, isActive: true })
    if (!users.ok) return users
    let changedCount = 0
    for (const user of users.value) {
      const before = await grantByHand(tx, { workspaceId: workspace.id, userId: user.id }, role)
      if (before === role) continue
      changedCount++
      const change = { operation: by.operation, before, after: role }
      await appendAudit(tx, memberEvent({ workspace, user }, by, change))
    }
    const ids = users.value.map(({ id }) => id)
    return ok({ changedCount, members: await membersAmong(tx, workspace.id, ids) })
  })
}

/**
 * Ends manual grants, all or none; a user without one is ignored. Failures: workspace_unknown,
 * body_invalid (no user of the organization, a member by a mapping, or the creator of a live key),
 * store_unavailable.
 * @returns the number of grants that ended
 */
export function removeMembers(
  store: Store,
  ref: WorkspaceRef,
  userIds: readonly string[],
  by: WorkspaceActor,
): Promise<Outcome<number>> {
  return changing(store, ref, async (tx, workspace) => {
    const users = await namedUsers(tx, workspace, { userIds, isActive: false })
    if (!users.ok) return users
    const kept = await keptMembers(tx, workspace.id, userIds)
    if (kept.length > 0) return fail('body_invalid', { metadata: { issues: kept } })
    let count = 0
    for (const user of users.value) {
      const before = await revokeByHand(tx, { workspaceId: workspace.id, userId: user.id })
      if (before === null) continue
      count++
      const change = { operation: by.operation, before, after: null }
      await appendAudit(tx, memberEvent({ workspace, user }, by, change))
    }
    return ok(count)
  })
}

/** Locks the workspace against new keys and deletion, and the directory against other grants. */
function changing<T>(
  store: Store,
  ref: WorkspaceRef,
  work: (tx: Transaction, workspace: Held) => Promise<Outcome<T>>,
): Promise<Outcome<T>> {
  return reach(() =>
    store.sql.begin<Outcome<T>>(async (tx) => {
      const workspace = await lockWorkspace(tx, ref)
      if (workspace === null) return workspaceUnknown(tx, ref.reference, ref.organizationId)
      await lockDirectory(tx, workspace.organizationId)
      return work(tx, workspace)
    }),
  )
}

interface Named {
  readonly userIds: readonly string[]
  /** True: inactive users are refused as unknown. */
  readonly isActive: boolean
}

/** The users in the order of their ids' first mention. Failure: body_invalid, by the place of each id. */
async function namedUsers(
  sql: Queryable,
  { organizationId }: Held,
  { userIds, isActive }: Named,
): Promise<Outcome<readonly User[]>> {
  const rows = await sql<Omit<User, 'organizationId'>[]>`
    SELECT id, user_name AS "userName", display_name AS "displayName", email FROM users
    WHERE organization_id = ${organizationId} AND id IN ${idList(sql, userIds.filter(isId))}
      AND (is_active OR NOT ${isActive})`
  const byId = new Map(rows.map((row) => [row.id, { ...row, organizationId }]))
  const expected = isActive
    ? 'the id of an active user of the organization'
    : 'the id of a user of the organization'
  const issues = issuesOf(userIds, (id) => (byId.has(id) ? null : { message: 'is not a known id', expected }))
  if (issues.length > 0) return fail('body_invalid', { metadata: { issues } })
  const ids = new Set(userIds.map((id) => id.toLowerCase()))
  return ok([...ids].flatMap((id) => byId.get(id) ?? []))
}

/** Users who cannot be removed by hand: a group mapping keeps them members, or they created keys that are still active. */
async function keptMembers(
  sql: Queryable,
  workspaceId: string,
  userIds: readonly string[],
): Promise<readonly Issue[]> {
  const ids = idList(sql, userIds)
  const [mapped, creators] = await Promise.all([
    sql<{ id: string }[]>`
      SELECT DISTINCT user_id AS id FROM member_grants
      WHERE workspace_id = ${workspaceId} AND source = 'mapping' AND user_id IN ${ids}`,
    sql<{ id: string }[]>`
      SELECT DISTINCT lower(creator_user_id) AS id FROM api_keys
      WHERE workspace_id = ${workspaceId} AND revoked_at IS NULL AND NOT is_disabled
        AND (expires_at IS NULL OR expires_at > clock_timestamp())
        AND lower(creator_user_id) IN (SELECT one::text FROM ${ids} AS named(one))`,
  ])
  const isMapped = new Set(mapped.map(({ id }) => id))
  const isCreator = new Set(creators.map(({ id }) => id))
  return issuesOf(userIds, (id) => {
    if (isMapped.has(id))
      return {
        message: 'is a member through a SCIM mapping',
        expected: 'remove the user from the group in the identity provider',
      }
    if (isCreator.has(id))
      return {
        message: 'is the creator of an active key of the workspace',
        expected: 'a user who created no active key of the workspace; delete the key first',
      }
    return null
  })
}

function issuesOf(
  userIds: readonly string[],
  faultOf: (id: string) => Omit<Issue, 'path'> | null,
): readonly Issue[] {
  const issues = userIds.flatMap((id, nth) => {
    const fault = faultOf(id.toLowerCase())
    return fault === null ? [] : [{ path: `/user_ids/${nth}`, ...fault }]
  })
  return issues.slice(0, ISSUES_MAX)
}

interface UserRow {
  readonly id: string
  readonly user_name: string
  readonly display_name: string | null
  readonly email: string | null
  readonly given_name: string | null
  readonly family_name: string | null
}

export async function listUsers(
  sql: Queryable,
  organizationId: string,
  { limit, offset }: PageInput,
): Promise<Page<OrganizationMember>> {
  const [rows, [counted]] = await Promise.all([
    sql<UserRow[]>`
      SELECT id, user_name, display_name, email,
        attributes #>> '{name,givenName}' AS given_name, attributes #>> '{name,familyName}' AS family_name
      FROM users WHERE organization_id = ${organizationId} AND is_active
      ORDER BY lower(user_name), id LIMIT ${limit} OFFSET ${offset}`,
    sql<{ count: number }[]>`
      SELECT count(*)::int AS count FROM users WHERE organization_id = ${organizationId} AND is_active`,
  ])
  return { rows: rows.map(userOf), totalCount: counted?.count ?? 0 }
}

function userOf(row: UserRow): OrganizationMember {
  return {
    id: row.id,
    userName: row.user_name,
    displayName: row.display_name,
    email: row.email,
    givenName: row.given_name,
    familyName: row.family_name,
  }
}
