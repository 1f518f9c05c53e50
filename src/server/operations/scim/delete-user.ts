import { ok } from '../../../schemas/failures.ts'
import { CONTROL_DEADLINE_MS } from '../../../schemas/limits/limits.ts'
import { ScimParams } from '../../../schemas/scim/scim-resources.ts'
import { defineOperation } from '../define.ts'
import { actorOf, EXAMPLE_ID, versionsOf } from './scim-calls.ts'

const ID = 'scim.delete_user'

/** Deletes a user. Source: RFC 7644 §3.6. */
export const deleteUser = defineOperation({
  id: ID,
  area: 'scim',
  method: 'delete',
  path: '/Users/{id}',
  tag: 'scim',
  summary: 'Delete a user',
  description:
    'Deletes the user with all memberships, including manual ones. Deactivate users who may return.',
  access: { keys: ['scim'] },
  deadlineMs: CONTROL_DEADLINE_MS,
  outlivesClient: true,
  input: { params: ScimParams, headers: ['if-match'] },
  success: { status: 204, body: null },
  statuses: [403, 404, 412, 500],
  failures: ['user_unknown', 'scim_version_differs', 'store_unavailable'],
  example: { params: { id: EXAMPLE_ID } },
  async run(call, ports) {
    const removed = await ports.scimUsers.remove(
      call.params.id,
      versionsOf(call.headers['if-match']),
      actorOf(call, ID),
    )
    return removed.ok ? ok({ kind: 'nothing' }) : removed
  },
})
