import { ok } from '../../../schemas/failures.ts'
import { CONTROL_DEADLINE_MS } from '../../../schemas/limits/limits.ts'
import type { Attributes } from '../../../schemas/scim/scim-attributes.ts'
import { ScimShownQuery, ScimUserAnswer } from '../../../schemas/scim/scim-resources.ts'
import { defineOperation } from '../define.ts'
import { selectionOf } from './projection.ts'
import { actorOf } from './scim-calls.ts'
import { userAnswer } from './user-answers.ts'
import { userInputOf } from './user-input.ts'

interface Inputs {
  readonly query: typeof ScimShownQuery
  readonly body: 'scim_user'
}

const ID = 'scim.create_user'

/** Creates a user. Source: RFC 7644 §3.3. */
export const createUser = defineOperation<Inputs, Attributes>({
  id: ID,
  area: 'scim',
  method: 'post',
  path: '/Users',
  tag: 'scim',
  summary: 'Create a user',
  description: 'An inactive user has no memberships through groups. Passwords are discarded.',
  access: { keys: ['scim'] },
  deadlineMs: CONTROL_DEADLINE_MS,
  outlivesClient: true,
  input: { query: ScimShownQuery, body: 'scim_user' },
  success: {
    status: 201,
    body: ScimUserAnswer,
    headers: { etag: 'ETag of the resource.', location: 'URL of the resource.' },
  },
  statuses: [400, 403, 409, 413, 500],
  failures: ['scim_value_invalid', 'scim_user_taken', 'store_unavailable'],
  example: {
    body: {
      userName: 'ann@example.com',
      displayName: 'Ann',
      active: true,
      emails: [{ value: 'ann@example.com', primary: true }],
    },
  },
  async run(call, ports) {
    const request = userInputOf(call.body, null)
    if (!request.ok) return request
    const made = await ports.scimUsers.create(request.value, actorOf(call, ID))
    return made.ok ? ok(userAnswer(made.value, selectionOf(call.query), ports)) : made
  },
})
