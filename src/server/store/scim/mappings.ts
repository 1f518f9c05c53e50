import { fail, ok, type Outcome } from '../../../schemas/failures.ts'
import type { MemberRole } from '../../../schemas/workspaces/workspaces.ts'
import type {
  DirectoryActor,
  DirectoryGroup,
  GroupMapping,
  GroupMappings,
  MappingPreview,
} from '../../ports/scim/directory.ts'
import type { Page, PageInput, Workspace, WorkspaceActor } from '../../ports/workspaces/workspaces.ts'
import { appendAudit } from '../base/append-audit.ts'
import { isId, newId } from '../base/ids.ts'
import type { Queryable, Store, Transaction } from '../base/open.ts'
import { reach } from '../base/translate.ts'
import { findWorkspace, holdWorkspace } from '../base/find-workspace.ts'
import { mappingEvent, mappingOf, type MappingRow } from './mapping-rows.ts'
import { BEFORE_ALL, settleSome } from './settle.ts'
import { findSyncJob, startSync } from './sync-jobs.ts'
import { oneAtATime, lockDirectory } from './one-at-a-time.ts'
import { MAPPING_PREVIEWED_MAX } from '../../../schemas/scim/scim-limits.ts'
import type { AuditEvent } from '../../ports/audit/audit.ts'

export function openGroupMappings(store: Store): GroupMappings {
  const change = <T>(
    { organizationId }: DirectoryActor,
    work: (tx: Transaction) => Promise<Outcome<T>>,
  ): Promise<Outcome<T>> =>
    oneAtATime(store, { organizationId, kind: 'change' }, () =>
      reach(() => store.sql.begin<Outcome<T>>(work)),
    )
  return {
    list: (organizationId, page) => reach(async () => ok(await pageOf(store.sql, organizationId, page))),
    get: (organizationId, id) =>
      reach(async () => {
        const row = await find(store.sql, organizationId, id)
        return row === null ? fail('mapping_unknown') : ok(mappingOf(row))
      }),
    create: (input, by) => change(by, (tx) => create(tx, input, by)),
    setRole: (id, role, by) => change(by, (tx) => setRole(tx, { id, role }, by)),
    remove: (id, keepMembers, by) => change(by, (tx) => remove(tx, { id, keepMembers }, by)),
    preview: (organizationId, input) => reach(() => previewMapping(store.sql, organizationId, input)),
    groups: (organizationId, page) => reach(async () => ok(await groupsOf(store.sql, organizationId, page))),
    startSync: (by) => reach(() => store.sql.begin((tx) => startSync(tx, by))),
    syncJob: (organizationId, id) => reach(() => findSyncJob(store.sql, organizationId, id)),
  }
}

type Input = Parameters<GroupMappings['create']>[0]

async function create(
  tx: Transaction,
  { groupId, workspaceId, role }: Input,
  by: DirectoryActor,
): Promise<Outcome<GroupMapping>> {
  const { organizationId } = by
  const workspace = await findWorkspace(tx, workspaceId, organizationId)
  if (!workspace.ok || !(await holdWorkspace(tx, workspace.value.id))) return fail('workspace_unknown')
  await lockDirectory(tx, organizationId)
  const [group] = isId(groupId)
    ? await tx`SELECT 1 FROM scim_groups WHERE id = ${groupId} AND organization_id = ${organizationId} AND deleted_at IS NULL`
    : []
  if (group === undefined) return fail('scim_group_unknown')
  const [same] = await tx<
    MappingRow[]
  >`SELECT * FROM scim_mappings WHERE group_id = ${groupId} AND workspace_id = ${workspaceId}`
  if (same?.role === role) return ok(mappingOf(same))
  if (same !== undefined) return fail('mapping_role_differs', { fields: { role: same.role } })
  const [made] = await tx<MappingRow[]>`
    INSERT INTO scim_mappings (id, organization_id, group_id, workspace_id, role)
    VALUES (${newId()}, ${organizationId}, ${groupId}, ${workspaceId}, ${role}) RETURNING *`
  if (made === undefined) throw new Error('the insert returned nothing')
  for (let after: string | null = BEFORE_ALL; after !== null;) after = await settleSome(tx, made, after)
  await appendAudit(tx, mappingEvent(by, { before: null, after: mappingOf(made) }))
  return ok(mappingOf(made))
}

async function setRole(
  tx: Transaction,
  { id, role }: { readonly id: string; readonly role: MemberRole },
  by: DirectoryActor,
): Promise<Outcome<GroupMapping>> {
  await lockDirectory(tx, by.organizationId)
  const before = await find(tx, by.organizationId, id)
  if (before === null) return fail('mapping_unknown')
  if (before.role === role) return ok(mappingOf(before))
  const [after] = await tx<MappingRow[]>`
    UPDATE scim_mappings SET role = ${role}, updated_at = clock_timestamp() WHERE id = ${id} RETURNING *`
  if (after === undefined) throw new Error('a locked row no longer exists')
  await tx`UPDATE member_grants SET role = ${role} WHERE mapping_id = ${id}`
  await appendAudit(tx, mappingEvent(by, { before: mappingOf(before), after: mappingOf(after) }))
  return ok(mappingOf(after))
}

async function remove(
  tx: Transaction,
  { id, keepMembers }: { readonly id: string; readonly keepMembers: boolean },
  by: DirectoryActor,
): Promise<Outcome<null>> {
  await lockDirectory(tx, by.organizationId)
  const row = await find(tx, by.organizationId, id)
  if (row === null) return fail('mapping_unknown')
  if (keepMembers) await giveByHand(tx, id)
  const { count } = await tx`DELETE FROM member_grants WHERE mapping_id = ${id}`
  await tx`DELETE FROM scim_mappings WHERE id = ${id}`
  const more = { keep_members: keepMembers, [keepMembers ? 'grants_kept' : 'grants_removed']: count }
  await appendAudit(tx, mappingEvent(by, { before: mappingOf(row), after: null, more }))
  return ok(null)
}

