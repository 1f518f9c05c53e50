import { CONTAINER_PATH_RULES, containerPathIssues } from '../../../schemas/containers/container-paths.ts'
import { fail, ok } from '../../../schemas/failures.ts'
import {
  CONTAINER_KEPT_MS,
  COUNTED_BYTES_MIN,
  FILE_BYTES_MAX,
  STORAGE_QUOTA_BYTES_DEFAULT,
  UPLOAD_DEADLINE_MS,
} from '../../../schemas/files/file-limits.ts'
import {
  ContainerFileAnswer,
  containerFileAnswer,
  ContainerWriteParams,
} from '../../../schemas/files/files.ts'
import { KIB, MIB } from '../../../schemas/limits/limits.ts'
import { defineOperation } from '../define.ts'
import { CONTAINER_FAILURES, containerOf } from './container-access.ts'

const DAY_MS = 86_400_000

/** Writes a container file and replaces the previous one; here `file_id` is its path. Source: decision C22. */
export const writeContainerFile = defineOperation({
  id: 'containers.write_file',
  method: 'put',
  path: '/containers/{container_id}/files/{file_id}',
  tag: 'containers',
  summary: 'Upload a container file',
  description:
    `The body is the file, of any type and up to ${FILE_BYTES_MAX / MIB} MiB; the upload replaces an existing file. ` +
    `Path, with slashes that are not percent-encoded: ${CONTAINER_PATH_RULES}. ` +
    `A container is created by its first file and deleted ${CONTAINER_KEPT_MS / DAY_MS} days after its last use. ` +
    `The file and each folder count as at least ${COUNTED_BYTES_MIN / KIB} KiB against the ` +
    `${STORAGE_QUOTA_BYTES_DEFAULT / 1_024 / MIB} GiB of the workspace, ` +
    'which must have room for both the old and the new file. ' +
    'Partial uploads (`Content-Range`) and conditions (`If-Match`) are refused.',
  deadlineMs: UPLOAD_DEADLINE_MS,
  input: { params: ContainerWriteParams, upload: 'raw', hasRest: true },
  success: { status: 200, body: ContainerFileAnswer },
  statuses: [400, 403, 413, 429, 500, 503],
  failures: [
    'container_path_invalid',
    'quota_exceeded',
    'upload_lost',
    'storage_full',
    'busy',
    'store_unavailable',
    'deadline_exceeded',
    ...CONTAINER_FAILURES,
  ],
  example: { params: { container_id: 'sess_abc123', file_id: 'out/report.csv' } },
  async run(call, ports) {
    if (call.upload === null) throw new Error('the pipeline passed no upload')
    const path = call.params.file_id
    const issues = containerPathIssues(path)
    if (issues.length > 0) return fail('container_path_invalid', { metadata: { issues } })
    const container = containerOf(call)
    const written = await ports.transfers.writeContainerFile(call.upload, { container, path }, call.signal)
    if (!written.ok) return written
    return ok({ kind: 'json', value: containerFileAnswer(container.containerId, written.value) })
  },
})
