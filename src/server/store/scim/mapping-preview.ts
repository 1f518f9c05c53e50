import { fail, ok, type Outcome } from '../../../schemas/failures.ts'
import { MAPPING_PREVIEWED_MAX } from '../../../schemas/scim/mapping-limits.ts'
import type { GroupMapping, MappingPreview } from '../../ports/scim/directory.ts'
import { findWorkspace } from '../base/find-workspace.ts'
import { isId } from '../base/ids.ts'
import type { Queryable } from '../base/open.ts'

type Input = Pick<GroupMapping, 'groupId' | 'workspaceId' | 'role'>

/** What `create` would do to the members of a group. Failures: scim_group_unknown, workspace_unknown. */
export async function previewMapping(
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
