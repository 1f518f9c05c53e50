import { ok } from '../../../schemas/failures.ts'
import {
  MemberListAnswer,
  WorkspacePageQuery,
  WorkspaceRefParams,
} from '../../../schemas/workspaces/workspaces.ts'
import { defineOperation } from '../define.ts'
import {
  EXAMPLE_WORKSPACE,
  memberAnswer,
  pageOf,
  WORKSPACE_FAILURES,
  WORKSPACE_STATUSES,
} from './workspace-answers.ts'
import { offsetPage } from '../../../schemas/lists/cut-page.ts'

/** Lists the members of a workspace with the source of each membership. Source: an extension of B2.9. */
export const listMembers = defineOperation({
  id: 'workspaces.list_members',
  method: 'get',
  path: '/workspaces/{workspace_ref}/members',
  tag: 'workspaces',
  summary: 'List the members of a workspace',
  description:
    'Sorted by user name. A user with several grants gets the highest of the granted roles, and stays a member until the last grant ends.',
  input: { params: WorkspaceRefParams, query: WorkspacePageQuery },
  success: { status: 200, body: MemberListAnswer, isList: true },
  statuses: WORKSPACE_STATUSES,
  failures: WORKSPACE_FAILURES,
  example: { params: { workspace_ref: EXAMPLE_WORKSPACE }, query: { limit: 20 } },
  async run(call, ports) {
    const ref = { organizationId: call.key.organizationId, reference: call.params.workspace_ref }
    const page = await ports.workspaces.members(ref, pageOf(call.query))
    if (!page.ok) return page
    return ok({ kind: 'json', value: offsetPage(page.value, pageOf(call.query), memberAnswer) })
  },
})
