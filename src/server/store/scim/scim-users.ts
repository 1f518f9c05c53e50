import { fail, ok, type Outcome } from '../../../schemas/failures.ts'
import { emailOf } from '../../../schemas/scim/scim-attributes.ts'
import type { DirectoryActor } from '../../ports/scim/directory.ts'
import type { IfMatch, ScimQuery, ScimUser, ScimUsers, ScimUserInput } from '../../ports/scim/scim.ts'
import { appendAudit } from '../base/append-audit.ts'
import { isId, newId } from '../base/ids.ts'
import type { Queryable, Store, Transaction } from '../base/open.ts'
import { reach } from '../base/translate.ts'
import { unprepared } from '../base/unprepared.ts'
import { conditionOf } from './filter.ts'
import { userActivated, userDeactivated, userRemoved } from './grants.ts'
import { change } from './scim-change.ts'
import { orderOf } from './scim-order.ts'
import { USER_ATTRIBUTES } from './scim-user-filter.ts'
import { isSameUser, userEvent, userOf, userRows, type UserRow } from './scim-user-rows.ts'
import { oneAtATime } from './one-at-a-time.ts'

/** Users of organizations, as identity providers see them. */
export function openScimUsers(store: Store): ScimUsers {
  return {
    list: (organizationId, query) =>
      oneAtATime(store, { organizationId, kind: 'read' }, () =>
        reach(() => list(store.sql, organizationId, query)),
      ),
    get: (organizationId, id) =>
      reach(async () => {
        const user = isId(id) ? await readUser(store.sql, organizationId, id) : null
        return user === null ? fail('user_unknown') : ok(user)
      }),
    create: (input, by) => change(store, by, (tx) => create(tx, input, by)),
    update: (id, wanted, ifMatch, by) =>
      change(store, by, async (tx) => {
        const before = await held(tx, { id, ifMatch, by })
        if (!before.ok) return before
        const input = wanted(before.value)
        return input.ok ? ok(await write(tx, { before: before.value, input: input.value, by })) : input
      }),
    remove: (id, ifMatch, by) =>
      change(store, by, async (tx) => {
        const before = await held(tx, { id, ifMatch, by })
        if (!before.ok) return before
        await remove(tx, before.value, by)
        return ok(null)
      }),
  }
}

async function list(sql: Queryable, organizationId: string, query: ScimQuery): ReturnType<ScimUsers['list']> {
  const condition = conditionOf(query.filter, USER_ATTRIBUTES)
  if (!condition.ok) return condition
  const order = orderOf('user', query)
  if (!order.ok) return order
  const chosen = () => sql`u.organization_id = ${organizationId} AND ${condition.value(sql)}`
  const [total] = await unprepared(
    sql<{ count: number }[]>`SELECT count(*)::int AS count FROM users u WHERE ${chosen()}`,
  )
  const rows =
    query.count === 0
      ? []
      : await unprepared(sql<UserRow[]>`
    ${userRows(sql)} WHERE ${chosen()} ORDER BY ${order.value(sql)} LIMIT ${query.count} OFFSET ${query.startIndex - 1}`)
  return ok({ resources: rows.map(userOf), totalResults: total?.count ?? 0 })
}

async function readUser(sql: Queryable, organizationId: string, id: string): Promise<ScimUser | null> {
  const [row] = await sql<
    UserRow[]
  >`${userRows(sql)} WHERE u.id = ${id} AND u.organization_id = ${organizationId}`
  return row === undefined ? null : userOf(row)
}

async function create(tx: Transaction, input: ScimUserInput, by: DirectoryActor): Promise<Outcome<ScimUser>> {
  const { userName, displayName, externalId, isActive, attributes } = input
  const id = newId()
  await tx`
    INSERT INTO users (id, organization_id, user_name, display_name, email, is_active, external_id, attributes)
    VALUES (${id}, ${by.organizationId}, ${userName}, ${displayName}, ${emailOf(attributes)}, ${isActive}, ${externalId}, ${tx.json(attributes as never)})`
  const made = await readUser(tx, by.organizationId, id)
  if (made === null) throw new Error('the inserted user was not returned')
  await appendAudit(tx, userEvent(by, null, made))
  return ok(made)
}

interface Change {
  readonly before: ScimUser
  readonly input: ScimUserInput
  readonly by: DirectoryActor
}

async function write(tx: Transaction, { before, input, by }: Change): Promise<ScimUser> {
  if (isSameUser(before, input)) return before
  const { userName, displayName, externalId, isActive, attributes } = input
  await tx`
    UPDATE users SET user_name = ${userName}, display_name = ${displayName}, email = ${emailOf(attributes)}, is_active = ${isActive},
      external_id = ${externalId}, attributes = ${tx.json(attributes as never)}, version = version + 1, updated_at = clock_timestamp()
    WHERE id = ${before.id}`
  if (isActive && !before.isActive) await userActivated(tx, before.id)
  if (!isActive && before.isActive) await userDeactivated(tx, before.id)
  const after = await readUser(tx, by.organizationId, before.id)
  if (after === null) throw new Error('a locked user no longer exists')
  await appendAudit(tx, userEvent(by, before, after))
  return after
}

async function remove(tx: Transaction, user: ScimUser, by: DirectoryActor): Promise<void> {
  // The user's groups lose a member, so their versions grow.
  await tx`
    UPDATE scim_groups SET version = version + 1, updated_at = clock_timestamp()
    WHERE deleted_at IS NULL AND id IN (SELECT group_id FROM scim_members WHERE user_id = ${user.id})`
  await userRemoved(tx, user.id)
  await tx`DELETE FROM users WHERE id = ${user.id}`
  await appendAudit(tx, userEvent(by, user, null))
}

interface Wanted {
  readonly id: string
  readonly ifMatch: IfMatch
  readonly by: DirectoryActor
}

/** Locks the user for a change. */
async function held(tx: Transaction, { id, ifMatch, by }: Wanted): Promise<Outcome<ScimUser>> {
  if (!isId(id)) return fail('user_unknown')
  await tx`SELECT 1 FROM users WHERE id = ${id} AND organization_id = ${by.organizationId} FOR UPDATE`
  const user = await readUser(tx, by.organizationId, id)
  if (user === null) return fail('user_unknown')
  return ifMatch === null || ifMatch.includes(user.version) ? ok(user) : fail('scim_version_differs')
}
