import { ENTERPRISE_SCHEMA, USER_SCHEMA } from '../../../schemas/scim/scim-attributes.ts'
import type { Fragment } from '../base/guarded-row.ts'
import type { Queryable } from '../base/open.ts'
import type { FilterAttributes, Several, TermToSql } from './filter.ts'
import { caseless, exact, flag, id, instant } from './filter-terms.ts'

/** Attributes that users, as `u`, are filtered by. */
export const USER_ATTRIBUTES: FilterAttributes = {
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
export function emailsOf(sql: Queryable): Fragment {
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
