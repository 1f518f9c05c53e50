import { ok } from '../../../schemas/failures.ts'
import { FILE_BYTES_MAX, UPLOAD_DEADLINE_MS } from '../../../schemas/files/file-limits.ts'
import {
  ContainerFileParams,
  FileAnswer,
  fileAnswer,
  SHAPE_HEADERS,
  shapeOf,
} from '../../../schemas/files/files.ts'
import { REPLAYED } from '../../../schemas/idempotency.ts'
import { MIB } from '../../../schemas/limits/limits.ts'
import { defineOperation } from '../define.ts'
import { CONTAINER_FAILURES, containerPathOf, noteUse } from './container-access.ts'

/** Copies a container file into the workspace's files. Source: §4.8, §7, B1.8, decisions C8, C16. */
export const promoteContainerFile = defineOperation({
  id: 'containers.promote',
  method: 'post',
  path: '/containers/{container_id}/files/{file_id}/promote',
  tag: 'containers',
  summary: 'Promote a container file',
  description:
    `Copies a file of any type, up to ${FILE_BYTES_MAX / MIB} MiB, to the workspace's files, with its path as the name. ` +
    'Content types that uploads do not accept become `application/octet-stream`. The copy can be downloaded and outlives its container.',
  access: { keys: ['inference', 'intern'], keyScopes: ['files:write'], refusesRegional: true },
  deadlineMs: UPLOAD_DEADLINE_MS,
  idempotent: 'own',
  input: { params: ContainerFileParams, headers: SHAPE_HEADERS },
  success: { status: 200, body: FileAnswer },
  statuses: [400, 403, 404, 413, 429, 500, 503],
  failures: [
    'container_file_unknown',
    'file_empty',
    'file_too_large',
    'quota_exceeded',
    'upload_lost',
    'content_damaged',
    'data_key_unavailable',
    'storage_full',
    'busy',
    'store_unavailable',
    'deadline_exceeded',
    ...CONTAINER_FAILURES,
  ],
  example: { params: { container_id: 'sess_abc123', file_id: 'cfile_b3V0L3JlcG9ydC5jc3Y' } },
  async run(call, ports) {
    const from = containerPathOf(call)
    if (!from.ok) return from
    const { workspaceId } = from.value.container
    const stored = await ports.transfers.promote(from.value, {
      workspaceId,
      idempotency: call.idempotency,
      signal: call.signal,
    })
    if (!stored.ok) return stored
    noteUse(ports, from.value.container)
    const { file, isReplay } = stored.value
    return ok({ kind: 'json', value: fileAnswer(file, shapeOf(call.headers)), ...(isReplay && REPLAYED) })
  },
})
