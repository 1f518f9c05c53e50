/**
 * Users, groups and mappings as they lie in the store, planted without any of the code that a test looks at.
 */
import type { MemberRole } from '../../../src/schemas/workspaces/workspaces.ts'
import { newId } from '../../../src/server/store/base/ids.ts'
import type { Queryable, Store } from '../../../src/server/store/base/open.ts'

export async function plantUsers(
  store: Store,
  organizationId: string,
  names: readonly string[],
): Promise<readonly string[]> {
  const ids = names.map(() => newId())
  await store.sql`
    INSERT INTO users (id, organization_id, user_name) SELECT u.id, ${organizationId}, u.name
    FROM json_to_recordset(${JSON.stringify(ids.map((id, index) => ({ id, name: names[index] })))}::text::json) AS u(id uuid, name text)`
  return ids
}

export async function plantGroup(
  store: Store,
  organizationId: string,
  displayName: string,
  userIds: readonly string[] = [],
): Promise<string> {
  const id = newId()
  await store.sql`INSERT INTO scim_groups (id, organization_id, display_name) VALUES (${id}, ${organizationId}, ${displayName})`
  await plantMembers(store, id, userIds)
  return id
}

export async function plantMembers(
  store: { readonly sql: Queryable },
  groupId: string,
  userIds: readonly string[],
): Promise<void> {
  await store.sql`
    INSERT INTO scim_members (group_id, user_id) SELECT ${groupId}, unnest(string_to_array(${userIds.join(',')}, ',')::uuid[])`
}

interface PlantedMapping {
  readonly organizationId: string
  readonly groupId: string
  readonly workspaceId: string
  readonly role: MemberRole
}

/** Without its grants. */
export async function plantMapping(
  store: Store,
  { organizationId, groupId, workspaceId, role }: PlantedMapping,
): Promise<string> {
  const id = newId()
  await store.sql`
    INSERT INTO scim_mappings (id, organization_id, group_id, workspace_id, role) VALUES (${id}, ${organizationId}, ${groupId}, ${workspaceId}, ${role})`
  return id
}

/** Every grant as `<user name> <role> <mapping, or "manual">`, sorted. */
export async function grantsIn(store: Store, workspaceId: string): Promise<readonly string[]> {
  const rows = await store.sql<{ line: string }[]>`
    SELECT u.user_name || ' ' || g.role || ' ' || coalesce(g.mapping_id::text, 'manual') AS line
    FROM member_grants g JOIN users u ON u.id = g.user_id WHERE g.workspace_id = ${workspaceId} ORDER BY line`
  return rows.map(({ line }) => line)
}
