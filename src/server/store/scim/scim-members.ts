import { fail, ok, type Outcome } from '../../../schemas/failures.ts'
import type { ScimGroupStep } from '../../ports/scim/scim.ts'
import type { Fragment } from '../base/guarded-row.ts'
import { idList, isId } from '../base/ids.ts'
import type { Transaction } from '../base/open.ts'
import { membersJoined, membersLeft } from './grants.ts'

export interface GroupRef {
  readonly organizationId: string
  readonly groupId: string
}

/** Users who became members by the change, and users who ceased to be. */
export interface Moved {
  readonly added: Set<string>
  readonly removed: Set<string>
}

interface Step {
  readonly step: Exclude<ScimGroupStep, { readonly kind: 'set' }>
  /** Changes of the steps so far; this step adds its own. */
  readonly moved: Moved
}

/** Applies one step of a change, in a few statements whatever its length. Failure: scim_member_unknown. */
export async function moveMembers(
  tx: Transaction,
  ref: GroupRef,
  { step, moved }: Step,
): Promise<Outcome<null>> {
  if (step.kind !== 'add') {
    const left =
      step.kind === 'remove'
        ? await removeThese(tx, ref, step.userIds)
        : await removeOthers(tx, ref, step.userIds)
    for (const id of left) if (!moved.added.delete(id)) moved.removed.add(id)
  }
  if (step.kind === 'remove') return ok(null)
  const joined = await addMembers(tx, ref, step.userIds)
  if (!joined.ok) return joined
  for (const id of joined.value) if (!moved.removed.delete(id)) moved.added.add(id)
  return ok(null)
}

/** @returns ids of users who were no members before. Failure: scim_member_unknown */
export async function addMembers(
  tx: Transaction,
  { organizationId, groupId }: GroupRef,
  userIds: readonly string[],
): Promise<Outcome<readonly string[]>> {
  const ids = distinct(userIds)
  if (ids.length === 0) return ok([])
  if (!ids.every(isId)) return fail('scim_member_unknown')
  const [known] = await tx<{ count: number }[]>`
    SELECT count(*)::int AS count FROM users WHERE organization_id = ${organizationId} AND id IN ${idList(tx, ids)}`
  if (known?.count !== ids.length) return fail('scim_member_unknown')
  const joined = await idsOf(
    tx,
    tx`
    INSERT INTO scim_members (group_id, user_id) SELECT ${groupId}::uuid, unnest(string_to_array(${ids.join(',')}, ',')::uuid[])
    ON CONFLICT DO NOTHING RETURNING user_id`,
  )
  if (joined.length > 0) await membersJoined(tx, groupId, joined)
  return ok(joined)
}

async function removeThese(
  tx: Transaction,
  { groupId }: GroupRef,
  userIds: readonly string[],
): Promise<readonly string[]> {
  // A text that is no id belongs to no user.
  const ids = distinct(userIds).filter(isId)
  return ids.length === 0 ? [] : remove(tx, groupId, tx`user_id IN ${idList(tx, ids)}`)
}

async function removeOthers(
  tx: Transaction,
  { groupId }: GroupRef,
  kept: readonly string[],
): Promise<readonly string[]> {
  return remove(tx, groupId, tx`user_id NOT IN ${idList(tx, distinct(kept).filter(isId))}`)
}

async function remove(tx: Transaction, groupId: string, of: Fragment): Promise<readonly string[]> {
  const left = await idsOf(
    tx,
    tx`DELETE FROM scim_members WHERE group_id = ${groupId} AND ${of} RETURNING user_id`,
  )
  if (left.length > 0) await membersLeft(tx, groupId, left)
  return left
}

/** Returns the ids as one text: one row each would fill the memory of this process. */
async function idsOf(tx: Transaction, moving: Fragment): Promise<readonly string[]> {
  const [row] = await tx<
    { ids: string | null }[]
  >`WITH moved AS (${moving}) SELECT string_agg(user_id::text, ',') AS ids FROM moved`
  return row?.ids?.split(',') ?? []
}

/** Ids in lower case and without repetitions: the same id may be written in either case. */
function distinct(ids: readonly string[]): readonly string[] {
  return [...new Set(ids.map((id) => id.toLowerCase()))]
}
