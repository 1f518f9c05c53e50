import { ok } from '../../../schemas/failures.ts'
import {
  FileAnswer,
  fileAnswer,
  FileParams,
  FileScopeQuery,
  SHAPE_HEADERS,
  shapeOf,
} from '../../../schemas/files/files.ts'
import { defineOperation } from '../define.ts'
import { HOST_FAILURES, hostOf } from './hosts.ts'

/** Reads the metadata of a file. Source: §2.8, B2.7. */
export const getFile = defineOperation({
  id: 'files.get',
  method: 'get',
  path: '/files/{file_id}',
  tag: 'files',
  summary: 'Get a file',
  input: { params: FileParams, query: FileScopeQuery, headers: SHAPE_HEADERS },
  success: { status: 200, body: FileAnswer },
  statuses: [403, 404, 429, 500, 502, 503],
  failures: ['file_unknown', ...HOST_FAILURES],
  example: { params: { file_id: 'file_019a5b0c4e21b1c2d3e4f5a6b7c8d9e0' } },
  async run(call, ports) {
    const host = await hostOf(call, ports)
    if (!host.ok) return host
    const file = await host.value.get(call.params.file_id, call.signal)
    return file.ok ? ok({ kind: 'json', value: fileAnswer(file.value, shapeOf(call.headers)) }) : file
  },
})
