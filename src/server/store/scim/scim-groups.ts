import { fail, ok, type Outcome } from '../../../schemas/failures.ts'
import { LIST_PAGE_BYTES_MAX } from '../../../schemas/limits/limits.ts'
import { GROUP_SCHEMA } from '../../../schemas/scim/scim-attributes.ts'
import { SCIM_LISTED_MEMBERS_MAX } from '../../../schemas/scim/scim-limits.ts'
import type { DirectoryActor } from '../../ports/scim/directory.ts'
import type { ScimGroup, ScimGroupInput, ScimGroups, ScimGroupStep } from '../../ports/scim/scim.ts'
import { isId } from '../base/ids.ts'
import type { Store, Transaction } from '../base/open.ts'
import type { TermToSql } from './filter.ts'
import { caseless, exact, id, instant } from './filter-terms.ts'
import { groupRemoved } from './grants.ts'
import { addMembers, moveMembers, type Moved } from './scim-members.ts'
import { StoredResources, type Details, type ResourceTable } from './scim-resources.ts'
import { unprepared } from './scim-change.ts'

/**
 * Ids of members that joined, and of members that left, in one row of the audit log; the counts are complete.
 * Decision.
 */
export const SCIM_AUDITED_MEMBERS_MAX = 50

export function openScimGroups(store: Store): ScimGroups {
  return new StoredResources(store, GROUPS)
}

/** A group may have so many members that a filter can only test for one member, or for any member. */
const member: TermToSql = (sql, { op, value }) => {
  if (op === 'pr') return sql`TRUE`
  if (op !== 'eq' || typeof value !== 'string') return null
  return isId(value) ? sql`m.user_id = ${value}::uuid` : sql`FALSE`
}

/** Existing groups, as `g`. */
const GROUPS: ResourceTable<ScimGroup, GroupRow, ScimGroupInput, readonly ScimGroupStep[]> = {
  unknown: 'scim_group_unknown',
  auditKind: 'scim_group',
  isLarge: true,
  filters: {
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
  },
  id: (sql) => sql`g.id`,
  orders: new Map([
    ['displayname', (sql) => sql`lower(g.display_name)`],
    ['externalid', (sql) => sql`g.external_id`],
    ['meta.created', (sql) => sql`g.created_at`],
    ['meta.lastmodified', (sql) => sql`g.updated_at`],
  ]),
  columns(sql, hasMembers) {
    // The store joins the members into one text: as rows they would fill the memory of this process.
    const members = hasMembers
      ? sql`(
      SELECT '[' || coalesce(string_agg('{"value":"' || u.id || '","display":' || to_json(coalesce(u.display_name, u.user_name))
        || ',"$ref":"Users/' || u.id || '","type":"User"}', ',' ORDER BY u.id), '') || ']'
      FROM scim_members m JOIN users u ON u.id = m.user_id WHERE m.group_id = g.id)`
      : sql`'[]'`
    return sql`g.id, g.display_name, g.external_id, g.version, g.created_at, g.updated_at, ${members} AS members`
  },
  rows: (sql, organizationId) =>
    sql`scim_groups g WHERE g.organization_id = ${organizationId} AND g.deleted_at IS NULL`,
  of: groupOf,
  toAudit: ({ displayName, externalId }) => ({ display_name: displayName, external_id: externalId }),
  async cut(sql, page) {
    const sizes = await unprepared(sql<{ members: number }[]>`
      SELECT (SELECT count(*)::int FROM scim_members m WHERE m.group_id = p.id) AS members FROM (${page}) p`)
    return (sizes[0]?.members ?? 0) > SCIM_LISTED_MEMBERS_MAX
      ? fail('scim_too_many', { fields: { limit: SCIM_LISTED_MEMBERS_MAX } })
      : ok(groupsOfPage(sizes))
  },
  async insert(tx, id, { displayName, externalId, userIds }, { organizationId }) {
    await tx`
      INSERT INTO scim_groups (id, organization_id, display_name, external_id) VALUES (${id}, ${organizationId}, ${displayName}, ${externalId})`
    const added = await addMembers(tx, { organizationId, groupId: id }, userIds)
    return added.ok ? ok(movedIds('added', new Set(added.value))) : added
  },
  write,
  async remove(tx, id) {
    const { mappings, grants } = await groupRemoved(tx, id)
    return { mappings_removed: mappings, grants_removed: grants }
  },
}

async function write(
  tx: Transaction,
  before: ScimGroup,
  steps: readonly ScimGroupStep[],
  { organizationId }: DirectoryActor,
): Promise<Outcome<(() => Details) | null>> {
  const moved: Moved = { added: new Set(), removed: new Set() }
  let { displayName, externalId } = before
  for (const step of steps) {
    if (step.kind === 'set') {
      displayName = step.displayName ?? displayName
      externalId = step.externalId === undefined ? externalId : step.externalId
      continue
    }
    const done = await moveMembers(tx, { organizationId, groupId: before.id }, { step, moved })
    if (!done.ok) return done
  }
  const { added, removed } = moved
  const isSame = displayName === before.displayName && externalId === before.externalId
  if (isSame && added.size === 0 && removed.size === 0) return ok(null)
  await tx`
    UPDATE scim_groups SET display_name = ${displayName}, external_id = ${externalId}, version = version + 1, updated_at = clock_timestamp()
    WHERE id = ${before.id}`
  return ok(() => ({ ...movedIds('added', added), ...movedIds('removed', removed) }))
}

/** Bytes of a member in a group: its id, its address and a name. Decision. */
const LISTED_MEMBER_BYTES = 200

/** Number of groups on a page that is limited by bytes; at least one. */
function groupsOfPage(sizes: readonly { readonly members: number }[]): number {
  let bytes = 0
  const end = sizes.findIndex(({ members }) => {
    const isBehind = bytes >= LIST_PAGE_BYTES_MAX
    bytes += members * LISTED_MEMBER_BYTES
    return isBehind
  })
  return end < 0 ? sizes.length : end
}

interface GroupRow {
  readonly id: string
  readonly display_name: string
  readonly external_id: string | null
  readonly version: string
  readonly created_at: Date
  readonly updated_at: Date
  readonly members: string
}

function groupOf(row: GroupRow): ScimGroup {
  return {
    id: row.id,
    displayName: row.display_name,
    externalId: row.external_id,
    version: Number(row.version),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    members: row.members,
  }
}

/** The number of members that changed, and the first of their ids. */
function movedIds(word: 'added' | 'removed', ids: ReadonlySet<string>): object {
  if (ids.size === 0) return {}
  return {
    [`members_${word}`]: ids.size,
    [`member_ids_${word}`]: [...ids].slice(0, SCIM_AUDITED_MEMBERS_MAX),
  }
}
