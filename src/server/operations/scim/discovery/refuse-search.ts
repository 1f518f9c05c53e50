import { fail } from '../../../../schemas/failures.ts'
import { CONTROL_DEADLINE_MS } from '../../../../schemas/limits/limits.ts'
import { defineOperation } from '../../define.ts'

/** Refuses searches over all resources. Source: RFC 7644 §3.4.3. */
export const refuseSearch = defineOperation({
  id: 'scim.refuse_search',
  method: 'post',
  path: '/.search',
  area: 'scim',
  tag: 'scim',
  summary: 'Search over all resource types: not supported',
  access: { keys: ['scim'] },
  deadlineMs: CONTROL_DEADLINE_MS,
  outlivesClient: false,
  input: {},
  success: { status: 501, body: null },
  statuses: [400, 403, 500, 501],
  failures: ['scim_unsupported'],
  example: {},
  run: () =>
    fail('scim_unsupported', {
      fields: { what: 'searches across all resource types; use `.search` of a single type' },
    }),
})
