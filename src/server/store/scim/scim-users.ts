import { isDeepStrictEqual } from 'node:util'
import { ok, type Outcome } from '../../../schemas/failures.ts'
import { emailOf, ENTERPRISE_SCHEMA, USER_SCHEMA } from '../../../schemas/scim/scim-attributes.ts'
import type { ScimUser, ScimUserInput, ScimUsers, ScimUserUpdate } from '../../ports/scim/scim.ts'
import type { Fragment } from '../base/guarded-row.ts'
import type { Queryable, Store, Transaction } from '../base/open.ts'
import type { Several, TermToSql } from './filter.ts'
import { caseless, exact, flag, id, instant } from './filter-terms.ts'
import { userActivated, userDeactivated, userRemoved } from './grants.ts'
import { StoredResources, type Details, type ResourceTable } from './scim-resources.ts'

/**
 * Names of a user's changed attributes in one event of the audit log: an identity provider may send
 * attributes of any name. Decision.
 */
export const SCIM_AUDITED_NAMES_MAX = 50

export function openScimUsers(store: Store): ScimUsers {
  return new StoredResources(store, USERS)
}

/** Users as `u`. */
const USERS: ResourceTable<ScimUser, UserRow, ScimUserInput, ScimUserUpdate> = {
  unknown: 'user_unknown',
  auditKind: 'user',
  isLarge: false,
  filters: {
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
  },
  id: (sql) => sql`u.id`,
  orders: new Map([
    ['username', (sql) => sql`lower(u.user_name)`],
    ['displayname', (sql) => sql`lower(u.display_name)`],
    ['externalid', (sql) => sql`u.external_id`],
    ['name.familyname', (sql) => sql`lower(u.attributes->'name'->>'familyName')`],
    ['name.givenname', (sql) => sql`lower(u.attributes->'name'->>'givenName')`],
    ['meta.created', (sql) => sql`u.created_at`],
    ['meta.lastmodified', (sql) => sql`coalesce(u.updated_at, u.created_at)`],
  ]),
  columns: (sql) => sql`
    u.id, u.user_name, u.external_id, u.display_name, u.email, u.is_active, u.attributes, u.version, u.created_at, u.updated_at,
    (SELECT json_agg(json_build_object('id', g.id, 'displayName', g.display_name) ORDER BY lower(g.display_name), g.id)
      FROM scim_members m JOIN scim_groups g ON g.id = m.group_id WHERE m.user_id = u.id AND g.deleted_at IS NULL) AS groups`,
  rows: (sql, organizationId) => sql`users u WHERE u.organization_id = ${organizationId}`,
  of: userOf,
  toAudit: ({ userName, externalId, displayName, isActive }) => ({
    user_name: userName,
    external_id: externalId,
    display_name: displayName,
    active: isActive,
  }),
  async insert(tx, id, { userName, displayName, externalId, isActive, attributes }, { organizationId }) {
    await tx`
      INSERT INTO users (id, organization_id, user_name, display_name, email, is_active, external_id, attributes)
      VALUES (${id}, ${organizationId}, ${userName}, ${displayName}, ${emailOf(attributes)}, ${isActive}, ${externalId}, ${tx.json(attributes as never)})`
    return ok({})
  },
  write,
  async remove(tx, id) {
    // The user's groups lose a member, so their versions grow.
    await tx`
      UPDATE scim_groups SET version = version + 1, updated_at = clock_timestamp()
      WHERE deleted_at IS NULL AND id IN (SELECT group_id FROM scim_members WHERE user_id = ${id})`
    await userRemoved(tx, id)
    await tx`DELETE FROM users WHERE id = ${id}`
    return {}
  },
}

async function write(
  tx: Transaction,
  before: ScimUser,
  wanted: ScimUserUpdate,
): Promise<Outcome<((after: ScimUser) => Details) | null>> {
  const input = wanted(before)
  if (!input.ok) return input
  if (isSameUser(before, input.value)) return ok(null)
  const { userName, displayName, externalId, isActive, attributes } = input.value
  await tx`
    UPDATE users SET user_name = ${userName}, display_name = ${displayName}, email = ${emailOf(attributes)}, is_active = ${isActive},
      external_id = ${externalId}, attributes = ${tx.json(attributes as never)}, version = version + 1, updated_at = clock_timestamp()
    WHERE id = ${before.id}`
  if (isActive && !before.isActive) await userActivated(tx, before.id)
  if (!isActive && before.isActive) await userDeactivated(tx, before.id)
  return ok((after) => {
    const changed = changedNames(before.attributes, after.attributes)
    return changed.length > 0 ? { changed_attributes: changed } : {}
  })
}

/** Addresses of a user; a user that was made by hand has one address at most. */
function emailsOf(sql: Queryable): Fragment {
  return sql`CASE WHEN u.attributes ? 'emails' OR u.email IS NULL THEN u.attributes->'emails'
    ELSE jsonb_build_array(jsonb_build_object('value', u.email, 'primary', true)) END`
}

/** Filters on stored attributes at one path in the user's JSON. */
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

/** For attributes without columns of their own, the audit log has only the names. */
function changedNames(before: ScimUser['attributes'], after: ScimUser['attributes']): readonly string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)])
  return [...names]
    .filter((name) => !isDeepStrictEqual(before[name], after[name]))
    .sort()
    .slice(0, SCIM_AUDITED_NAMES_MAX)
}
