import { fail, ok, type Outcome } from '../../../schemas/failures.ts'
import { LIST_PAGE_BYTES_MAX } from '../../../schemas/limits/limits.ts'
import {
  SCIM_AUDITED_MEMBERS_MAX,
  SCIM_LISTED_MEMBERS_MAX,
} from '../../../schemas/scim/scim-resource-limits.ts'
import { GROUP_SCHEMA } from '../../../schemas/scim/scim-attributes.ts'
import type { DirectoryActor } from '../../ports/scim/directory.ts'
import type {
  IfMatch,
  ScimGroup,
  ScimGroupInput,
  ScimGroups,
  ScimGroupStep,
  ScimQuery,
} from '../../ports/scim/scim.ts'
import type { AuditEvent } from '../../ports/audit/audit.ts'
import { appendAudit } from '../base/append-audit.ts'
import { isId, newId } from '../base/ids.ts'
import type { Queryable, Store, Transaction } from '../base/open.ts'
import { reach } from '../base/translate.ts'
import { unprepared } from '../base/unprepared.ts'
import type { Fragment } from '../base/guarded-row.ts'
import { conditionOf, type FilterAttributes, type TermToSql } from './filter.ts'
import { groupRemoved } from './grants.ts'
import { change } from './scim-change.ts'
import { addMembers, moveMembers, type Moved } from './scim-members.ts'
import { orderOf } from './scim-order.ts'
import { oneAtATime } from './one-at-a-time.ts'
import { caseless, exact, id, instant } from './filter-terms.ts'

/** Groups of organizations, as identity providers see them. */
export function openScimGroups(store: Store): ScimGroups {
  return {
    list: (organizationId, query, hasMembers) =>
      oneAtATime(store, { organizationId, kind: 'read' }, () =>
        reach(() => list(store.sql, { organizationId, query, hasMembers })),
      ),
    get: (organizationId, id, hasMembers) =>
      oneAtATime(store, { organizationId, kind: 'read' }, () =>
        reach(async () => {
          const group = isId(id) ? await readGroup(store.sql, { organizationId, id, hasMembers }) : null
          return group === null ? fail('scim_group_unknown') : ok(group)
        }),
      ),
    create: (input, by) => change(store, by, (tx) => create(tx, input, by)),
    update: (id, steps, ifMatch, by) =>
      change(store, by, async (tx) => {
        const before = await held(tx, { id, ifMatch, by })
        return before.ok ? update(tx, { before: before.value, steps, by }) : before
      }),
    remove: (id, ifMatch, by) =>
      change(store, by, async (tx) => {
        const before = await held(tx, { id, ifMatch, by })
        if (!before.ok) return before
        const { mappings, grants } = await groupRemoved(tx, id)
        await appendAudit(
          tx,
          groupEvent(by, {
            before: before.value,
            after: null,
            more: { mappings_removed: mappings, grants_removed: grants },
          }),
        )
        return ok(null)
      }),
  }
}

interface ListInput {
  readonly organizationId: string
  readonly query: ScimQuery
  readonly hasMembers: boolean
}

async function list(
  sql: Queryable,
  { organizationId, query, hasMembers }: ListInput,
): ReturnType<ScimGroups['list']> {
  const condition = conditionOf(query.filter, GROUP_ATTRIBUTES)
  if (!condition.ok) return condition
  const order = orderOf('group', query)
  if (!order.ok) return order
  const chosen = () => sql`AND ${condition.value(sql)}`
  const [total] = await unprepared(sql<{ count: number }[]>`
    SELECT count(*)::int AS count FROM scim_groups g WHERE g.organization_id = ${organizationId} AND g.deleted_at IS NULL ${chosen()}`)
  const totalResults = total?.count ?? 0
  if (query.count === 0) return ok({ resources: [], totalResults })
  const page = (count: number) =>
    sql`ORDER BY ${order.value(sql)} LIMIT ${count} OFFSET ${query.startIndex - 1}`
  const sizes = hasMembers
    ? await unprepared(sql<{ members: number }[]>`
    SELECT (SELECT count(*)::int FROM scim_members m WHERE m.group_id = p.id) AS members
    FROM (${groupRows(sql, organizationId, false)} ${chosen()} ${page(query.count)}) p`)
    : null
  if ((sizes?.[0]?.members ?? 0) > SCIM_LISTED_MEMBERS_MAX)
    return fail('scim_too_many', { fields: { limit: SCIM_LISTED_MEMBERS_MAX } })
  const count = sizes === null ? query.count : groupsOfPage(sizes)
  const rows = await unprepared(
    sql<GroupRow[]>`${groupRows(sql, organizationId, hasMembers)} ${chosen()} ${page(count)}`,
  )
  return ok({ resources: rows.map(groupOf), totalResults })
}

