import { newId } from '../../../src/server/store/base/ids.ts'
import type { Queryable } from '../../../src/server/store/base/open.ts'

/** An organization with its workspace in a schema of any version: with the columns that every version has. */
export async function insertOldOwnerOnce(
  sql: Queryable,
): Promise<{ readonly organizationId: string; readonly workspaceId: string }> {
  const [organizationId, workspaceId] = [newId(), newId()]
  await sql`INSERT INTO organizations (id, name) VALUES (${organizationId}, 'o')`
  await sql`
    INSERT INTO workspaces (id, organization_id, name, slug, is_default)
    VALUES (${workspaceId}, ${organizationId}, 'Default', 'default', true)`
  return { organizationId, workspaceId }
}
