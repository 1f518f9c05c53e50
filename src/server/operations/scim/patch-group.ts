import { ok } from '../../../schemas/failures.ts'
import { PATCH_SCHEMA, type Attributes } from '../../../schemas/scim/scim-attributes.ts'
import { SCIM_GROUP_DEADLINE_MS } from '../../../schemas/scim/scim-resource-limits.ts'
import { ScimParams } from '../../../schemas/scim/scim-resources.ts'
import { defineOperation } from '../define.ts'
import { groupStepsOf } from './group-patch.ts'
import { patchStepsOf } from './patch-steps.ts'
import { actorOf, etagOf, EXAMPLE_ID, versionsOf } from './scim-calls.ts'

interface Inputs {
  readonly params: typeof ScimParams
  readonly headers: readonly ['if-match']
  readonly body: 'scim_group_patch'
}

const ID = 'scim.patch_group'

/** Changes a group. Source: RFC 7644 §3.5.2. */
export const patchGroup = defineOperation<Inputs, Attributes>({
  id: ID,
  area: 'scim',
  method: 'patch',
  path: '/Groups/{id}',
  tag: 'scim',
  summary: 'Update a group',
  description:
    'Applies all of the operations or none. `add` keeps existing members; `remove` accepts a filter, or members as its value.',
  access: { keys: ['scim'] },
  deadlineMs: SCIM_GROUP_DEADLINE_MS,
  outlivesClient: true,
  input: { params: ScimParams, headers: ['if-match'], body: 'scim_group_patch' },
  success: { status: 204, body: null, headers: { etag: 'ETag of the resource.' } },
  statuses: [400, 403, 404, 409, 412, 413, 500],
  failures: [
    'scim_group_unknown',
    'scim_value_invalid',
    'scim_path_invalid',
    'scim_target_missing',
    'scim_immutable',
    'scim_member_unknown',
    'scim_group_taken',
    'scim_version_differs',
    'store_unavailable',
  ],
  example: {
    params: { id: EXAMPLE_ID },
    body: {
      schemas: [PATCH_SCHEMA],
      Operations: [{ op: 'add', path: 'members', value: [{ value: EXAMPLE_ID }] }],
    },
  },
  async run(call, ports) {
    const { headers, params } = call
    const steps = await patchStepsOf(call.body)
    if (!steps.ok) return steps
    const wanted = groupStepsOf(params.id, steps.value)
    if (!wanted.ok) return wanted
    const changed = await ports.scimGroups.update(
      params.id,
      wanted.value,
      versionsOf(headers['if-match']),
      actorOf(call, ID),
    )
    return changed.ok ? ok({ kind: 'nothing', headers: { etag: etagOf(changed.value) } }) : changed
  },
})
