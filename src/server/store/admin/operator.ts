import { fail, ok, type Outcome } from '../../../schemas/failures.ts'
import { isId } from '../ids.ts'
import type { Queryable } from '../open.ts'
import { findOrganization, type Organization } from '../organizations.ts'

/**
 * The organization that operates the installation.
 * @param reference its UUID or name as it is set; null = the oldest one
 * Failures: organization_unknown, reference_ambiguous.
 */
export async function operatorOrganization(sql: Queryable, reference: string | null): Promise<Outcome<Pick<Organization, 'id' | 'name'>>> {
  if (reference !== null) return findOrganization(sql, reference)
  const [row] = await sql<{ id: string; name: string }[]>`SELECT id, name FROM organizations ORDER BY id LIMIT 1`
  return row === undefined ? fail('organization_unknown') : ok({ id: row.id, name: row.name })
}

/** Where the setting names none, or several, nobody is. */
export async function isOperator(sql: Queryable, organizationId: string, reference: string | null): Promise<boolean> {
  if (reference !== null && isId(reference)) return reference.toLowerCase() === organizationId
  const found = await operatorOrganization(sql, reference)
  return found.ok && found.value.id === organizationId
}
