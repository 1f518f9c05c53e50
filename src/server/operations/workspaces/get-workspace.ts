import { ok } from '../../../schemas/failures.ts'
import { WorkspaceAnswer, WorkspaceParams } from '../../../schemas/workspaces/workspaces.ts'
import { defineOperation } from '../define.ts'
import {
  EXAMPLE_WORKSPACE,
  refOf,
  WORKSPACE_FAILURES,
  WORKSPACE_STATUSES,
  workspaceAnswer,
} from './workspace-answers.ts'

/** Reads a workspace of the organization. Source: B2.9. */
export const getWorkspace = defineOperation({
  id: 'workspaces.get',
  method: 'get',
  path: '/workspaces/{id}',
  tag: 'workspaces',
  summary: 'Get a workspace',
  input: { params: WorkspaceParams },
  success: { status: 200, body: WorkspaceAnswer },
  statuses: WORKSPACE_STATUSES,
  failures: WORKSPACE_FAILURES,
  example: { params: { id: EXAMPLE_WORKSPACE } },
  async run(call, ports) {
    const found = await ports.workspaces.get(refOf(call))
    return found.ok ? ok({ kind: 'json', value: { data: workspaceAnswer(found.value) } }) : found
  },
})
