import { ok } from '../../../schemas/failures.ts'
import { CONTROL_DEADLINE_MS } from '../../../schemas/limits/limits.ts'
import { ScimListQuery, ScimUserList } from '../../../schemas/scim/scim-resources.ts'
import { defineOperation } from '../define.ts'
import { selectionOf } from './projection.ts'
import { queryOf } from './scim-calls.ts'
import { userList } from './user-answers.ts'

/** Lists users. Source: RFC 7644 §3.4.2. */
export const listUsers = defineOperation({
  id: 'scim.list_users',
  area: 'scim',
  method: 'get',
  path: '/Users',
  tag: 'scim',
  summary: 'List users',
  description: 'Includes manually created users. Without `sortBy` the oldest come first.',
  access: { keys: ['scim'] },
  deadlineMs: CONTROL_DEADLINE_MS,
  outlivesClient: false,
  input: { query: ScimListQuery },
  success: { status: 200, body: ScimUserList, isList: true },
  statuses: [400, 403, 500],
  failures: ['scim_filter_invalid', 'scim_value_invalid', 'store_unavailable'],
  example: { query: { filter: 'userName eq "ann@example.com"' } },
  async run(call, ports) {
    const query = queryOf(call.query)
    const page = await ports.scimUsers.list(call.key.organizationId, query)
    return page.ok
      ? ok(
          userList(query, page.value, {
            selection: selectionOf(call.query),
            publicOrigin: ports.publicOrigin,
          }),
        )
      : page
  },
})
