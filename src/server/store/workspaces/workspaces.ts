import { workspaceAccount } from '../../../schemas/money/accounts.ts'
import { fail, ok, type Outcome } from '../../../schemas/failures.ts'
import type { Invalidation } from '../../ports/keys/keys.ts'
import type { ChangedBy } from '../../ports/vault/vault.ts'
import type { NewWorkspace, Workspace, WorkspaceActor, WorkspaceChanges } from '../../ports/workspaces/workspaces.ts'
import { bumpLimits } from '../money/account-limits.ts'
import { bearAccount, lockAccounts } from '../money/accounts.ts'
import { appendAudit } from '../audit/audit.ts'
import { holdRoom } from '../operator/caps.ts'
import { bump } from '../base/epoch.ts'
import { isId, newId } from '../base/ids.ts'
import { workspaceUnknown } from '../base/near-names.ts'
import type { Queryable, Store, Transaction } from '../base/open.ts'
import { reach, violatedUnique } from '../base/translate.ts'
import { workspaceEvent, workspaceOf, workspaceRows, type WorkspaceRow } from './workspace-rows.ts'

/** What an operator decides of a workspace; what is left out stays. */
export type WorkspaceSettings = Pick<WorkspaceChanges, 'isInProgramme' | 'mayWriteVault'>

/**
 * Makes a workspace with its account.
 * @param by null: it is not audited, as of a node's first start
 * Failures: slug_taken, quota_exceeded, store_unavailable.
 */
export function createWorkspace(store: Store, wish: NewWorkspace, by: WorkspaceActor | null = null): Promise<Outcome<Workspace>> {
  return renaming(() => store.sql.begin(async (tx) => {
    const room = await holdRoom(tx, { organizationId: wish.organizationId, what: 'workspaces' }, store.options.caps)
    if (!room.ok) return room
    const made = await insertWorkspace(tx, wish, by)
    if (by !== null) await appendAudit(tx, workspaceEvent(by, { before: null, after: made }))
    return ok(made)
  }))
}

/**
 * Changes what an operator decides of a workspace.
 * @returns the workspace, and what to publish as a hint
 * Failures: workspace_unknown, store_unavailable.
 */
export function setWorkspace(store: Store, id: string, settings: WorkspaceSettings, by: ChangedBy): Promise<Outcome<Changed>> {
  return updateWorkspace(store, { organizationId: null, reference: id }, settings, { ...by, operation: 'cli.workspaces-set' })
}

export interface Changed {
  readonly workspace: Workspace
  readonly change: Invalidation
}

/** Failures: workspace_unknown, slug_taken, store_unavailable. */
export function updateWorkspace(store: Store, ref: AnyRef, changes: WorkspaceChanges, by: WorkspaceActor): Promise<Outcome<Changed>> {
  return renaming(() => store.sql.begin(async (tx) => {
    const before = await lockWorkspace(tx, ref)
    if (before === null) return workspaceUnknown(tx, ref.reference, ref.organizationId)
    const after = { ...before, ...changes, settings: { ...before.settings, ...changes.settings } }
    const accountId = workspaceAccount(before.id)
    const isRecounted = after.countsByok !== before.countsByok
    if (isRecounted) await lockAccounts(tx, [accountId])
    if (isRecounted) await tx`UPDATE accounts SET counts_byok = ${after.countsByok} WHERE id = ${accountId}`
    const updatedAt = await write(tx, after)
    const workspace = { ...after, updatedAt }
    await appendAudit(tx, workspaceEvent(by, { before, after: workspace }))
    // By the account too where the rule changed: until every front has heard of it some count by the old one.
    const told = { kind: 'workspace', id: before.id } as const
    const change = isRecounted ? await bumpLimits(tx, accountId, told) : await bump(tx, told.kind, told.id)
    return ok({ workspace, change })
  }))
}

/** Oldest first. @param organizationId null = of all organizations. Failures: store_unavailable. */
export function listWorkspaces(store: Store, organizationId: string | null): Promise<Outcome<readonly Workspace[]>> {
  return reach(async () => {
    const { sql } = store
    const rows = await sql<WorkspaceRow[]>`${workspaceRows(sql)} AND ${within(sql, organizationId)} ORDER BY w.id`
    return ok(rows.map(workspaceOf))
  })
}

/**
 * Finds a workspace by UUID or slug, in one organization or in all; one that was deleted is unknown.
 * @param reference null = the default one
 * Failures: workspace_unknown, reference_ambiguous.
 */
export async function findWorkspace(sql: Queryable, reference: string | null, organizationId: string | null): Promise<Outcome<Workspace>> {
  const named = reference === null ? sql`w.is_default` : namedBy(sql, reference)
  if (named === null) return workspaceUnknown(sql, reference, organizationId)
  const rows = await sql<WorkspaceRow[]>`
    ${workspaceRows(sql)} AND ${named} AND ${within(sql, organizationId)} ORDER BY w.id LIMIT 2`
  const [row] = rows
  if (row === undefined) return workspaceUnknown(sql, reference, organizationId)
  return rows.length > 1 ? fail('reference_ambiguous', { fields: AMBIGUOUS }) : ok(workspaceOf(row))
}

