import { fail, type FailureName } from '../../../schemas/failures.ts'
import { hintOf, NAMES_COMPARED_MAX, nearest, shown } from '../../../schemas/nearest.ts'
import { isId } from './ids.ts'
import type { Queryable } from './open.ts'

type Refused = ReturnType<typeof fail>

/** A failure that repeats the unknown name and offers similar names. @param names that the caller may see anyway */
export function unknownName(failure: FailureName, unknown: string, names: readonly string[]): Refused {
  return fail(failure, { detail: `${shown(unknown)} was not found.${hintOf(nearest(unknown, names))}` })
}

/** @param organizationId null = all organizations, only for the command line: a caller may see only names of its own organization */
export async function workspaceUnknown(
  sql: Queryable,
  reference: string | null,
  organizationId: string | null,
): Promise<Refused> {
  if (reference === null) return fail('workspace_unknown')
  if (isId(reference)) return unknownName('workspace_unknown', reference, [])
  const rows = await sql<{ slug: string }[]>`
    SELECT DISTINCT slug FROM workspaces WHERE deleted_at IS NULL AND ${organizationId === null ? sql`true` : sql`organization_id = ${organizationId}`}
    ORDER BY slug LIMIT ${NAMES_COMPARED_MAX}`
  return unknownName(
    'workspace_unknown',
    reference,
    rows.map(({ slug }) => slug),
  )
}

/** Only for the command line and the operator's settings, since it offers names of all organizations. */
export async function organizationUnknown(sql: Queryable, reference: string | null): Promise<Refused> {
  if (reference === null) return fail('organization_unknown')
  const rows = await sql<
    { name: string }[]
  >`SELECT name FROM organizations ORDER BY id LIMIT ${NAMES_COMPARED_MAX}`
  return unknownName('organization_unknown', reference, isId(reference) ? [] : rows.map(({ name }) => name))
}

/** Offers the active presets of the same workspace. */
export async function presetUnknown(
  sql: Queryable,
  { workspaceId, slug }: { readonly workspaceId: string; readonly slug: string },
): Promise<Refused> {
  if (!isId(workspaceId)) return fail('preset_unknown')
  const rows = await sql<{ slug: string }[]>`
    SELECT slug FROM presets WHERE workspace_id = ${workspaceId} AND status = 'active' AND latest_version > 0 ORDER BY slug LIMIT ${NAMES_COMPARED_MAX}`
  return unknownName(
    'preset_unknown',
    slug,
    rows.map((row) => row.slug),
  )
}
