import { fail, ok, type Outcome } from '../../../schemas/failures.ts'
import type { Hints, Invalidation } from '../../ports/keys/keys.ts'
import type {
  Page,
  PageInput,
  Workspace,
  WorkspaceActor,
  WorkspaceRef,
  Workspaces,
} from '../../ports/workspaces/workspaces.ts'
import type { AuditEvent } from '../../ports/audit/audit.ts'
import { addMembers, removeMembers, listUsers } from '../workspaces/bulk-members.ts'
import { listMembers } from '../workspaces/members.ts'
import type { Queryable, Store, Transaction } from '../base/open.ts'
import { reach } from '../base/translate.ts'
import { workspaceEvent, workspaceOf, type WorkspaceRow, workspaceRows } from '../base/workspace-rows.ts'
import { createWorkspace, updateWorkspace } from '../workspaces/workspaces.ts'
import { findWorkspace, lockWorkspace } from '../base/find-workspace.ts'
import { appendAudit } from '../base/append-audit.ts'
import { bump } from '../base/epoch.ts'
import { abandonFiles, closeStorage } from '../files/file-quota.ts'
import { endpointEvent, type EndpointRow } from '../endpoints/private-endpoint-rows.ts'
import { fenceVideos } from '../videos/removal.ts'
import { endMemberships } from '../scim/mappings.ts'

/** Workspaces of organizations. @param publish informs the fronts immediately; without it they find changes by polling */
export function openWorkspaces(store: Store, publish: Hints['publish']): Workspaces {
  return {
    list: (organizationId, page) => reach(async () => ok(await pageOf(store.sql, organizationId, page))),
    create: (input, by) => createWorkspace(store, input, by),
    get: (ref) => reach(() => find(store.sql, ref)),
    async update(ref, changes, by) {
      const updated = await updateWorkspace(store, ref, changes, by)
      if (!updated.ok) return updated
      await publish(updated.value.change)
      return ok(updated.value.workspace)
    },
    async remove(ref, mayBeDefault, by) {
      const removed = await reach(() =>
        store.sql.begin((tx) => removeWorkspace(tx, { ref, mayBeDefault, by })),
      )
      if (!removed.ok) return removed
      await Promise.all(removed.value.map(publish))
      return ok(null)
    },
    members: (ref, page) =>
      reach(async () => {
        const found = await find(store.sql, ref)
        return found.ok ? ok(await listMembers(store.sql, found.value.id, page)) : found
      }),
    users: (organizationId, page) => reach(async () => ok(await listUsers(store.sql, organizationId, page))),
    addMembers: (ref, input, by) => addMembers(store, ref, input, by),
    removeMembers: (ref, userIds, by) => removeMembers(store, ref, userIds, by),
  }
}

function find(sql: Queryable, { organizationId, reference }: WorkspaceRef): Promise<Outcome<Workspace>> {
  return findWorkspace(sql, reference, organizationId)
}

async function pageOf(
  sql: Queryable,
  organizationId: string,
  { limit, offset }: PageInput,
): Promise<Page<Workspace>> {
  const [rows, [counted]] = await Promise.all([
    sql<
      WorkspaceRow[]
    >`${workspaceRows(sql)} AND w.organization_id = ${organizationId} ORDER BY w.id LIMIT ${limit} OFFSET ${offset}`,
    sql<{ count: number }[]>`
      SELECT count(*)::int AS count FROM workspaces WHERE organization_id = ${organizationId} AND deleted_at IS NULL`,
  ])
  return { rows: rows.map(workspaceOf), totalCount: counted?.count ?? 0 }
}

interface RemovalInput {
  readonly ref: WorkspaceRef
  readonly mayBeDefault: boolean
  readonly by: WorkspaceActor
}

/**
 * Deletes a workspace. Its row is kept, as are the ledger and the audit log, which refer to it; everything
 * else that belongs to it is removed in one transaction, or by the sweep where bytes must be removed. Locks
 * are taken in the order of other transactions: endpoints before their workspace, interns before keys and
 * vaults, the directory before files, files before the quota. If another transaction is creating an object in
 * the workspace, either this transaction finds the object, or the other one finds the workspace deleted.
 * @returns invalidations to publish as hints. Failures: workspace_unknown, default_workspace_kept.
 */
