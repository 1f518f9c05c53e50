import { ok } from '../../../schemas/failures.ts'
import {
  ContainerFileAnswer,
  containerFileAnswer,
  ContainerFileParams,
} from '../../../schemas/files/files.ts'
import { defineOperation } from '../define.ts'
import { CONTAINER_FAILURES, containerPathOf, noteUse } from './container-access.ts'

/** Reads the metadata of a container file. Source: B2.8. */
export const getContainerFile = defineOperation({
  id: 'containers.get_file',
  method: 'get',
  path: '/containers/{container_id}/files/{file_id}',
  tag: 'containers',
  summary: 'Get a container file',
  input: { params: ContainerFileParams },
  success: { status: 200, body: ContainerFileAnswer },
  statuses: [400, 403, 404, 429, 500, 503],
  failures: ['container_file_unknown', ...CONTAINER_FAILURES],
  example: { params: { container_id: 'sess_abc123', file_id: 'cfile_b3V0L3JlcG9ydC5jc3Y' } },
  async run(call, ports) {
    const at = containerPathOf(call)
    if (!at.ok) return at
    const { container, path } = at.value
    const file = await ports.containers.stat(container, path)
    if (!file.ok) return file
    noteUse(ports, container)
    return ok({ kind: 'json', value: containerFileAnswer(container.containerId, file.value) })
  },
})
