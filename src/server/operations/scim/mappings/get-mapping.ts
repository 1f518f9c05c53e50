import { ok } from '../../../../schemas/failures.ts'
import { MappingAnswer, ReadMappingParams } from '../../../../schemas/scim/group-mappings.ts'
import { defineOperation } from '../../define.ts'
import { EXAMPLE_MAPPING, mappingAnswer, MAPPING_FAILURES, READ_STATUSES } from './mapping-answers.ts'

/** Reads a group mapping. Source: B2.5. */
export const getMapping = defineOperation({
  id: 'scim.get_mapping',
  method: 'get',
  path: '/scim/group-mappings/{id}',
  tag: 'group-mappings',
  summary: 'Get a group mapping',
  input: { params: ReadMappingParams },
  success: { status: 200, body: MappingAnswer },
  statuses: READ_STATUSES,
  failures: MAPPING_FAILURES,
  example: { params: { id: EXAMPLE_MAPPING } },
  async run(call, ports) {
    const found = await ports.groupMappings.get(call.key.organizationId, call.params.id)
    return found.ok ? ok({ kind: 'json', value: { data: mappingAnswer(found.value) } }) : found
  },
})