/** Bytes of a member in a group: its id, its address and a name. Decision. */
const LISTED_MEMBER_BYTES = 200

/** Number of groups on a page that ends by bytes; at least one. */
function groupsOfPage(sizes: readonly { readonly members: number }[]): number {
  let bytes = 0
  const end = sizes.findIndex(({ members }) => {
    const isBehind = bytes >= LIST_PAGE_BYTES_MAX
    bytes += members * LISTED_MEMBER_BYTES
    return isBehind
  })
  return end < 0 ? sizes.length : end
}

interface ReadInput {
  readonly organizationId: string
  readonly id: string
  readonly hasMembers: boolean
}

async function readGroup(
  sql: Queryable,
  { organizationId, id, hasMembers }: ReadInput,
): Promise<ScimGroup | null> {
  const [row] = await sql<GroupRow[]>`${groupRows(sql, organizationId, hasMembers)} AND g.id = ${id}`
  return row === undefined ? null : groupOf(row)
}

async function create(
  tx: Transaction,
  { displayName, externalId, userIds }: ScimGroupInput,
  by: DirectoryActor,
): Promise<Outcome<ScimGroup>> {
  const id = newId()
  await tx`
    INSERT INTO scim_groups (id, organization_id, display_name, external_id) VALUES (${id}, ${by.organizationId}, ${displayName}, ${externalId})`
  const added = await addMembers(tx, { organizationId: by.organizationId, groupId: id }, userIds)
  if (!added.ok) return added
  const made = await readGroup(tx, { organizationId: by.organizationId, id, hasMembers: false })
  if (made === null) throw new Error('the inserted group was not returned')
  await appendAudit(tx, groupEvent(by, { before: null, after: made, added: new Set(added.value) }))
  return ok(made)
}

interface Update {
  readonly before: ScimGroup
  readonly steps: readonly ScimGroupStep[]
  readonly by: DirectoryActor
}

async function update(tx: Transaction, { before, steps, by }: Update): Promise<Outcome<ScimGroup>> {
  const moved: Moved = { added: new Set(), removed: new Set() }
  let { displayName, externalId } = before
  for (const step of steps) {
    if (step.kind === 'set') {
      displayName = step.displayName ?? displayName
      externalId = step.externalId === undefined ? externalId : step.externalId
      continue
    }
    const done = await moveMembers(
      tx,
      { organizationId: by.organizationId, groupId: before.id },
      { step, moved },
    )
    if (!done.ok) return done
  }
  const { added, removed } = moved
  const isSame = displayName === before.displayName && externalId === before.externalId
  if (isSame && added.size === 0 && removed.size === 0) return ok(before)
  await tx`
    UPDATE scim_groups SET display_name = ${displayName}, external_id = ${externalId}, version = version + 1, updated_at = clock_timestamp()
    WHERE id = ${before.id}`
  const after = await readGroup(tx, { organizationId: by.organizationId, id: before.id, hasMembers: false })
  if (after === null) throw new Error('a locked group no longer exists')
  await appendAudit(tx, groupEvent(by, { before, after, added, removed }))
  return ok(after)
}

