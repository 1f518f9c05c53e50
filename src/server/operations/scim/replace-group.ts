import { ok } from '../../../schemas/failures.ts'
import type { Attributes } from '../../../schemas/scim/scim-attributes.ts'
import { SCIM_GROUP_DEADLINE_MS } from '../../../schemas/scim/scim-resource-limits.ts'
import { ScimGroupAnswer, ScimParams, ScimShownQuery } from '../../../schemas/scim/scim-resources.ts'
import { defineOperation } from '../define.ts'
import { groupInputOf } from './group-patch.ts'
import { groupAnswer, showsMembers } from './group-resource.ts'
import { selectionOf } from './projection.ts'
import { actorOf, EXAMPLE_ID, versionsOf } from './scim-calls.ts'

interface Inputs {
  readonly params: typeof ScimParams
  readonly query: typeof ScimShownQuery
  readonly headers: readonly ['if-match']
  readonly body: 'scim_group'
}

const ID = 'scim.replace_group'

/** Replaces a group with its members. Source: RFC 7644 §3.5.1. */
export const replaceGroup = defineOperation<Inputs, Attributes>({
  id: ID,
  area: 'scim',
  method: 'put',
  path: '/Groups/{id}',
  tag: 'scim',
  summary: 'Replace a group',
  description: 'Members that are not listed are removed from the group.',
  access: { keys: ['scim'] },
  deadlineMs: SCIM_GROUP_DEADLINE_MS,
  outlivesClient: true,
  input: { params: ScimParams, query: ScimShownQuery, headers: ['if-match'], body: 'scim_group' },
  success: {
    status: 200,
    body: ScimGroupAnswer,
    headers: { etag: 'ETag of the resource.', location: 'URL of the resource.' },
  },
  statuses: [400, 403, 404, 409, 412, 413, 500],
  failures: [
    'scim_group_unknown',
    'scim_value_invalid',
    'scim_member_unknown',
    'scim_group_taken',
    'scim_version_differs',
    'store_unavailable',
  ],
  example: {
    params: { id: EXAMPLE_ID },
    body: { displayName: 'Engineering', members: [{ value: EXAMPLE_ID }] },
  },
  async run(call, ports) {
    const { headers, params, key } = call
    const request = groupInputOf(call.body)
    if (!request.ok) return request
    const { userIds, ...set } = request.value
    const steps = [
      { kind: 'set', ...set },
      { kind: 'replace', userIds },
    ] as const
    const replaced = await ports.scimGroups.update(
      params.id,
      steps,
      versionsOf(headers['if-match']),
      actorOf(call, ID),
    )
    if (!replaced.ok) return replaced
    const selection = selectionOf(call.query)
    if (!showsMembers(selection)) return ok(groupAnswer(replaced.value, selection, ports))
    const whole = await ports.scimGroups.get(key.organizationId, params.id, true)
    return whole.ok ? ok(groupAnswer(whole.value, selection, ports)) : whole
  },
})
