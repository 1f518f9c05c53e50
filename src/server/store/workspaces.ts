import { fail, ok, type Outcome } from '../../schemas/failures.ts'
import { isId, newId } from './ids.ts'
import type { Queryable, Store, Transaction } from './open.ts'
import { bearScopes } from './scopes.ts'
import { reach, violatedUnique } from './translate.ts'

export interface Workspace {
  readonly id: string
  readonly organizationId: string
  readonly name: string
  /** Unique in the organization. */
  readonly slug: string
  readonly isDefault: boolean
  readonly createdAt: Date
}

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
 * Finds a workspace by UUID or slug, in one organization or in all.
 * Failures: workspace_unknown, reference_ambiguous.
 */
export async function findWorkspace(sql: Queryable, reference: string, organizationId: string | null): Promise<Outcome<Workspace>> {
  const rows = await sql<WorkspaceRow[]>`
    SELECT * FROM workspaces
    WHERE ${isId(reference) ? sql`id = ${reference}` : sql`slug = ${reference}`}
      AND ${organizationId === null ? sql`true` : sql`organization_id = ${organizationId}`}
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
  await bearScopes(tx, 'workspace', id)
  return workspaceOf(row)
}

interface WorkspaceRow {
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
    createdAt: row.created_at,
  }
}
