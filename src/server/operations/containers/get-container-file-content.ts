import { ok } from '../../../schemas/failures.ts'
import { DOWNLOAD_DEADLINE_MS } from '../../../schemas/files/file-limits.ts'
import { ContainerFileParams, FileContent } from '../../../schemas/files/files.ts'
import { defineOperation } from '../define.ts'
import { CONTAINER_FAILURES, containerPathOf, noteUse } from './container-access.ts'

/** Streams the current content of a container file. Source: §4.9, B1.9. */
export const getContainerFileContent = defineOperation({
  id: 'containers.file_content',
  method: 'get',
  path: '/containers/{container_id}/files/{file_id}/content',
  tag: 'containers',
  summary: 'Download a container file',
  deadlineMs: DOWNLOAD_DEADLINE_MS,
  input: { params: ContainerFileParams },
  success: { status: 200, body: FileContent, content: 'application/octet-stream' },
  statuses: [400, 403, 404, 429, 500, 503],
  failures: ['container_file_unknown', 'content_damaged', ...CONTAINER_FAILURES],
  example: { params: { container_id: 'sess_abc123', file_id: 'cfile_b3V0L3JlcG9ydC5jc3Y' } },
  async run(call, ports) {
    const at = containerPathOf(call)
    if (!at.ok) return at
    const opened = await ports.transfers.openContainerFile(at.value, call.signal)
    if (!opened.ok) return opened
    noteUse(ports, at.value.container)
    const { content, file } = opened.value
    return ok({ kind: 'content', content, contentType: 'application/octet-stream', filename: file.path })
  },
})
