import { fail, ok, type Outcome } from '../../../schemas/failures.ts'
import {
  InternListAnswer,
  isInternId,
  ListInternsQuery,
  statusesOf,
} from '../../../schemas/workspaces/interns.ts'
import { INTERNS_PAGE_DEFAULT } from '../../../schemas/workspaces/workspace-limits.ts'
import { defineOperation, ownWorkspaceOf } from '../define.ts'
import { INTERN_FAILURES, INTERN_STATUSES_LISTED, internAnswer } from './intern-access.ts'
import { cursorBehind, idOfCursor } from '../../../schemas/lists/cut-page.ts'

/** Lists a workspace's interns, oldest first, page by page. Source: B2.4. */
export const listInterns = defineOperation({
  id: 'interns.list',
  method: 'get',
  path: '/interns',
  tag: 'interns',
  summary: 'List interns',
  input: { query: ListInternsQuery },
  success: { status: 200, body: InternListAnswer, isList: true },
  tellsReason: true,
  statuses: INTERN_STATUSES_LISTED,
  failures: ['query_invalid', 'workspace_unknown', ...INTERN_FAILURES],
  example: { query: { status: 'stopped', limit: 20 } },
  async run(call, ports) {
    const {
      workspace_id: workspace,
      status,
      limit,
      starting_after: startingAfter,
      cursor = startingAfter,
    } = call.query
    const after = cursor === undefined ? null : idOfCursor(cursor)
    if (cursor !== undefined && (after === null || !isInternId(after)))
      return noCursor(call.query.cursor === undefined ? '/starting_after' : '/cursor')
    const page = await ports.interns.list({
      organizationId: call.key.organizationId,
      workspace: workspace ?? ownWorkspaceOf(call.key),
      statuses: status === undefined ? null : statusesOf(status),
      after,
      limit: limit ?? INTERNS_PAGE_DEFAULT,
    })
    if (!page.ok) return page
    const { interns, hasMore } = page.value
    const last = interns.at(-1)
    const value = {
      data: interns.map(internAnswer),
      has_more: hasMore,
      ...(hasMore && last !== undefined && { next_cursor: cursorBehind(last.id) }),
    }
    return ok({ kind: 'json', value })
  },
})

function noCursor(path: string): Outcome<never> {
  const issues = [
    { path, message: 'is not a valid cursor', expected: 'the `next_cursor` of the previous page' },
  ]
  return fail('query_invalid', { metadata: { issues } })
}
