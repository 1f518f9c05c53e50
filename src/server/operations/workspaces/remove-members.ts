import { ok } from '../../../schemas/failures.ts'
import { RemovedMembersAnswer } from '../../../schemas/workspaces/members.ts'
import { WorkspaceParams } from '../../../schemas/workspaces/workspaces.ts'
import { actorOf, defineOperation } from '../define.ts'
import {
  EXAMPLE_USER,
  EXAMPLE_WORKSPACE,
  refOf,
  WORKSPACE_FAILURES,
  WORKSPACE_STATUSES,
} from './workspace-answers.ts'

/** Ends memberships that were given by hand, all or none. Source: B2.9. */
export const removeMembers = defineOperation({
  id: 'workspaces.remove_members',
  method: 'post',
  path: '/workspaces/{id}/members/remove',
  tag: 'workspaces',
  summary: 'Remove members from a workspace',
  description:
    'Removes all of the users or none. Members added by a SCIM mapping are refused: remove them in the identity ' +
    'provider. Removing the `creator_user_id` of an active key of the workspace is refused too.',
  input: { params: WorkspaceParams, body: 'members_remove' },
  success: { status: 200, body: RemovedMembersAnswer },
  statuses: WORKSPACE_STATUSES,
  failures: ['body_invalid', ...WORKSPACE_FAILURES],
  example: { params: { id: EXAMPLE_WORKSPACE }, body: { user_ids: [EXAMPLE_USER] } },
  async run(call, { workspaces }) {
    const removed = await workspaces.removeMembers(refOf(call), call.body.user_ids, actorOf(call))
    return removed.ok ? ok({ kind: 'json', value: { removed_count: removed.value } }) : removed
  },
})
