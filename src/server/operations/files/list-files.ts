import { cursorBehind, idOfCursor } from '../../../schemas/cursor.ts'
import { cutPage } from '../../../schemas/cut-page.ts'
import { fail, ok, type Outcome } from '../../../schemas/failures.ts'
import { FILES_PAGE_DEFAULT } from '../../../schemas/file-limits.ts'
import { fileAnswer, FileListAnswer, fileListAnswer, ListFilesQuery, SHAPE_HEADERS, shapeOf, type FileShape } from '../../../schemas/files.ts'
import { CONTROL_DEADLINE_MS } from '../../../schemas/limits.ts'
import type { HostedPage } from '../../ports/file-hosts.ts'
import { defineOperation } from '../define.ts'
import { HOST_FAILURES, hostOf } from './hosts.ts'

/** Lists a workspace's files, page by page. Source: B2.7. */
export const listFiles = defineOperation({
  id: 'files.list',
  method: 'get',
  path: '/files',
  tag: 'files',
  summary: 'List files',
  access: { keys: ['inference', 'intern'], keyScopes: ['files:read'], refusesRegional: true },
  deadlineMs: CONTROL_DEADLINE_MS,
  outlivesClient: false,
  input: { query: ListFilesQuery, headers: SHAPE_HEADERS },
  success: { status: 200, body: FileListAnswer, isList: true },
  statuses: [400, 403, 429, 500, 502, 503],
  failures: ['query_invalid', ...HOST_FAILURES],
  example: { query: { limit: 20 } },
  async run(call, ports) {
    const host = await hostOf('files.list', call, ports)
    if (!host.ok) return host
    const { query, signal } = call
    const after = afterOf(query)
    if (!after.ok) return after
    const page = await host.value.list({
      after: after.value,
      before: query.before_id ?? null,
      order: query.order ?? null,
      purpose: query.purpose ?? null,
      limit: query.limit ?? FILES_PAGE_DEFAULT,
      signal,
    })
    if (!page.ok) return page
    const shape = shapeOf(call.headers)
    const { files, hasMore } = endedEarly(page.value, query.before_id !== undefined, shape)
    return ok({ kind: 'json', value: fileListAnswer({ files, hasMore, cursor: cursorBehind }, shape) })
  },
})

/** Before a file, the page goes on from its first one to those before: what it has no room for is at its beginning. */
function endedEarly({ files, hasMore }: HostedPage, isBefore: boolean, shape: FileShape): HostedPage {
  const { rows, isCut } = cutPage(isBefore ? files.toReversed() : files, (file) => fileAnswer(file, shape))
  return { files: isBefore ? rows.toReversed() : rows, hasMore: isCut || hasMore }
}

/** The four names of the same thing exclude each other. Failure: query_invalid. */
function afterOf({ cursor, page, after, after_id: afterId }: ListFilesQuery): Outcome<string | null> {
  const given = [cursor, page, after, afterId].filter((text) => text !== undefined)
  if (given.length > 1) return refuse('', 'has more than one place to continue at', 'one of cursor, page, after and after_id')
  const place = cursor ?? page
  if (place === undefined) return ok(after ?? afterId ?? null)
  const id = idOfCursor(place)
  if (id === null) return refuse(cursor === undefined ? '/page' : '/cursor', 'is not one that a page gave', 'that of the page before')
  return ok(id)
}

function refuse(path: string, message: string, expected: string): Outcome<never> {
  return fail('query_invalid', { metadata: { issues: [{ path, message, expected }] } })
}
