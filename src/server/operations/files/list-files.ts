import { fail, ok, type Outcome } from '../../../schemas/failures.ts'
import { FILES_PAGE_DEFAULT } from '../../../schemas/files/file-limits.ts'
import {
  fileAnswer,
  FileListAnswer,
  fileListAnswer,
  ListFilesQuery,
  SHAPE_HEADERS,
  shapeOf,
  type FileShape,
} from '../../../schemas/files/files.ts'
import type { HostedPage } from '../../ports/files/file-hosts.ts'
import { defineOperation } from '../define.ts'
import { HOST_FAILURES, hostOf } from './hosts.ts'
import {
  cutPage,
  cursorBefore,
  cursorBehind,
  idOfBackCursor,
  idOfCursor,
} from '../../../schemas/lists/cut-page.ts'

/** Lists a workspace's files, page by page. Source: B2.7. */
export const listFiles = defineOperation({
  id: 'files.list',
  method: 'get',
  path: '/files',
  tag: 'files',
  summary: 'List files',
  input: { query: ListFilesQuery, headers: SHAPE_HEADERS },
  success: { status: 200, body: FileListAnswer, isList: true },
  statuses: [400, 403, 429, 500, 502, 503],
  failures: ['query_invalid', ...HOST_FAILURES],
  example: { query: { limit: 20 } },
  async run(call, ports) {
    const host = await hostOf(call, ports)
    if (!host.ok) return host
    const { query, signal } = call
    const place = placeOf(query)
    if (!place.ok) return place
    const page = await host.value.list({
      ...place.value,
      ids: query.ids ?? null,
      order: query.order ?? null,
      purpose: query.purpose ?? null,
      limit: query.limit ?? FILES_PAGE_DEFAULT,
      signal,
    })
    if (!page.ok) return page
    const shape = shapeOf(call.headers)
    const isBack = place.value.before !== null
    const { files, hasMore } = endedEarly(page.value, isBack, shape)
    const edge = (isBack ? files[0] : files.at(-1))?.id
    const next = !hasMore || edge === undefined ? null : isBack ? cursorBefore(edge) : cursorBehind(edge)
    return ok({ kind: 'json', value: fileListAnswer({ files, hasMore, next }, shape) })
  },
})

/** Cuts a page to its size. A page that ends before a file keeps the files next to that file, so excess files are cut from its beginning. */
function endedEarly({ files, hasMore }: HostedPage, isBefore: boolean, shape: FileShape): HostedPage {
  const { rows, isCut } = cutPage(isBefore ? files.toReversed() : files, (file) => fileAnswer(file, shape))
  return { files: isBefore ? rows.toReversed() : rows, hasMore: isCut || hasMore }
}

interface Place {
  readonly after: string | null
  readonly before: string | null
  /** Name of the given parameter. */
  readonly placeName: string
}

const PLACES = ['page', 'cursor', 'after', 'after_id', 'before_id'] as const

/**
 * The place at which a page begins. The parameters exclude each other, except that `page` wins over the ids of
 * the first page: clients of Anthropic's shape add `page` to their query. A list by ids is returned whole, in
 * one page. Failure: query_invalid.
 */
function placeOf(query: ListFilesQuery): Outcome<Place> {
  const given = PLACES.filter((name) => query[name] !== undefined)
  if (query.ids !== undefined && (given.length > 0 || query.limit !== undefined)) {
    return refuse('/ids', 'cannot be combined with a cursor or a limit', `ids without ${given[0] ?? 'limit'}`)
  }
  const [placeName = 'after', ...others] = given
  const isDecided = placeName === 'page' && query.cursor === undefined
  if (others.length > 0 && !isDecided)
    return refuse('', 'has more than one cursor', 'only one of cursor, page, after, after_id and before_id')
  const text = query[placeName] ?? null
  if (placeName === 'before_id') return ok({ after: null, before: text, placeName })
  if (text === null || placeName === 'after' || placeName === 'after_id')
    return ok({ after: text, before: null, placeName })
  const [after, before] = [idOfCursor(text), idOfBackCursor(text)]
  if (after === null && before === null)
    return refuse(`/${placeName}`, 'is not a valid cursor', 'the cursor returned with the previous page')
  return ok({ after, before, placeName })
}

function refuse(path: string, message: string, expected: string): Outcome<never> {
  return fail('query_invalid', { metadata: { issues: [{ path, message, expected }] } })
}
