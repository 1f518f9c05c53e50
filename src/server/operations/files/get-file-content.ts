import { ok } from '../../../schemas/failures.ts'
import { DOWNLOAD_DEADLINE_MS } from '../../../schemas/files/file-limits.ts'
import { FileContent, FileParams, FileScopeQuery } from '../../../schemas/files/files.ts'
import { defineOperation } from '../define.ts'
import { HOST_FAILURES, hostOf } from './hosts.ts'

/** Streams a file that may be downloaded: a promoted one, or a provider's file. Source: §2.8, B2.7. */
export const getFileContent = defineOperation({
  id: 'files.content',
  method: 'get',
  path: '/files/{file_id}/content',
  tag: 'files',
  summary: 'Download a file',
  deadlineMs: DOWNLOAD_DEADLINE_MS,
  input: { params: FileParams, query: FileScopeQuery },
  success: { status: 200, body: FileContent, content: 'application/octet-stream' },
  statuses: [400, 403, 404, 429, 500, 502, 503],
  failures: [
    'file_unknown',
    'file_not_downloadable',
    'content_missing',
    'content_damaged',
    'storage_unavailable',
    ...HOST_FAILURES,
  ],
  example: { params: { file_id: 'file_019a5b0c4e21b1c2d3e4f5a6b7c8d9e0' } },
  async run(call, ports) {
    const host = await hostOf(call, ports)
    if (!host.ok) return host
    const opened = await host.value.open(call.params.file_id, call.signal)
    if (!opened.ok) return opened
    const { content, file } = opened.value
    return ok({ kind: 'content', content, contentType: 'application/octet-stream', filename: file.filename })
  },
})
