import { ok } from '../../../schemas/failures.ts'
import {
  FileDeletedAnswer,
  fileDeletedAnswer,
  FileParams,
  FileScopeQuery,
  SHAPE_HEADERS,
  shapeOf,
} from '../../../schemas/files/files.ts'
import { defineOperation } from '../define.ts'
import { HOST_FAILURES, hostOf } from './hosts.ts'

/** Deletes a file and frees its quota. Source: B2.7. */
export const deleteFile = defineOperation({
  id: 'files.delete',
  method: 'delete',
  path: '/files/{file_id}',
  tag: 'files',
  summary: 'Delete a file',
  input: { params: FileParams, query: FileScopeQuery, headers: SHAPE_HEADERS },
  success: { status: 200, body: FileDeletedAnswer },
  statuses: [403, 404, 429, 500, 502, 503],
  failures: ['file_unknown', ...HOST_FAILURES],
  example: { params: { file_id: 'file_019a5b0c4e21b1c2d3e4f5a6b7c8d9e0' } },
  async run(call, ports) {
    const host = await hostOf(call, ports)
    if (!host.ok) return host
    const { file_id: id } = call.params
    const removed = await host.value.remove(id, call.signal)
    return removed.ok ? ok({ kind: 'json', value: fileDeletedAnswer(id, shapeOf(call.headers)) }) : removed
  },
})
