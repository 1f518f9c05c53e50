import { ok } from '../../../schemas/failures.ts'
import { AddedMembersAnswer } from '../../../schemas/workspaces/members.ts'
import { WorkspaceParams } from '../../../schemas/workspaces/workspaces.ts'
import { actorOf, defineOperation } from '../define.ts'
import {
  EXAMPLE_USER,
  EXAMPLE_WORKSPACE,
  memberAnswer,
  refOf,
  WORKSPACE_FAILURES,
  WORKSPACE_STATUSES,
} from './workspace-answers.ts'

/** Adds users of the organization to a workspace by hand, all or none. Source: B2.9. */
export const addMembers = defineOperation({
  id: 'workspaces.add_members',
  method: 'post',
  path: '/workspaces/{id}/members/add',
  tag: 'workspaces',
  summary: 'Add members to a workspace',
  description:
    'Adds all of the users or none. A manual grant stays when a SCIM mapping of the user ends; an existing manual grant gets the new role.',
  input: { params: WorkspaceParams, body: 'members_add' },
  success: { status: 200, body: AddedMembersAnswer },
  statuses: WORKSPACE_STATUSES,
  failures: ['body_invalid', ...WORKSPACE_FAILURES],
  example: { params: { id: EXAMPLE_WORKSPACE }, body: { user_ids: [EXAMPLE_USER] } },
  async run(call, { workspaces }) {
    const { user_ids: userIds, role = 'member' } = call.body
    const added = await workspaces.addMembers(refOf(call), { userIds, role }, actorOf(call))
    if (!added.ok) return added
    const { changedCount, members } = added.value
    return ok({ kind: 'json', value: { added_count: changedCount, data: members.map(memberAnswer) } })
  },
})
