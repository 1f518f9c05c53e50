import { workspaceAccount } from '../../schemas/accounts.ts'
import { fail, ok, type Outcome } from '../../schemas/failures.ts'
import type { Invalidation } from '../ports/keys.ts'
import type { ChangedBy } from '../ports/vault.ts'
import { bearAccount } from './accounts.ts'
import { appendAudit } from './audit.ts'
import { bump } from './epoch.ts'
import { isId, newId } from './ids.ts'
import type { Queryable, Store, Transaction } from './open.ts'
import { reach, violatedUnique } from './translate.ts'

export interface Workspace {
  readonly id: string
  readonly organizationId: string
  readonly name: string
  /** Unique in the organization. */
  readonly slug: string
  readonly isDefault: boolean
  /** Of interns and their vaults; outside of it those are 404. C5. */
  readonly isInProgramme: boolean
  readonly mayWriteVault: boolean
  readonly createdAt: Date
}

/** What an operator decides of a workspace; what is left out stays. */
export type WorkspaceSettings = Partial<Pick<Workspace, 'isInProgramme' | 'mayWriteVault'>>

export interface NewWorkspace {
  readonly organizationId: string
  readonly name: string
  readonly slug: string
  readonly isDefault?: boolean
}

/** Makes a workspace with its scopes. Failures: slug_taken, store_unavailable. */
export function createWorkspace(store: Store, wish: NewWorkspace): Promise<Outcome<Workspace>> {
  return reach(async () => {
    try {
      return ok(await store.sql.begin((tx) => insertWorkspace(tx, wish)))
    } catch (problem) {
      if (violatedUnique(problem) === 'workspaces_slug_key') return fail('slug_taken')
      throw problem
    }
  })
}

/**
 * Changes what an operator decides of a workspace, for the log of changes too.
 * @returns the workspace, and what to publish as a hint
 * Failures: workspace_unknown, store_unavailable.
 */
export function setWorkspace(
  store: Store, id: string, settings: WorkspaceSettings, by: ChangedBy,
): Promise<Outcome<{ readonly workspace: Workspace; readonly change: Invalidation }>> {
  return reach(() => store.sql.begin(async (tx) => {
    const [before] = await tx<WorkspaceRow[]>`SELECT * FROM workspaces WHERE id = ${id} FOR UPDATE`
    if (before === undefined) return fail('workspace_unknown')
    const after = {
      is_in_programme: settings.isInProgramme ?? before.is_in_programme,
      may_write_vault: settings.mayWriteVault ?? before.may_write_vault,
    }
    await tx`UPDATE workspaces SET ${tx(after)} WHERE id = ${id}`
    await appendAudit(tx, {
      ...by, organizationId: before.organization_id, workspaceId: id, operation: 'cli.workspaces-set', outcome: 'changed',
      objectKind: 'workspace', objectId: id, before: settingsOf(before), after: settingsOf(after),
    })
    return ok({ workspace: workspaceOf({ ...before, ...after }), change: await bump(tx, 'workspace', id) })
  }))
}

/** Oldest first. @param organizationId null = of all organizations. Failures: store_unavailable. */
export function listWorkspaces(store: Store, organizationId: string | null): Promise<Outcome<readonly Workspace[]>> {
  return reach(async () => {
    const { sql } = store
    const rows = await sql<WorkspaceRow[]>`
      SELECT * FROM workspaces WHERE ${organizationId === null ? sql`true` : sql`organization_id = ${organizationId}`} ORDER BY id`
    return ok(rows.map(workspaceOf))
  })
}

/**
 * Finds a workspace by UUID or slug, in one organization or in all; one that was deleted is unknown.
 * Failures: workspace_unknown, reference_ambiguous.
 */
export async function findWorkspace(sql: Queryable, reference: string, organizationId: string | null): Promise<Outcome<Workspace>> {
  // No text of the store holds it, and it throws at one that does.
  if (reference.includes('\0')) return fail('workspace_unknown')
  const rows = await sql<WorkspaceRow[]>`
    SELECT * FROM workspaces
    WHERE ${isId(reference) ? sql`id = ${reference}` : sql`slug = ${reference}`}
      AND ${organizationId === null ? sql`true` : sql`organization_id = ${organizationId}`} AND deleted_at IS NULL
    ORDER BY id LIMIT 2`
  const [row] = rows
  if (row === undefined) return fail('workspace_unknown')
  return rows.length > 1 ? fail('reference_ambiguous', { fields: AMBIGUOUS }) : ok(workspaceOf(row))
}

/** Slugs are unique in an organization only. */
const AMBIGUOUS = { what: 'workspaces', remedy: 'name the organization as well (--organization), or the workspace by its id' }

export async function insertWorkspace(tx: Transaction, wish: NewWorkspace): Promise<Workspace> {
  const id = newId()
  const [row] = await tx<WorkspaceRow[]>`
    INSERT INTO workspaces (id, organization_id, name, slug, is_default)
    VALUES (${id}, ${wish.organizationId}, ${wish.name}, ${wish.slug}, ${wish.isDefault ?? false}) RETURNING *`
  if (row === undefined) throw new Error('the insert returned nothing')
  await bearAccount(tx, { id: workspaceAccount(id), ownerKind: 'workspace', organizationId: wish.organizationId })
  return workspaceOf(row)
}

/** As the audit log tells them. */
function settingsOf({ is_in_programme, may_write_vault }: SettingsRow): object {
  return { programme: is_in_programme, vault_writes: may_write_vault }
}

interface SettingsRow {
  readonly is_in_programme: boolean
  readonly may_write_vault: boolean
}

interface WorkspaceRow extends SettingsRow {
  readonly id: string
  readonly organization_id: string
  readonly name: string
  readonly slug: string
  readonly is_default: boolean
  readonly created_at: Date
}

function workspaceOf(row: WorkspaceRow): Workspace {
  return {
    id: row.id,
    organizationId: row.organization_id,
    name: row.name,
    slug: row.slug,
    isDefault: row.is_default,
    isInProgramme: row.is_in_programme,
    mayWriteVault: row.may_write_vault,
    createdAt: row.created_at,
  }
}