export async function removeWorkspace(
  tx: Transaction,
  { ref, mayBeDefault, by }: RemovalInput,
): Promise<Outcome<readonly Invalidation[]>> {
  const { organizationId, reference } = ref
  // The second of two deletions in one organization must see the result of the first one, and which workspace is
  // the default.
  await tx`SELECT 1 FROM organizations WHERE id = ${organizationId} FOR NO KEY UPDATE`
  const found = await findWorkspace(tx, reference, organizationId)
  if (!found.ok) return found
  const { id } = found.value
  await tx`SELECT 1 FROM private_endpoints WHERE workspace_id = ${id} AND deleted_at IS NULL ORDER BY id FOR UPDATE`
  const workspace = await lockWorkspace(tx, { organizationId, reference: id })
  if (workspace === null) return fail('workspace_unknown')
  const heir = workspace.isDefault ? await oldestBeside(tx, workspace) : null
  if (workspace.isDefault && heir === null) return fail('default_workspace_kept', { detail: ONLY_ONE })
  if (workspace.isDefault && !mayBeDefault) return fail('default_workspace_kept', { detail: UNCONFIRMED })
  const { events, hasLiveEndpoint } = await endAll(tx, workspace, by)
  await tx`UPDATE workspaces SET deleted_at = clock_timestamp(), is_default = false WHERE id = ${id}`
  if (heir !== null) {
    await tx`UPDATE workspaces SET is_default = true, updated_at = clock_timestamp() WHERE id = ${heir.id}`
    events.push(workspaceEvent(by, { before: heir, after: { ...heir, isDefault: true } }))
  }
  await appendAudit(tx, ...events)
  const invalidations = [await bump(tx, 'workspace', id)]
  if (hasLiveEndpoint) invalidations.push(await bump(tx, 'private_endpoint', id))
  if (heir !== null) invalidations.push(await bump(tx, 'organization', organizationId))
  return ok(invalidations)
}

const ONLY_ONE = 'The only workspace of an organization cannot be deleted.'
const UNCONFIRMED =
  'To delete the default workspace, send `confirm_default_workspace_deletion=true`; the oldest other workspace becomes the default.'

async function oldestBeside(tx: Transaction, { id, organizationId }: Workspace): Promise<Workspace | null> {
  const [row] = await tx<WorkspaceRow[]>`
    ${workspaceRows(tx)} AND w.organization_id = ${organizationId} AND w.id <> ${id} ORDER BY w.id LIMIT 1 FOR NO KEY UPDATE OF w`
  return row === undefined ? null : workspaceOf(row)
}

interface Ended {
  readonly events: AuditEvent[]
  /** True when fronts route calls to an endpoint of the workspace. */
  readonly hasLiveEndpoint: boolean
}

async function endAll(tx: Transaction, workspace: Workspace, by: WorkspaceActor): Promise<Ended> {
  const { id } = workspace
  const end = { tx, workspace, by }
  const endpoints = await endEndpoints(end)
  const interns = await endInterns(end)
  const keys = await endKeys(end)
  const vaults = await endVaults(end)
  await fenceVideos(tx, id)
  const mappings = await endMemberships(tx, workspace, by)
  const presets = await tx`DELETE FROM presets WHERE workspace_id = ${id}`
  // From now on objects in storage cannot be decrypted, although only the sweep removes them.
  await tx`DELETE FROM data_keys WHERE workspace_id = ${id}`
  const files = await abandonFiles(tx, id)
  await closeStorage(tx, id)
  // Abandons uploads that began meanwhile; uploads that other transactions have locked will fail because the
  // quota is closed.
  await abandonFiles(tx, id, 'skip locked')
  const gone = workspaceEvent(by, {
    before: workspace,
    after: null,
    more: { files: files.count, file_bytes: files.bytes, presets: presets.count },
  })
  return {
    events: [...endpoints.events, ...interns, ...keys, ...vaults, ...mappings, gone],
    hasLiveEndpoint: endpoints.hasLive,
  }
}

