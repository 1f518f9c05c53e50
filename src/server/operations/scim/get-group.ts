import { ok } from '../../../schemas/failures.ts'
import { SCIM_GROUP_DEADLINE_MS } from '../../../schemas/scim/scim-resource-limits.ts'
import { ScimGroupAnswer, ScimParams, ScimShownQuery } from '../../../schemas/scim/scim-resources.ts'
import { defineOperation } from '../define.ts'
import { groupAnswer, inRoom, showsMembers } from './group-resource.ts'
import { selectionOf } from './projection.ts'
import { etagOf, EXAMPLE_ID, isKnown } from './scim-calls.ts'

/** Reads a group. Source: RFC 7644 §3.4.1, §3.14. */
export const getGroup = defineOperation({
  id: 'scim.get_group',
  area: 'scim',
  method: 'get',
  path: '/Groups/{id}',
  tag: 'scim',
  summary: 'Get a group',
  access: { keys: ['scim'] },
  deadlineMs: SCIM_GROUP_DEADLINE_MS,
  outlivesClient: false,
  input: { params: ScimParams, query: ScimShownQuery, headers: ['if-none-match'] },
  success: {
    status: 200,
    body: ScimGroupAnswer,
    isConditional: true,
    headers: { etag: 'ETag of the resource.', location: 'URL of the resource.' },
  },
  statuses: [403, 404, 500],
  failures: ['scim_group_unknown', 'busy', 'store_unavailable'],
  example: { params: { id: EXAMPLE_ID } },
  async run(call, ports) {
    const selection = selectionOf(call.query)
    const group = await ports.scimGroups.get(call.key.organizationId, call.params.id, showsMembers(selection))
    if (!group.ok) return group
    if (isKnown(call.headers['if-none-match'], group.value))
      return ok({ kind: 'unmodified', headers: { etag: etagOf(group.value) } })
    return inRoom(groupAnswer(group.value, selection, ports), { key: call.key, ports })
  },
})
