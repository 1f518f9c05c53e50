import type { Transaction } from '../base/open.ts'
import { grant } from './grants.ts'
import type { MappingRow } from './mapping-rows.ts'
import { GRANTED_AT_ONCE } from '../../../schemas/scim/scim-limits.ts'

/** An id before every id of a user. */
export const BEFORE_ALL = '00000000-0000-0000-0000-000000000000'

/**
 * Makes the grants of a mapping match its group, for some users in the order of their ids: removes grants
 * without a member, corrects roles, and adds missing grants. Grants that are right are not written. Runs
 * under `lockDirectory`.
 * @param after id of a user; the users after it are checked
 * @returns id of the last user checked, or null when no more users follow
 */
export async function settleSome(tx: Transaction, mapping: Settled, after: string): Promise<string | null> {
  const { id, group_id: groupId, workspace_id: workspaceId, role } = mapping
  const [page] = await tx<{ last: string | null; count: number }[]>`
    SELECT max(user_id::text) AS last, count(*)::int AS count FROM (
      (SELECT user_id FROM scim_members WHERE group_id = ${groupId} AND user_id > ${after} ORDER BY user_id LIMIT ${GRANTED_AT_ONCE})
      UNION
      (SELECT user_id FROM member_grants WHERE mapping_id = ${id} AND user_id > ${after} ORDER BY user_id LIMIT ${GRANTED_AT_ONCE})
      ORDER BY user_id LIMIT ${GRANTED_AT_ONCE}) AS seen`
  const last = page?.last ?? null
  if (last === null) return null
  await tx`
    DELETE FROM member_grants g WHERE g.mapping_id = ${id} AND g.user_id > ${after} AND g.user_id <= ${last}
      AND (g.workspace_id <> ${workspaceId} OR NOT EXISTS (
        SELECT 1 FROM scim_members s JOIN users u ON u.id = s.user_id
        WHERE s.group_id = ${groupId} AND s.user_id = g.user_id AND u.is_active))`
  await tx`
    UPDATE member_grants SET role = ${role}
    WHERE mapping_id = ${id} AND user_id > ${after} AND user_id <= ${last} AND role <> ${role}`
  await grant(tx, tx`m.id = ${id} AND s.user_id > ${after} AND s.user_id <= ${last}`)
  return (page?.count ?? 0) < GRANTED_AT_ONCE ? null : last
}

export type Settled = Pick<MappingRow, 'id' | 'group_id' | 'workspace_id' | 'role'>
