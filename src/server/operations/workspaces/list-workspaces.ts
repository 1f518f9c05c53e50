import { ok } from '../../../schemas/failures.ts'
import { WorkspaceListAnswer, WorkspacePageQuery } from '../../../schemas/workspaces/workspaces.ts'
import { defineOperation } from '../define.ts'
import { pageOf, workspaceAnswer } from './workspace-answers.ts'
import { offsetPage } from '../../../schemas/lists/cut-page.ts'

/** Lists the organization's workspaces, oldest first. Source: B2.9. */
export const listWorkspaces = defineOperation({
  id: 'workspaces.list',
  method: 'get',
  path: '/workspaces',
  tag: 'workspaces',
  summary: 'List workspaces',
  input: { query: WorkspacePageQuery },
  success: { status: 200, body: WorkspaceListAnswer, isList: true },
  statuses: [500],
  failures: ['store_unavailable'],
  example: { query: { limit: 20 } },
  async run(call, ports) {
    const page = await ports.workspaces.list(call.key.organizationId, pageOf(call.query))
    if (!page.ok) return page
    return ok({ kind: 'json', value: offsetPage(page.value, pageOf(call.query), workspaceAnswer) })
  },
})
