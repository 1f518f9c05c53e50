import { containerPathIssues } from '../../../schemas/container-paths.ts'
import { fail, ok } from '../../../schemas/failures.ts'
import { ContainerFileAnswer, containerFileAnswer, ContainerWriteParams } from '../../../schemas/files.ts'
import { UPLOAD_DEADLINE_MS } from '../../../schemas/limits.ts'
import { defineOperation } from '../define.ts'
import { CONTAINER_FAILURES, containerOf, noteUse } from './container-access.ts'

/** Writes a container file, in place of the one before; `file_id` is its path here. Source: decision C22. */
export const writeContainerFile = defineOperation({
  id: 'containers.write_file',
  method: 'put',
  path: '/containers/{container_id}/files/{file_id}',
  tag: 'containers',
  summary: 'Write a container file',
  access: { keys: ['inference', 'intern'] },
  deadlineMs: UPLOAD_DEADLINE_MS,
  // A client that leaves ends it, and the call settles when everything is undone.
  outlivesClient: true,
  input: { params: ContainerWriteParams, upload: 'raw', hasRest: true },
  success: { status: 200, body: ContainerFileAnswer },
  statuses: [400, 403, 413, 429, 500, 503],
  failures: ['container_path_invalid', 'storage_full', 'busy', 'deadline_exceeded', ...CONTAINER_FAILURES],
  example: { params: { container_id: 'sess_abc123', file_id: 'out/report.csv' } },
  async run(call, ports) {
    if (call.upload === null) throw new Error('the pipeline gives every upload')
    const path = call.params.file_id
    const issues = containerPathIssues(path)
    if (issues.length > 0) return fail('container_path_invalid', { metadata: { issues } })
    const container = containerOf(call)
    const written = await ports.transfers.writeContainerFile(call.upload, { container, path }, call.signal)
    if (!written.ok) return written
    noteUse(ports, container)
    return ok({ kind: 'json', value: containerFileAnswer(container.containerId, written.value) })
  },
})