interface End {
  readonly tx: Transaction
  readonly workspace: Workspace
  readonly by: WorkspaceActor
}

/**
 * Endpoints belong to the organization, which may validate them for another workspace. A transaction that has
 * locked an endpoint will find its workspace deleted.
 */
async function endEndpoints({
  tx,
  workspace: { id },
  by,
}: End): Promise<{ readonly events: readonly AuditEvent[]; readonly hasLive: boolean }> {
  const before = await tx<EndpointRow[]>`
    SELECT * FROM private_endpoints WHERE workspace_id = ${id} AND deleted_at IS NULL ORDER BY id FOR UPDATE SKIP LOCKED`
  if (before.length === 0) return { events: [], hasLive: false }
  const after = await tx<EndpointRow[]>`
    UPDATE private_endpoints
    SET status = CASE status WHEN 'active' THEN 'disabled' ELSE status END, workspace_id = CASE status WHEN 'draft' THEN NULL ELSE workspace_id END,
      validation = NULL, validated_at = NULL, validated_config = NULL, probe_token = NULL, probe_until = NULL,
      revision = revision + 1, updated_at = clock_timestamp()
    WHERE id IN ${tx(before.map((row) => row.id))} RETURNING *`
  const byId = new Map(after.map((row) => [row.id, row]))
  return {
    events: before.map((row) => ({ ...endpointEvent(by, row, byId.get(row.id) ?? null), workspaceId: id })),
    hasLive: before.some(({ status }) => status === 'active'),
  }
}

async function endInterns(end: End): Promise<readonly AuditEvent[]> {
  const { tx, workspace } = end
  await tx`SELECT 1 FROM interns WHERE workspace_id = ${workspace.id} ORDER BY id FOR UPDATE`
  const rows = await tx<{ id: string; name: string; vault_id: string }[]>`
    DELETE FROM interns WHERE workspace_id = ${workspace.id} RETURNING id, name, vault_id`
  return rows.map(({ id, ...before }) => eventOf(end, { objectKind: 'intern', objectId: id, before }))
}

async function endKeys(end: End): Promise<readonly AuditEvent[]> {
  const { tx, workspace } = end
  const rows = await tx<{ hash: string; kind: string; name: string; intern_id: string | null }[]>`
    UPDATE api_keys SET revoked_at = now() WHERE workspace_id = ${workspace.id} AND revoked_at IS NULL
    RETURNING hash, kind, name, intern_id`
  return rows.map(({ hash, ...before }) => eventOf(end, { objectKind: 'key', objectId: hash, before }))
}

/** Removes the vaults with their keys and every secret in them. */
async function endVaults(end: End): Promise<readonly AuditEvent[]> {
  const { tx, workspace } = end
  await tx`SELECT 1 FROM vaults WHERE workspace_id = ${workspace.id} ORDER BY id FOR UPDATE`
  const rows = await tx<{ id: string; kind: string; name: string | null; secrets: readonly string[] }[]>`
    SELECT v.id, v.kind, v.name, (SELECT COALESCE(json_agg(s.name ORDER BY s.name), '[]') FROM secrets s WHERE s.vault_id = v.id) AS secrets
    FROM vaults v WHERE v.workspace_id = ${workspace.id} ORDER BY v.id`
  await tx`DELETE FROM vaults WHERE workspace_id = ${workspace.id}`
  return rows.map(({ id, ...before }) => eventOf(end, { objectKind: 'vault', objectId: id, before }))
}

function eventOf(
  { workspace, by }: End,
  { objectKind, objectId, before }: Pick<AuditEvent, 'objectKind' | 'objectId' | 'before'>,
): AuditEvent {
  return {
    ...by,
    organizationId: workspace.organizationId,
    workspaceId: workspace.id,
    outcome: 'changed',
    objectKind,
    objectId,
    before,
    after: null,
  }
}
