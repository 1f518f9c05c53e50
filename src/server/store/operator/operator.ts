import { fail, ok, type Outcome } from '../../../schemas/failures.ts'
import { isId } from '../base/ids.ts'
import type { Queryable, Store } from '../base/open.ts'
import { findOrganization, type Organization } from '../workspaces/organizations.ts'
import { reach } from '../base/translate.ts'
import type { Operators } from '../../ports/operator/admin.ts'

/** @param reference UUID or name from the setting; null: the oldest organization. Failures: organization_unknown, reference_ambiguous. */
export async function operatorOrganization(
  sql: Queryable,
  reference: string | null,
): Promise<Outcome<Pick<Organization, 'id' | 'name'>>> {
  if (reference !== null) return findOrganization(sql, reference)
  const [row] = await sql<
    { id: string; name: string }[]
  >`SELECT id, name FROM organizations ORDER BY id LIMIT 1`
  return row === undefined ? fail('organization_unknown') : ok({ id: row.id, name: row.name })
}

/** False for every organization when the setting names none, or several. */
export async function isOperator(
  sql: Queryable,
  organizationId: string,
  reference: string | null,
): Promise<boolean> {
  if (reference !== null && isId(reference)) return reference.toLowerCase() === organizationId
  const found = await operatorOrganization(sql, reference)
  return found.ok && found.value.id === organizationId
}

/** @param reference from the setting; null = the oldest organization */
export function openOperators({ sql }: Store, reference: string | null): Operators {
  return {
    targetOf: (askingId, namedId) =>
      reach(async () => {
        if (!(await mayOperate(sql, askingId, reference))) return fail('operator_only')
        if (namedId === undefined || namedId === askingId) return ok(askingId)
        return isId(namedId) ? findId(sql, namedId) : fail('organization_unknown')
      }),
  }
}

/** The only organization of an installation may operate it, even if the setting names another one. */
async function mayOperate(
  sql: Queryable,
  organizationId: string,
  reference: string | null,
): Promise<boolean> {
  if (await isOperator(sql, organizationId, reference)) return true
  const others = await sql`SELECT 1 FROM organizations WHERE id <> ${organizationId} LIMIT 1`
  return others.length === 0
}

async function findId(sql: Queryable, id: string): Promise<Outcome<string>> {
  const found = await findOrganization(sql, id)
  return found.ok ? ok(found.value.id) : found
}
