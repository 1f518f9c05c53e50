import { fail, ok, type Outcome } from '../../../schemas/failures.ts'
import type { Workspace } from '../../ports/workspaces/workspaces.ts'
import { isId } from './ids.ts'
import { workspaceUnknown } from './near-names.ts'
import type { Queryable, Transaction } from './open.ts'
import { workspaceOf, workspaceRows, type WorkspaceRow } from './workspace-rows.ts'

/**
 * Finds a workspace by UUID or slug, in one organization or in all of them; a deleted workspace is unknown.
 * @param reference null = the default workspace. Failures: workspace_unknown, reference_ambiguous.
 */
export async function findWorkspace(
  sql: Queryable,
  reference: string | null,
  organizationId: string | null,
): Promise<Outcome<Workspace>> {
  const named = reference === null ? sql`w.is_default` : namedBy(sql, reference)
  if (named === null) return workspaceUnknown(sql, reference, organizationId)
  const rows = await sql<WorkspaceRow[]>`
    ${workspaceRows(sql)} AND ${named} AND ${ofOrganization(sql, organizationId)} ORDER BY w.id LIMIT 2`
  const [row] = rows
  if (row === undefined) return workspaceUnknown(sql, reference, organizationId)
  return rows.length > 1 ? fail('reference_ambiguous', { fields: AMBIGUOUS }) : ok(workspaceOf(row))
}

/**
 * Id of an organization's workspace, by UUID or slug; a deleted workspace is found only by its UUID. Failure:
 * workspace_unknown.
 */
export async function workspaceIdOf(
  sql: Queryable,
  organizationId: string,
  reference: string,
): Promise<Outcome<string>> {
  if (!isId(reference)) {
    const found = await findWorkspace(sql, reference, organizationId)
    return found.ok ? ok(found.value.id) : found
  }
  const [row] = await sql<
    { id: string }[]
  >`SELECT id FROM workspaces WHERE id = ${reference} AND organization_id = ${organizationId}`
  return row === undefined ? workspaceUnknown(sql, reference, organizationId) : ok(row.id)
}

/** Slugs are unique only within an organization. */
const AMBIGUOUS = {
  what: 'workspaces',
  remedy: 'also name the organization (--organization), or use the workspace id',
}

/**
 * Keeps a workspace from being deleted before the commit. A transaction that creates an object in the
 * workspace calls this first, since deleting the workspace removes only the objects that exist at that time.
 * @returns false when the workspace no longer exists
 */
export async function holdWorkspace(tx: Transaction, id: string): Promise<boolean> {
  const [row] = await tx`SELECT 1 FROM workspaces WHERE id = ${id} AND deleted_at IS NULL FOR SHARE`
  return row !== undefined
}

/**
 * Does the same as `holdWorkspace` for several workspaces.
 * @param mode `skip locked`: skips workspaces that another transaction has locked now
 * @returns ids of the workspaces that are held
 */
export async function holdWorkspaces(
  tx: Transaction,
  ids: readonly string[],
  mode: 'wait' | 'skip locked',
): Promise<ReadonlySet<string>> {
  const rows = await tx<{ id: string }[]>`
    SELECT id FROM workspaces WHERE id = ANY(string_to_array(${ids.join(',')}, ',')::uuid[]) AND deleted_at IS NULL
    ORDER BY id FOR SHARE ${mode === 'wait' ? tx`` : tx`SKIP LOCKED`}`
  return new Set(rows.map(({ id }) => id))
}

export interface WorkspaceRef {
  /** Null = any organization. */
  readonly organizationId: string | null
  readonly reference: string
}

/** Locks a workspace, so that it is neither changed nor deleted before the commit. @returns null if it does not exist */
export async function lockWorkspace(
  tx: Transaction,
  { organizationId, reference }: WorkspaceRef,
): Promise<Workspace | null> {
  const named = namedBy(tx, reference)
  if (named === null) return null
  const [row] = await tx<WorkspaceRow[]>`
    ${workspaceRows(tx)} AND ${named} AND ${ofOrganization(tx, organizationId)} FOR NO KEY UPDATE OF w`
  return row === undefined ? null : workspaceOf(row)
}

/** Null for a text that cannot name a workspace: Postgres does not allow U+0000 in a text and would throw. */
function namedBy(sql: Queryable, reference: string) {
  if (reference.includes('\0')) return null
  return isId(reference) ? sql`w.id = ${reference}` : sql`w.slug = ${reference}`
}

export function ofOrganization(sql: Queryable, organizationId: string | null) {
  return organizationId === null ? sql`true` : sql`w.organization_id = ${organizationId}`
}
