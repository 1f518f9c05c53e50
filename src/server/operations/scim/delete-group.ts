import { ok } from '../../../schemas/failures.ts'
import { SCIM_GROUP_DEADLINE_MS } from '../../../schemas/scim/scim-resource-limits.ts'
import { ScimParams } from '../../../schemas/scim/scim-resources.ts'
import { defineOperation } from '../define.ts'
import { actorOf, EXAMPLE_ID, versionsOf } from './scim-calls.ts'

const ID = 'scim.delete_group'

/** Deletes a group. Source: RFC 7644 §3.6. */
export const deleteGroup = defineOperation({
  id: ID,
  area: 'scim',
  method: 'delete',
  path: '/Groups/{id}',
  tag: 'scim',
  summary: 'Delete a group',
  description: 'Deletes the group with its mappings and the memberships granted by these mappings.',
  access: { keys: ['scim'] },
  deadlineMs: SCIM_GROUP_DEADLINE_MS,
  outlivesClient: true,
  input: { params: ScimParams, headers: ['if-match'] },
  success: { status: 204, body: null },
  statuses: [403, 404, 412, 500],
  failures: ['scim_group_unknown', 'scim_version_differs', 'store_unavailable'],
  example: { params: { id: EXAMPLE_ID } },
  async run(call, ports) {
    const removed = await ports.scimGroups.remove(
      call.params.id,
      versionsOf(call.headers['if-match']),
      actorOf(call, ID),
    )
    return removed.ok ? ok({ kind: 'nothing' }) : removed
  },
})
