import type { AuditEvent } from '../../ports/audit/audit.ts'
import type { Workspace, WorkspaceActor } from '../../ports/workspaces/workspaces.ts'
import type { Transaction } from '../base/open.ts'
import { lockDirectory } from './lock.ts'
import { mappingEvent, mappingOf, type MappingRow } from './mapping-rows.ts'

/** Ends all memberships of a workspace that is being deleted, with the mappings that grant them. */
export async function endMemberships(
  tx: Transaction,
  workspace: Workspace,
  by: WorkspaceActor,
): Promise<readonly AuditEvent[]> {
  await lockDirectory(tx, workspace.organizationId)
  await tx`DELETE FROM member_grants WHERE workspace_id = ${workspace.id}`
  const rows = await tx<
    MappingRow[]
  >`DELETE FROM scim_mappings WHERE workspace_id = ${workspace.id} RETURNING *`
  return rows.map((row) => mappingEvent(by, { before: mappingOf(row), after: null }))
}