/** Of an organization, by UUID or slug; one that was deleted by its UUID alone. Failure: workspace_unknown. */
export async function workspaceIdOf(sql: Queryable, organizationId: string, reference: string): Promise<Outcome<string>> {
  if (!isId(reference)) {
    const found = await findWorkspace(sql, reference, organizationId)
    return found.ok ? ok(found.value.id) : found
  }
  const [row] = await sql<{ id: string }[]>`SELECT id FROM workspaces WHERE id = ${reference} AND organization_id = ${organizationId}`
  return row === undefined ? workspaceUnknown(sql, reference, organizationId) : ok(row.id)
}

/** Slugs are unique in an organization only. */
const AMBIGUOUS = { what: 'workspaces', remedy: 'name the organization as well (--organization), or the workspace by its id' }

/**
 * Keeps a workspace from being deleted before the commit. Whoever makes something that belongs to one calls this first:
 * its deletion ends what it finds. @returns false when it is gone
 */
export async function holdWorkspace(tx: Transaction, id: string): Promise<boolean> {
  const [row] = await tx`SELECT 1 FROM workspaces WHERE id = ${id} AND deleted_at IS NULL FOR SHARE`
  return row !== undefined
}

/**
 * As `holdWorkspace`, for several.
 * @param mode `skip locked`: without those that somebody else has right now
 * @returns ids of those that are held
 */
export async function holdWorkspaces(tx: Transaction, ids: readonly string[], mode: 'wait' | 'skip locked'): Promise<ReadonlySet<string>> {
  const rows = await tx<{ id: string }[]>`
    SELECT id FROM workspaces WHERE id = ANY(string_to_array(${ids.join(',')}, ',')::uuid[]) AND deleted_at IS NULL
    ORDER BY id FOR SHARE ${mode === 'wait' ? tx`` : tx`SKIP LOCKED`}`
  return new Set(rows.map(({ id }) => id))
}

export async function insertWorkspace(tx: Transaction, wish: NewWorkspace, by: ChangedBy | null = null): Promise<Workspace> {
  const { organizationId, countsByok = false } = wish
  const id = newId()
  const [row] = await tx<Omit<WorkspaceRow, 'counts_byok'>[]>`
    INSERT INTO workspaces (id, organization_id, name, slug, description, is_default, is_in_programme, may_write_vault,
      default_callback_url, storage_quota_bytes, settings, created_by)
    VALUES (${id}, ${organizationId}, ${wish.name}, ${wish.slug}, ${wish.description ?? null}, ${wish.isDefault ?? false},
      ${wish.isInProgramme ?? true}, ${wish.mayWriteVault ?? true}, ${wish.defaultCallbackUrl ?? null},
      ${wish.storageQuotaBytes ?? null}, ${tx.json(wish.settings ?? {})}, ${by?.actor.id ?? null}) RETURNING *`
  if (row === undefined) throw new Error('the insert returned nothing')
  await bearAccount(tx, { id: workspaceAccount(id), ownerKind: 'workspace', organizationId })
  if (countsByok) await tx`UPDATE accounts SET counts_byok = true WHERE id = ${workspaceAccount(id)}`
  return workspaceOf({ ...row, counts_byok: countsByok })
}

interface AnyRef {
  /** Null = of any. */
  readonly organizationId: string | null
  readonly reference: string
}

/** It neither changes nor goes before the commit. @returns null when there is none */
export async function lockWorkspace(tx: Transaction, { organizationId, reference }: AnyRef): Promise<Workspace | null> {
  const named = namedBy(tx, reference)
  if (named === null) return null
  const [row] = await tx<WorkspaceRow[]>`
    ${workspaceRows(tx)} AND ${named} AND ${within(tx, organizationId)} FOR NO KEY UPDATE OF w`
  return row === undefined ? null : workspaceOf(row)
}

async function write(tx: Transaction, after: Workspace): Promise<Date> {
  const [row] = await tx<{ updated_at: Date }[]>`
    UPDATE workspaces SET name = ${after.name}, slug = ${after.slug}, description = ${after.description},
      is_in_programme = ${after.isInProgramme}, may_write_vault = ${after.mayWriteVault},
      default_callback_url = ${after.defaultCallbackUrl}, storage_quota_bytes = ${after.storageQuotaBytes},
      settings = ${tx.json(after.settings)}, updated_at = clock_timestamp()
    WHERE id = ${after.id} RETURNING updated_at`
  if (row === undefined) throw new Error('a locked row is gone')
  return row.updated_at
}

/** Null for what can name none: no text of the store holds U+0000, and it throws at one that does. */
function namedBy(sql: Queryable, reference: string) {
  if (reference.includes('\0')) return null
  return isId(reference) ? sql`w.id = ${reference}` : sql`w.slug = ${reference}`
}

function within(sql: Queryable, organizationId: string | null) {
  return organizationId === null ? sql`true` : sql`w.organization_id = ${organizationId}`
}

function renaming<T>(work: () => Promise<Outcome<T>>): Promise<Outcome<T>> {
  return reach(async () => {
    try {
      return await work()
    } catch (problem) {
      if (violatedUnique(problem) === 'workspaces_slug_key') return fail('slug_taken')
      throw problem
    }
  })
}
