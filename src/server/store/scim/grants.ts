import type { Fragment } from '../base/guarded-row.ts'
import { idList } from '../base/ids.ts'
import type { Transaction } from '../base/open.ts'
import { GRANTED_AT_ONCE } from '../../../schemas/scim/scim-limits.ts'

/**
 * Grants of mappings: every active user of a group has one grant of each mapping of the group, with that
 * mapping's role. All functions run under `lockDirectory`, in the transaction of the change that they follow.
 */

/** To be called once the users are members. Inactive users get no grant; existing grants stay. */
export async function membersJoined(
  tx: Transaction,
  groupId: string,
  userIds: readonly string[],
): Promise<void> {
  if (!(await hasMapping(tx, groupId))) return
  for (const ids of portionsOf(userIds))
    await grant(tx, tx`s.group_id = ${groupId} AND s.user_id IN ${idList(tx, ids)}`)
}

/** To be called once the users are no members any more. */
export async function membersLeft(
  tx: Transaction,
  groupId: string,
  userIds: readonly string[],
): Promise<void> {
  if (!(await hasMapping(tx, groupId))) return
  for (const ids of portionsOf(userIds)) {
    await tx`
      DELETE FROM member_grants g USING scim_mappings m
      WHERE m.group_id = ${groupId} AND g.mapping_id = m.id AND g.user_id IN ${idList(tx, ids)}`
  }
}

/** To be called once the user is active. */
export async function userActivated(tx: Transaction, userId: string): Promise<void> {
  await grant(tx, tx`s.user_id = ${userId}`)
}

/** Manual grants stay, but an inactive user is not listed as a member anywhere. */
export async function userDeactivated(tx: Transaction, userId: string): Promise<void> {
  await tx`DELETE FROM member_grants WHERE user_id = ${userId} AND source = 'mapping'`
}

/** To be called before the user is removed: all memberships are removed, with manual grants. */
export async function userRemoved(tx: Transaction, userId: string): Promise<void> {
  await tx`DELETE FROM member_grants WHERE user_id = ${userId}`
  await tx`DELETE FROM scim_members WHERE user_id = ${userId}`
}

/** Counts of rows that were removed with a group. */
export interface GroupRemains {
  readonly mappings: number
  readonly grants: number
}

/** Deletes a group: its members, its mappings and their grants. The row of the group stays until the next sync has counted it. */
export async function groupRemoved(tx: Transaction, groupId: string): Promise<GroupRemains> {
  const grants = await tx`
    DELETE FROM member_grants g USING scim_mappings m WHERE m.group_id = ${groupId} AND g.mapping_id = m.id`
  const mappings = await tx`DELETE FROM scim_mappings WHERE group_id = ${groupId}`
  await tx`DELETE FROM scim_members WHERE group_id = ${groupId}`
  await tx`UPDATE scim_groups SET deleted_at = clock_timestamp() WHERE id = ${groupId} AND deleted_at IS NULL`
  return { mappings: mappings.count, grants: grants.count }
}

/** Adds missing grants. @param of condition on members as `s` and mappings as `m` @returns number of new grants */
export async function grant(tx: Transaction, of: Fragment): Promise<number> {
  const { count } = await tx`
    INSERT INTO member_grants (workspace_id, user_id, source, mapping_id, role)
    SELECT m.workspace_id, s.user_id, 'mapping', m.id, m.role
    FROM scim_mappings m JOIN scim_members s ON s.group_id = m.group_id JOIN users u ON u.id = s.user_id
    WHERE u.is_active AND ${of}
    ON CONFLICT (workspace_id, user_id, mapping_id) WHERE source = 'mapping' DO NOTHING`
  return count
}

async function hasMapping(tx: Transaction, groupId: string): Promise<boolean> {
  const [row] = await tx`SELECT 1 FROM scim_mappings WHERE group_id = ${groupId} LIMIT 1`
  return row !== undefined
}

function* portionsOf(ids: readonly string[]): Generator<readonly string[]> {
  for (let from = 0; from < ids.length; from += GRANTED_AT_ONCE) yield ids.slice(from, from + GRANTED_AT_ONCE)
}
