import { fail } from '../../../../schemas/failures.ts'
import { CONTROL_DEADLINE_MS } from '../../../../schemas/limits/limits.ts'
import { defineOperation } from '../../define.ts'

/** Refuses `/Me`: a token stands for no user. Source: RFC 7644 §3.11. */
export const refuseMe = defineOperation({
  id: 'scim.refuse_me',
  method: 'any',
  path: '/Me',
  area: 'scim',
  tag: 'scim',
  summary: '`/Me`: not supported',
  access: { keys: ['scim'] },
  deadlineMs: CONTROL_DEADLINE_MS,
  outlivesClient: false,
  input: {},
  success: { status: 501, body: null },
  statuses: [400, 403, 500, 501],
  failures: ['scim_unsupported'],
  example: {},
  run: () =>
    fail('scim_unsupported', { fields: { what: '`/Me`, because a token does not belong to a user' } }),
})
