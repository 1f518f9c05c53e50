import { fail } from '../../../../schemas/failures.ts'
import { CONTROL_DEADLINE_MS } from '../../../../schemas/limits/limits.ts'
import { defineOperation } from '../../define.ts'

/** Refuses bulk requests, which are optional. Source: RFC 7644 §3.7. */
export const refuseBulk = defineOperation({
  id: 'scim.refuse_bulk',
  method: 'post',
  path: '/Bulk',
  area: 'scim',
  tag: 'scim',
  summary: 'Bulk requests: not supported',
  access: { keys: ['scim'] },
  deadlineMs: CONTROL_DEADLINE_MS,
  outlivesClient: false,
  input: {},
  success: { status: 501, body: null },
  statuses: [400, 403, 500, 501],
  failures: ['scim_unsupported'],
  example: {},
  run: () => fail('scim_unsupported', { fields: { what: 'bulk requests' } }),
})
