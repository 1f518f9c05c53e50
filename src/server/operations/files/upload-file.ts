import { ok } from '../../../schemas/failures.ts'
import {
  COUNTED_BYTES_MIN,
  FILE_BYTES_MAX,
  STORAGE_QUOTA_BYTES_DEFAULT,
  UPLOAD_DEADLINE_MS,
} from '../../../schemas/files/file-limits.ts'
import {
  FileAnswer,
  fileAnswer,
  FileScopeQuery,
  SHAPE_HEADERS,
  shapeOf,
} from '../../../schemas/files/files.ts'
import { FILENAME_RULES } from '../../../schemas/files/filenames.ts'
import { REPLAYED } from '../../../schemas/idempotency.ts'
import { KIB, MIB } from '../../../schemas/limits/limits.ts'
import { defineOperation } from '../define.ts'
import { HOST_FAILURES, hostOf, workspaceOf } from './hosts.ts'
import { ACCEPTED_CONTENT } from '../../../schemas/files/mime-types.ts'

/** Stores a file; its content decides its type. Source: §4.7, §7, B1.7, decisions C8, C16, C24, C26. */
export const uploadFile = defineOperation({
  id: 'files.upload',
  method: 'post',
  path: '/files',
  tag: 'files',
  summary: 'Upload a file',
  description:
    `The body has one file of up to ${FILE_BYTES_MAX / MIB} MiB, in a part named \`file\`. ` +
    `Sluice detects the type from the content and accepts these types: ${ACCEPTED_CONTENT}. ` +
    `A workspace can store ${STORAGE_QUOTA_BYTES_DEFAULT / 1_024 / MIB} GiB of files; ` +
    `each file counts as at least ${COUNTED_BYTES_MIN / KIB} KiB. Filename: ${FILENAME_RULES}. ` +
    'Uploaded files cannot be downloaded again; promoted container files can.',
  deadlineMs: UPLOAD_DEADLINE_MS,
  idempotent: 'own',
  input: { query: FileScopeQuery, headers: SHAPE_HEADERS, upload: 'form' },
  success: { status: 200, body: FileAnswer },
  statuses: [400, 403, 413, 429, 500, 502, 503],
  failures: [
    'file_empty',
    'content_unsupported',
    'quota_exceeded',
    'upload_lost',
    'storage_full',
    'storage_unavailable',
    ...HOST_FAILURES,
  ],
  example: {},
  async run(call, ports) {
    if (call.upload === null) throw new Error('the pipeline passed no upload')
    const workspace = workspaceOf(call.key, call.query.workspace_id)
    if (!workspace.ok) return workspace
    const host = await hostOf(call, ports)
    if (!host.ok) return host
    const request = { workspaceId: workspace.value, idempotency: call.idempotency, signal: call.signal }
    const stored = await host.value.store(call.upload, request)
    if (!stored.ok) return stored
    const { file, isReplay } = stored.value
    return ok({ kind: 'json', value: fileAnswer(file, shapeOf(call.headers)), ...(isReplay && REPLAYED) })
  },
})
