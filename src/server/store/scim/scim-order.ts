import { fail, ok, type Outcome } from '../../../schemas/failures.ts'
import { USER_SCHEMA, GROUP_SCHEMA } from '../../../schemas/scim/scim-attributes.ts'
import type { ScimQuery } from '../../ports/scim/scim.ts'
import type { Queryable } from '../base/open.ts'
import type { Condition } from './filter.ts'

const ORDERS = {
  user: {
    schema: USER_SCHEMA,
    by: new Map<string, Condition>([
      ['username', (sql) => sql`lower(u.user_name)`],
      ['displayname', (sql) => sql`lower(u.display_name)`],
      ['externalid', (sql) => sql`u.external_id`],
      ['name.familyname', (sql) => sql`lower(u.attributes->'name'->>'familyName')`],
      ['name.givenname', (sql) => sql`lower(u.attributes->'name'->>'givenName')`],
      ['meta.created', (sql) => sql`u.created_at`],
      ['meta.lastmodified', (sql) => sql`coalesce(u.updated_at, u.created_at)`],
      ['id', (sql) => sql`u.id`],
    ]),
    last: (sql: Queryable) => sql`u.id`,
  },
  group: {
    schema: GROUP_SCHEMA,
    by: new Map<string, Condition>([
      ['displayname', (sql) => sql`lower(g.display_name)`],
      ['externalid', (sql) => sql`g.external_id`],
      ['meta.created', (sql) => sql`g.created_at`],
      ['meta.lastmodified', (sql) => sql`g.updated_at`],
      ['id', (sql) => sql`g.id`],
    ]),
    last: (sql: Queryable) => sql`g.id`,
  },
}

/**
 * The order of a list: resources without the attribute come last, or first in descending order; without
 * `sortBy` the oldest come first. RFC 7644 §3.4.2.3.
 */
export function orderOf(kind: keyof typeof ORDERS, { sortBy, isDescending }: ScimQuery): Outcome<Condition> {
  const { schema, by, last } = ORDERS[kind]
  if (sortBy === null) return ok(last)
  const name = sortBy.toLowerCase().replace(`${schema.toLowerCase()}:`, '')
  const key = by.get(name)
  if (key === undefined)
    return fail('scim_value_invalid', { detail: 'Lists cannot be sorted by the attribute in `sortBy`.' })
  return ok((sql) =>
    isDescending
      ? sql`${key(sql)} DESC NULLS FIRST, ${last(sql)}`
      : sql`${key(sql)} ASC NULLS LAST, ${last(sql)}`,
  )
}