interface Wanted {
  readonly id: string
  readonly ifMatch: IfMatch
  readonly by: DirectoryActor
}

/** Locks the group for a change. */
async function held(tx: Transaction, { id, ifMatch, by }: Wanted): Promise<Outcome<ScimGroup>> {
  if (!isId(id)) return fail('scim_group_unknown')
  await tx`SELECT 1 FROM scim_groups WHERE id = ${id} AND organization_id = ${by.organizationId} FOR UPDATE`
  const group = await readGroup(tx, { organizationId: by.organizationId, id, hasMembers: false })
  if (group === null) return fail('scim_group_unknown')
  return ifMatch === null || ifMatch.includes(group.version) ? ok(group) : fail('scim_version_differs')
}

/** A group may have so many members that a filter may only ask for one member, or for any at all. */
const member: TermToSql = (sql, { op, value }) => {
  if (op === 'pr') return sql`TRUE`
  if (op !== 'eq' || typeof value !== 'string') return null
  return isId(value) ? sql`m.user_id = ${value}::uuid` : sql`FALSE`
}

/** Attributes that groups, as `g`, are filtered by. */
const GROUP_ATTRIBUTES: FilterAttributes = {
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

interface GroupRow {
  readonly id: string
  readonly display_name: string
  readonly external_id: string | null
  readonly version: string
  readonly created_at: Date
  readonly updated_at: Date
  readonly members: string
}

/**
 * Existing groups, as `g`. The store builds the text of the members: as rows they would fill this process.
 */
function groupRows(sql: Queryable, organizationId: string, hasMembers: boolean): Fragment {
  const members = hasMembers
    ? sql`(
    SELECT '[' || coalesce(string_agg('{"value":"' || u.id || '","display":' || to_json(coalesce(u.display_name, u.user_name))
      || ',"$ref":"Users/' || u.id || '","type":"User"}', ',' ORDER BY u.id), '') || ']'
    FROM scim_members m JOIN users u ON u.id = m.user_id WHERE m.group_id = g.id)`
    : sql`'[]'`
  return sql`
    SELECT g.id, g.display_name, g.external_id, g.version, g.created_at, g.updated_at, ${members} AS members
    FROM scim_groups g WHERE g.organization_id = ${organizationId} AND g.deleted_at IS NULL`
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

type Named = Pick<ScimGroup, 'id' | 'displayName' | 'externalId'>

interface AuditedChange {
  readonly before: Named | null
  readonly after: Named | null
  readonly added?: ReadonlySet<string>
  readonly removed?: ReadonlySet<string>
  /** Counts of mappings and grants that changed too. */
  readonly more?: object
}

/** The audit event of a change: the number of members that changed, and the first of their ids. */
function groupEvent(
  by: DirectoryActor,
  { before, after, added = NOBODY, removed = NOBODY, more = {} }: AuditedChange,
): AuditEvent {
  const group = after ?? before
  if (group === null) throw new Error('audit event without a group')
  const members = { ...movedIds('added', added), ...movedIds('removed', removed), ...more }
  return {
    actor: by.actor,
    requestId: by.requestId,
    operation: by.operation,
    organizationId: by.organizationId,
    workspaceId: null,
    outcome: 'changed',
    objectKind: 'scim_group',
    objectId: group.id,
    before: before === null ? null : { ...toAudit(before), ...(after === null && members) },
    after: after === null ? null : { ...toAudit(after), ...members },
  }
}

const NOBODY: ReadonlySet<string> = new Set()

function movedIds(word: 'added' | 'removed', ids: ReadonlySet<string>): object {
  if (ids.size === 0) return {}
  return {
    [`members_${word}`]: ids.size,
    [`member_ids_${word}`]: [...ids].slice(0, SCIM_AUDITED_MEMBERS_MAX),
  }
}

function toAudit({ displayName, externalId }: Named): object {
  return { display_name: displayName, external_id: externalId }
}
