import { ok } from '../../../schemas/failures.ts'
import { CONTROL_DEADLINE_MS } from '../../../schemas/limits/limits.ts'
import { ScimParams, ScimShownQuery, ScimUserAnswer } from '../../../schemas/scim/scim-resources.ts'
import { defineOperation } from '../define.ts'
import { selectionOf } from './projection.ts'
import { etagOf, EXAMPLE_ID, isKnown } from './scim-calls.ts'
import { userAnswer } from './user-answers.ts'

/** Reads a user. Source: RFC 7644 §3.4.1, §3.14. */
export const getUser = defineOperation({
  id: 'scim.get_user',
  area: 'scim',
  method: 'get',
  path: '/Users/{id}',
  tag: 'scim',
  summary: 'Get a user',
  access: { keys: ['scim'] },
  deadlineMs: CONTROL_DEADLINE_MS,
  outlivesClient: false,
  input: { params: ScimParams, query: ScimShownQuery, headers: ['if-none-match'] },
  success: {
    status: 200,
    body: ScimUserAnswer,
    isConditional: true,
    headers: { etag: 'ETag of the resource.', location: 'URL of the resource.' },
  },
  statuses: [403, 404, 500],
  failures: ['user_unknown', 'store_unavailable'],
  example: { params: { id: EXAMPLE_ID } },
  async run(call, ports) {
    const user = await ports.scimUsers.get(call.key.organizationId, call.params.id)
    if (!user.ok) return user
    if (isKnown(call.headers['if-none-match'], user.value))
      return ok({ kind: 'unmodified', headers: { etag: etagOf(user.value) } })
    return ok(userAnswer(user.value, selectionOf(call.query), ports))
  },
})
