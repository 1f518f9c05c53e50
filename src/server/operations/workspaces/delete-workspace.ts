import { ok } from '../../../schemas/failures.ts'
import {
  DeletedWorkspaceAnswer,
  DeleteWorkspaceQuery,
  WorkspaceParams,
} from '../../../schemas/workspaces/workspaces.ts'
import { actorOf, defineOperation } from '../define.ts'
import { EXAMPLE_WORKSPACE, refOf, WORKSPACE_FAILURES, WORKSPACE_STATUSES } from './workspace-answers.ts'

/** Deletes a workspace with everything that belongs to it. Source: B2.9. */
export const deleteWorkspace = defineOperation({
  id: 'workspaces.delete',
  method: 'delete',
  path: '/workspaces/{id}',
  tag: 'workspaces',
  summary: 'Delete a workspace',
  description:
    'The keys and interns of the workspace stop working at once; its vaults, secrets and files are deleted, and its private endpoints ' +
    'are disabled. Calls in progress finish and are charged. Spending records and the audit log are kept. The only ' +
    'workspace cannot be deleted.',
  input: { params: WorkspaceParams, query: DeleteWorkspaceQuery },
  success: { status: 200, body: DeletedWorkspaceAnswer },
  statuses: WORKSPACE_STATUSES,
  failures: ['default_workspace_kept', ...WORKSPACE_FAILURES],
  example: { params: { id: EXAMPLE_WORKSPACE } },
  async run(call, ports) {
    const mayBeDefault = call.query.confirm_default_workspace_deletion === true
    const removed = await ports.workspaces.remove(refOf(call), mayBeDefault, actorOf(call))
    return removed.ok ? ok({ kind: 'json', value: { deleted: true } }) : removed
  },
})
