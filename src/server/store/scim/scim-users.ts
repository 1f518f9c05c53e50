import { isDeepStrictEqual } from 'node:util'
import { fail, ok, type Outcome } from '../../../schemas/failures.ts'
import { emailOf, ENTERPRISE_SCHEMA, USER_SCHEMA } from '../../../schemas/scim/scim-attributes.ts'
import { SCIM_AUDITED_NAMES_MAX } from '../../../schemas/scim/scim-resource-limits.ts'
import type { DirectoryActor } from '../../ports/scim/directory.ts'
import type { IfMatch, ScimQuery, ScimUser, ScimUserInput, ScimUsers } from '../../ports/scim/scim.ts'
import type { AuditEvent } from '../../ports/audit/audit.ts'
import { appendAudit } from '../base/append-audit.ts'
import { isId, newId } from '../base/ids.ts'
import type { Queryable, Store, Transaction } from '../base/open.ts'
import { reach } from '../base/translate.ts'
import { unprepared } from '../base/unprepared.ts'
import type { Fragment } from '../base/guarded-row.ts'
import { conditionOf, type FilterAttributes, type Several, type TermToSql } from './filter.ts'
import { userActivated, userDeactivated, userRemoved } from './grants.ts'
import { change } from './scim-change.ts'
import { orderOf } from './scim-order.ts'
import { oneAtATime } from './one-at-a-time.ts'
import { caseless, exact, flag, id, instant } from './filter-terms.ts'

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

/** Attributes that users, as `u`, are filtered by. */
const USER_ATTRIBUTES: FilterAttributes = {
  schema: USER_SCHEMA,
  single: new Map([
    ['id', id((sql) => sql`u.id`)],
    ['username', caseless((sql) => sql`u.user_name`)],
    ['externalid', exact((sql) => sql`u.external_id`)],
    ['displayname', caseless((sql) => sql`u.display_name`)],
    ['active', flag((sql) => sql`u.is_active`)],
    ['meta.created', instant((sql) => sql`u.created_at`)],
    ['meta.lastmodified', instant((sql) => sql`coalesce(u.updated_at, u.created_at)`)],
    ...kept(['title', 'userType', 'nickName', 'preferredLanguage', 'locale', 'timezone'], [], ''),
    ...kept(
      ['formatted', 'familyName', 'givenName', 'middleName', 'honorificPrefix', 'honorificSuffix'],
      ['name'],
      'name.',
    ),
    ...kept(
      ['employeeNumber', 'costCenter', 'organization', 'division', 'department'],
      [ENTERPRISE_SCHEMA],
      `${ENTERPRISE_SCHEMA}:`,
    ),
    ...kept(['value', 'displayName'], [ENTERPRISE_SCHEMA, 'manager'], `${ENTERPRISE_SCHEMA}:manager.`),
  ]),
  several: new Map([
    ['emails', several(emailsOf)],
    ['phonenumbers', several((sql) => sql`u.attributes->'phoneNumbers'`)],
  ]),
}

/** Addresses of a user; a user that was made by hand has one address at most. */
function emailsOf(sql: Queryable): Fragment {
  return sql`CASE WHEN u.attributes ? 'emails' OR u.email IS NULL THEN u.attributes->'emails'
    ELSE jsonb_build_array(jsonb_build_object('value', u.email, 'primary', true)) END`
}

/** Filters on stored attributes at one place of the user's JSON. */
function kept(
  names: readonly string[],
  place: readonly string[],
  prefix: string,
): readonly (readonly [string, TermToSql])[] {
  return names.map((name) => {
    const path = [...place, name].join(' ')
    return [
      `${prefix}${name}`.toLowerCase(),
      caseless((sql) => sql`u.attributes #>> string_to_array(${path}::text, ' ')`),
    ]
  })
}

function several(column: (sql: Queryable) => Fragment): Several {
  const member = (name: string): [string, TermToSql] => [
    name,
    caseless((sql) => sql`e.item->>(${name}::text)`),
  ]
  return {
    some: (sql, condition) => sql`EXISTS (
      SELECT 1 FROM jsonb_array_elements(CASE WHEN jsonb_typeof(${column(sql)}) = 'array' THEN ${column(sql)} ELSE '[]' END) AS e(item)
      WHERE ${condition})`,
    of: new Map([
      member('value'),
      member('type'),
      member('display'),
      [
        'primary',
        flag(
          (sql) =>
            sql`CASE WHEN jsonb_typeof(e.item->'primary') = 'boolean' THEN (e.item->>'primary')::boolean END`,
        ),
      ],
    ]),
  }
}

interface UserRow {
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
function userRows(sql: Queryable): Fragment {
  return sql`
    SELECT u.id, u.user_name, u.external_id, u.display_name, u.email, u.is_active, u.attributes, u.version, u.created_at, u.updated_at,
      (SELECT json_agg(json_build_object('id', g.id, 'displayName', g.display_name) ORDER BY lower(g.display_name), g.id)
        FROM scim_members m JOIN scim_groups g ON g.id = m.group_id WHERE m.user_id = u.id AND g.deleted_at IS NULL) AS groups
    FROM users u`
}

function userOf(row: UserRow): ScimUser {
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

function isSameUser(before: ScimUser, input: ScimUserInput): boolean {
  return (
    before.userName === input.userName &&
    before.displayName === input.displayName &&
    before.externalId === input.externalId &&
    before.isActive === input.isActive &&
    isDeepStrictEqual(before.attributes, input.attributes)
  )
}

/** The audit event of a change: of the other attributes that an identity provider sends, the names alone. */
function userEvent(by: DirectoryActor, before: ScimUser | null, after: ScimUser | null): AuditEvent {
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
