import { ok } from '../../../schemas/failures.ts'
import type { Attributes } from '../../../schemas/scim/scim-attributes.ts'
import { SCIM_GROUP_DEADLINE_MS } from '../../../schemas/scim/scim-resource-limits.ts'
import { ScimGroupAnswer, ScimShownQuery } from '../../../schemas/scim/scim-resources.ts'
import { defineOperation } from '../define.ts'
import { groupInputOf } from './group-patch.ts'
import { groupAnswer, showsMembers } from './group-resource.ts'
import { selectionOf } from './projection.ts'
import { actorOf } from './scim-calls.ts'

interface Inputs {
  readonly query: typeof ScimShownQuery
  readonly body: 'scim_group'
}

const ID = 'scim.create_group'

/** Creates a group. Source: RFC 7644 §3.3. */
export const createGroup = defineOperation<Inputs, Attributes>({
  id: ID,
  area: 'scim',
  method: 'post',
  path: '/Groups',
  tag: 'scim',
  summary: 'Create a group',
  description: 'The group grants nothing until a mapping names a workspace for its members.',
  access: { keys: ['scim'] },
  deadlineMs: SCIM_GROUP_DEADLINE_MS,
  outlivesClient: true,
  input: { query: ScimShownQuery, body: 'scim_group' },
  success: {
    status: 201,
    body: ScimGroupAnswer,
    headers: { etag: 'ETag of the resource.', location: 'URL of the resource.' },
  },
  statuses: [400, 403, 409, 413, 500],
  failures: [
    'scim_value_invalid',
    'scim_member_unknown',
    'scim_group_taken',
    'scim_group_unknown',
    'store_unavailable',
  ],
  example: { body: { displayName: 'Engineering', members: [] } },
  async run(call, ports) {
    const request = groupInputOf(call.body)
    if (!request.ok) return request
    const made = await ports.scimGroups.create(request.value, actorOf(call, ID))
    if (!made.ok) return made
    const selection = selectionOf(call.query)
    if (!showsMembers(selection) || request.value.userIds.length === 0)
      return ok(groupAnswer(made.value, selection, ports))
    const whole = await ports.scimGroups.get(call.key.organizationId, made.value.id, true)
    return whole.ok ? ok(groupAnswer(whole.value, selection, ports)) : whole
  },
})
