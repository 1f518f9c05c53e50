import { GROUP_SCHEMA } from '../../../schemas/scim/scim-attributes.ts'
import { isId } from '../base/ids.ts'
import type { FilterAttributes, TermToSql } from './filter.ts'
import { caseless, exact, id, instant } from './filter-terms.ts'

/** A group may have so many members that a filter may only ask for one member, or for any at all. */
const member: TermToSql = (sql, { op, value }) => {
  if (op === 'pr') return sql`TRUE`
  if (op !== 'eq' || typeof value !== 'string') return null
  return isId(value) ? sql`m.user_id = ${value}::uuid` : sql`FALSE`
}

/** Attributes that groups, as `g`, are filtered by. */
export const GROUP_ATTRIBUTES: FilterAttributes = {
  schema: GROUP_SCHEMA,
  single: new Map([
    ['id', id((sql) => sql`g.id`)],
    ['displayname', caseless((sql) => sql`g.display_name`)],
    ['externalid', exact((sql) => sql`g.external_id`)],
    ['meta.created', instant((sql) => sql`g.created_at`)],
    ['meta.lastmodified', instant((sql) => sql`g.updated_at`)],
  ]),
  several: new Map([
    [
      'members',
      {
        some: (sql, condition) =>
          sql`EXISTS (SELECT 1 FROM scim_members m WHERE m.group_id = g.id AND ${condition})`,
        of: new Map([['value', member]]),
      },
    ],
  ]),
}
