import type { OrganizationMember, Page, PageInput } from '../../ports/workspaces/workspaces.ts'
import type { Queryable } from '../base/open.ts'

interface UserRow {
  readonly id: string
  readonly user_name: string
  readonly display_name: string | null
  readonly email: string | null
  readonly given_name: string | null
  readonly family_name: string | null
}

export async function listUsers(
  sql: Queryable,
  organizationId: string,
  { limit, offset }: PageInput,
): Promise<Page<OrganizationMember>> {
  const [rows, [counted]] = await Promise.all([
    sql<UserRow[]>`
      SELECT id, user_name, display_name, email,
        attributes #>> '{name,givenName}' AS given_name, attributes #>> '{name,familyName}' AS family_name
      FROM users WHERE organization_id = ${organizationId} AND is_active
      ORDER BY lower(user_name), id LIMIT ${limit} OFFSET ${offset}`,
    sql<{ count: number }[]>`
      SELECT count(*)::int AS count FROM users WHERE organization_id = ${organizationId} AND is_active`,
  ])
  return { rows: rows.map(userOf), totalCount: counted?.count ?? 0 }
}

function userOf(row: UserRow): OrganizationMember {
  return {
    id: row.id,
    userName: row.user_name,
    displayName: row.display_name,
    email: row.email,
    givenName: row.given_name,
    familyName: row.family_name,
  }
}
