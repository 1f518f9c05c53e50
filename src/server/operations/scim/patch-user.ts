import { ok } from '../../../schemas/failures.ts'
import { CONTROL_DEADLINE_MS } from '../../../schemas/limits/limits.ts'
import { PATCH_SCHEMA, type Attributes } from '../../../schemas/scim/scim-attributes.ts'
import { ScimParams, ScimShownQuery, ScimUserAnswer } from '../../../schemas/scim/scim-resources.ts'
import { defineOperation } from '../define.ts'
import { patchStepsOf } from './patch-steps.ts'
import { selectionOf } from './projection.ts'
import { actorOf, EXAMPLE_ID, versionsOf } from './scim-calls.ts'
import { userAnswer } from './user-answers.ts'
import { patchedUser } from './user-patch.ts'

interface Inputs {
  readonly params: typeof ScimParams
  readonly query: typeof ScimShownQuery
  readonly headers: readonly ['if-match']
  readonly body: 'scim_user_patch'
}

const ID = 'scim.patch_user'

/** Changes a user. Source: RFC 7644 §3.5.2. */
export const patchUser = defineOperation<Inputs, Attributes>({
  id: ID,
  area: 'scim',
  method: 'patch',
  path: '/Users/{id}',
  tag: 'scim',
  summary: 'Update a user',
  description:
    'Applies all of the operations or none. Changing `active` removes or restores memberships through groups; manual memberships stay.',
  access: { keys: ['scim'] },
  deadlineMs: CONTROL_DEADLINE_MS,
  outlivesClient: true,
  input: { params: ScimParams, query: ScimShownQuery, headers: ['if-match'], body: 'scim_user_patch' },
  success: {
    status: 200,
    body: ScimUserAnswer,
    headers: { etag: 'ETag of the resource.', location: 'URL of the resource.' },
  },
  statuses: [400, 403, 404, 409, 412, 413, 500],
  failures: [
    'user_unknown',
    'scim_value_invalid',
    'scim_path_invalid',
    'scim_target_missing',
    'scim_immutable',
    'scim_user_taken',
    'scim_version_differs',
    'store_unavailable',
  ],
  example: {
    params: { id: EXAMPLE_ID },
    body: { schemas: [PATCH_SCHEMA], Operations: [{ op: 'replace', path: 'active', value: false }] },
  },
  async run(call, ports) {
    const { body, headers, params } = call
    const steps = await patchStepsOf(body)
    if (!steps.ok) return steps
    const patched = await ports.scimUsers.update(
      params.id,
      (before) => patchedUser(before, steps.value),
      versionsOf(headers['if-match']),
      actorOf(call, ID),
    )
    return patched.ok ? ok(userAnswer(patched.value, selectionOf(call.query), ports)) : patched
  },
})