/** Turns the mapping's grants into manual ones. A user with a manual grant already keeps the stronger role of the two. */
async function giveByHand(tx: Transaction, mappingId: string): Promise<void> {
  await tx`
    INSERT INTO member_grants (workspace_id, user_id, source, role, created_at)
    SELECT workspace_id, user_id, 'manual', role, created_at FROM member_grants WHERE mapping_id = ${mappingId}
    ON CONFLICT (workspace_id, user_id) WHERE source = 'manual'
    DO UPDATE SET role = excluded.role WHERE excluded.role = 'admin' AND member_grants.role <> 'admin'`
}

async function find(sql: Queryable, organizationId: string, id: string): Promise<MappingRow | null> {
  if (!isId(id)) return null
  const [row] = await sql<
    MappingRow[]
  >`SELECT * FROM scim_mappings WHERE id = ${id} AND organization_id = ${organizationId}`
  return row ?? null
}

async function pageOf(
  sql: Queryable,
  organizationId: string,
  { limit, offset }: PageInput,
): Promise<Page<GroupMapping>> {
  const [rows, [counted]] = await Promise.all([
    sql<
      MappingRow[]
    >`SELECT * FROM scim_mappings WHERE organization_id = ${organizationId} ORDER BY id LIMIT ${limit} OFFSET ${offset}`,
    sql<
      { count: number }[]
    >`SELECT count(*)::int AS count FROM scim_mappings WHERE organization_id = ${organizationId}`,
  ])
  return { rows: rows.map(mappingOf), totalCount: counted?.count ?? 0 }
}

interface GroupRow {
  readonly id: string
  readonly organization_id: string
  readonly display_name: string
  readonly external_id: string | null
  readonly created_at: Date
  readonly updated_at: Date
}

async function groupsOf(
  sql: Queryable,
  organizationId: string,
  { limit, offset }: PageInput,
): Promise<Page<DirectoryGroup>> {
  const [rows, [counted]] = await Promise.all([
    sql<GroupRow[]>`
      SELECT id, organization_id, display_name, external_id, created_at, updated_at FROM scim_groups
      WHERE organization_id = ${organizationId} AND deleted_at IS NULL ORDER BY lower(display_name), id LIMIT ${limit} OFFSET ${offset}`,
    sql<{ count: number }[]>`
      SELECT count(*)::int AS count FROM scim_groups WHERE organization_id = ${organizationId} AND deleted_at IS NULL`,
  ])
  return { rows: rows.map(groupOf), totalCount: counted?.count ?? 0 }
}

function groupOf(row: GroupRow): DirectoryGroup {
  return {
    id: row.id,
    organizationId: row.organization_id,
    displayName: row.display_name,
    externalId: row.external_id,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}

/** Reports the changes that `create` would make to the members of a group. Failures: scim_group_unknown, workspace_unknown. */
async function previewMapping(
  sql: Queryable,
  organizationId: string,
  { groupId, workspaceId, role }: Input,
): Promise<Outcome<MappingPreview>> {
  const workspace = isId(workspaceId) ? await findWorkspace(sql, workspaceId, organizationId) : null
  if (workspace === null || !workspace.ok) return fail('workspace_unknown')
  const [group] = isId(groupId)
    ? await sql`SELECT 1 FROM scim_groups WHERE id = ${groupId} AND organization_id = ${organizationId} AND deleted_at IS NULL`
    : []
  if (group === undefined) return fail('scim_group_unknown')
  const [row] = await sql<CountRow[]>`
    SELECT count(*)::int AS seen,
      count(*) FILTER (WHERE u.is_active AND b.is_admin IS NULL)::int AS joining,
      count(*) FILTER (WHERE u.is_active AND NOT b.is_admin AND ${role === 'admin'})::int AS promoted,
      count(*) FILTER (WHERE NOT u.is_active)::int AS inactive
    FROM (SELECT user_id FROM scim_members WHERE group_id = ${groupId} LIMIT ${MAPPING_PREVIEWED_MAX + 1}) s
    JOIN users u ON u.id = s.user_id
    LEFT JOIN (
      SELECT user_id, bool_or(role = 'admin') AS is_admin FROM member_grants
      WHERE workspace_id = ${workspaceId} GROUP BY user_id) b ON b.user_id = s.user_id`
  if (row === undefined) throw new Error('a count returned nothing')
  const { seen, joining, promoted, inactive } = row
  const unchanged = seen - joining - promoted - inactive
  return ok({ joining, promoted, unchanged, inactive, isCut: seen > MAPPING_PREVIEWED_MAX })
}

interface CountRow {
  readonly seen: number
  readonly joining: number
  readonly promoted: number
  readonly inactive: number
}

/** Ends all memberships of a workspace that is being deleted, with the mappings that grant them. */
export async function endMemberships(
  tx: Transaction,
  workspace: Workspace,
  by: WorkspaceActor,
): Promise<readonly AuditEvent[]> {
  await lockDirectory(tx, workspace.organizationId)
  await tx`DELETE FROM member_grants WHERE workspace_id = ${workspace.id}`
  const rows = await tx<
    MappingRow[]
  >`DELETE FROM scim_mappings WHERE workspace_id = ${workspace.id} RETURNING *`
  return rows.map((row) => mappingEvent(by, { before: mappingOf(row), after: null }))
}
