import { ok } from '../../../../schemas/failures.ts'
import { MappingAnswer, MappingParams } from '../../../../schemas/scim/group-mappings.ts'
import { defineOperation } from '../../define.ts'
import {
  directoryActorOf,
  CHANGE_STATUSES,
  EXAMPLE_MAPPING,
  mappingAnswer,
  MAPPING_FAILURES,
} from './mapping-answers.ts'

/** Changes the role that a mapping grants. Source: §4.5, B1.5. */
export const updateMapping = defineOperation({
  id: 'scim.update_mapping',
  method: 'patch',
  path: '/scim/group-mappings/{id}',
  tag: 'group-mappings',
  summary: 'Update the role of a group mapping',
  description:
    'The change applies at once to all members added by this mapping. A user with several grants gets the highest of the granted roles.',
  input: { params: MappingParams, body: 'update_mapping' },
  success: { status: 200, body: MappingAnswer },
  statuses: CHANGE_STATUSES,
  failures: MAPPING_FAILURES,
  example: { params: { id: EXAMPLE_MAPPING }, body: { role: 'admin' } },
  async run(call, ports) {
    const changed = await ports.groupMappings.setRole(call.params.id, call.body.role, directoryActorOf(call))
    return changed.ok ? ok({ kind: 'json', value: { data: mappingAnswer(changed.value) } }) : changed
  },
})
