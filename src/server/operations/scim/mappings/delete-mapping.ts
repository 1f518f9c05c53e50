import { ok } from '../../../../schemas/failures.ts'
import {
  DeletedMappingAnswer,
  DeleteMappingQuery,
  MappingParams,
} from '../../../../schemas/scim/group-mappings.ts'
import { defineOperation } from '../../define.ts'
import { directoryActorOf, CHANGE_STATUSES, EXAMPLE_MAPPING, MAPPING_FAILURES } from './mapping-answers.ts'

/** Ends a mapping, and optionally its grants. Source: §4.6, B1.6. */
export const deleteMapping = defineOperation({
  id: 'scim.delete_mapping',
  method: 'delete',
  path: '/scim/group-mappings/{id}',
  tag: 'group-mappings',
  summary: 'Delete a group mapping',
  description: '`keep_members` is required: it decides whether members added by this mapping stay.',
  input: { params: MappingParams, query: DeleteMappingQuery },
  success: { status: 200, body: DeletedMappingAnswer },
  statuses: CHANGE_STATUSES,
  failures: MAPPING_FAILURES,
  example: { params: { id: EXAMPLE_MAPPING }, query: { keep_members: true } },
  async run(call, ports) {
    const removed = await ports.groupMappings.remove(
      call.params.id,
      call.query.keep_members,
      directoryActorOf(call),
    )
    return removed.ok ? ok({ kind: 'json', value: { deleted: true } }) : removed
  },
})
