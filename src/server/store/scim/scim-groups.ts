import { fail, ok, type Outcome } from '../../../schemas/failures.ts'
import { LIST_PAGE_BYTES_MAX } from '../../../schemas/limits/limits.ts'
import { SCIM_LISTED_MEMBERS_MAX } from '../../../schemas/scim/scim-resource-limits.ts'
import type { DirectoryActor } from '../../ports/scim/directory.ts'
import type {
  IfMatch,
  ScimGroup,
  ScimGroups,
  ScimGroupStep,
  ScimGroupInput,
  ScimQuery,
} from '../../ports/scim/scim.ts'
import { appendAudit } from '../base/append-audit.ts'
import { isId, newId } from '../base/ids.ts'
import type { Queryable, Store, Transaction } from '../base/open.ts'
import { reach } from '../base/translate.ts'
import { unprepared } from '../base/unprepared.ts'
import { conditionOf } from './filter.ts'
import { groupRemoved } from './grants.ts'
import { change } from './scim-change.ts'
import { GROUP_ATTRIBUTES } from './scim-group-filter.ts'
import { groupEvent, groupOf, groupRows, type GroupRow } from './scim-group-rows.ts'
import { addMembers, moveMembers, type Moved } from './scim-members.ts'
import { orderOf } from './scim-order.ts'
import { oneAtATime } from './one-at-a-time.ts'

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
