import { ok } from '../../../schemas/failures.ts'
import { CONTROL_DEADLINE_MS } from '../../../schemas/limits/limits.ts'
import { ScimUserList, type ScimSearchBody } from '../../../schemas/scim/scim-resources.ts'
import { defineOperation } from '../define.ts'
import { selectionOf } from './projection.ts'
import { queryOf } from './scim-calls.ts'
import { userList } from './user-answers.ts'

interface Inputs {
  readonly body: 'scim_search'
}

/** Lists users by a query in the body. Source: RFC 7644 §3.4.3. */
export const searchUsers = defineOperation<Inputs, ScimSearchBody>({
  id: 'scim.search_users',
  area: 'scim',
  method: 'post',
  path: '/Users/.search',
  tag: 'scim',
  summary: 'Search users',
  description: 'Works like listing users, but keeps the filter out of proxy logs.',
  access: { keys: ['scim'] },
  deadlineMs: CONTROL_DEADLINE_MS,
  outlivesClient: false,
  input: { body: 'scim_search' },
  success: { status: 200, body: ScimUserList },
  statuses: [400, 403, 413, 500],
  failures: ['scim_filter_invalid', 'scim_value_invalid', 'store_unavailable'],
  example: { body: { filter: 'userName eq "ann@example.com"', attributes: ['userName', 'active'] } },
  async run(call, ports) {
    const query = queryOf(call.body)
    const page = await ports.scimUsers.list(call.key.organizationId, query)
    return page.ok
      ? ok(
          userList(query, page.value, {
            selection: selectionOf(call.body),
            publicOrigin: ports.publicOrigin,
          }),
        )
      : page
  },
})
