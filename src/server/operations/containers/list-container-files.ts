import { pathOfContainerFileId } from '../../../schemas/containers/container-paths.ts'
import { fail, ok } from '../../../schemas/failures.ts'
import { FILES_PAGE_DEFAULT } from '../../../schemas/files/file-limits.ts'
import {
  ContainerFileListAnswer,
  containerFileAnswer,
  ContainerParams,
  ListContainerFilesQuery,
} from '../../../schemas/files/files.ts'
import { defineOperation } from '../define.ts'
import { CONTAINER_FAILURES, containerOf, noteUse } from './container-access.ts'
import { cutPage } from '../../../schemas/lists/cut-page.ts'

/** Lists a container's files in the order of their paths; an unknown container counts as empty. Source: B2.8. */
export const listContainerFiles = defineOperation({
  id: 'containers.list_files',
  method: 'get',
  path: '/containers/{container_id}/files',
  tag: 'containers',
  summary: 'List the files of a container',
  input: { params: ContainerParams, query: ListContainerFilesQuery },
  success: { status: 200, body: ContainerFileListAnswer, isList: true },
  statuses: [400, 403, 429, 500, 503],
  failures: ['query_invalid', 'container_too_large', 'busy', 'deadline_exceeded', ...CONTAINER_FAILURES],
  example: { params: { container_id: 'sess_abc123' }, query: { limit: 20 } },
  async run(call, ports) {
    const { after, limit } = call.query
    const afterPath = after === undefined ? null : pathOfContainerFileId(after)
    if (after !== undefined && afterPath === null) {
      const issue = {
        path: '/after',
        message: 'is not a container file id',
        expected: 'the `last_id` of a page',
      }
      return fail('query_invalid', { metadata: { issues: [issue] } })
    }
    const container = containerOf(call)
    const page = await ports.containers.list(container, afterPath, limit ?? FILES_PAGE_DEFAULT, call.signal)
    if (!page.ok) return page
    const { data, isCut } = cutPage(page.value.files, (file) =>
      containerFileAnswer(container.containerId, file),
    )
    if (data.length > 0) noteUse(ports, container)
    const ends = {
      first_id: data[0]?.id ?? null,
      last_id: data.at(-1)?.id ?? null,
      has_more: isCut || page.value.hasMore,
    }
    return ok({ kind: 'json', value: { object: 'list', data, ...ends } })
  },
})
