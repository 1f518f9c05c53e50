import { ok } from '../../../schemas/failures.ts'
import { CONTROL_DEADLINE_MS } from '../../../schemas/limits/limits.ts'
import type { Attributes } from '../../../schemas/scim/scim-attributes.ts'
import { ScimParams, ScimShownQuery, ScimUserAnswer } from '../../../schemas/scim/scim-resources.ts'
import { defineOperation } from '../define.ts'
import { selectionOf } from './projection.ts'
import { actorOf, EXAMPLE_ID, versionsOf } from './scim-calls.ts'
import { userAnswer } from './user-answers.ts'
import { userInputOf } from './user-input.ts'

interface Inputs {
  readonly params: typeof ScimParams
  readonly query: typeof ScimShownQuery
  readonly headers: readonly ['if-match']
  readonly body: 'scim_user'
}

const ID = 'scim.replace_user'

/** Replaces a user. Source: RFC 7644 §3.5.1. */
export const replaceUser = defineOperation<Inputs, Attributes>({
  id: ID,
  area: 'scim',
  method: 'put',
  path: '/Users/{id}',
  tag: 'scim',
  summary: 'Replace a user',
  description: 'Absent attributes are removed, except `active`, which keeps its value.',
  access: { keys: ['scim'] },
  deadlineMs: CONTROL_DEADLINE_MS,
  outlivesClient: true,
  input: { params: ScimParams, query: ScimShownQuery, headers: ['if-match'], body: 'scim_user' },
  success: {
    status: 200,
    body: ScimUserAnswer,
    headers: { etag: 'ETag of the resource.', location: 'URL of the resource.' },
  },
  statuses: [400, 403, 404, 409, 412, 413, 500],
  failures: [
    'user_unknown',
    'scim_value_invalid',
    'scim_user_taken',
    'scim_version_differs',
    'store_unavailable',
  ],
  example: {
    params: { id: EXAMPLE_ID },
    body: { userName: 'ann@example.com', displayName: 'Ann', active: false },
  },
  async run(call, ports) {
    const { body, headers, params } = call
    const replaced = await ports.scimUsers.update(
      params.id,
      (before) => userInputOf(body, before),
      versionsOf(headers['if-match']),
      actorOf(call, ID),
    )
    return replaced.ok ? ok(userAnswer(replaced.value, selectionOf(call.query), ports)) : replaced
  },
})
