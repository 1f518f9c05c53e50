import { SCIM_GROUP_DEADLINE_MS } from '../../../schemas/scim/scim-resource-limits.ts'
import { ScimGroupList, type ScimSearchBody } from '../../../schemas/scim/scim-resources.ts'
import { defineOperation } from '../define.ts'
import { groupList, inRoom, showsMembers } from './group-resource.ts'
import { selectionOf } from './projection.ts'
import { queryOf } from './scim-calls.ts'

interface Inputs {
  readonly body: 'scim_search'
}

/** Lists groups by a query in the body. Source: RFC 7644 §3.4.3. */
export const searchGroups = defineOperation<Inputs, ScimSearchBody>({
  id: 'scim.search_groups',
  area: 'scim',
  method: 'post',
  path: '/Groups/.search',
  tag: 'scim',
  summary: 'Search groups',
  access: { keys: ['scim'] },
  deadlineMs: SCIM_GROUP_DEADLINE_MS,
  outlivesClient: false,
  input: { body: 'scim_search' },
  success: { status: 200, body: ScimGroupList },
  statuses: [400, 403, 413, 500],
  failures: ['scim_filter_invalid', 'scim_value_invalid', 'scim_too_many', 'busy', 'store_unavailable'],
  example: { body: { filter: 'displayName eq "Engineering"', excludedAttributes: ['members'] } },
  async run(call, ports) {
    const [query, selection] = [queryOf(call.body), selectionOf(call.body)]
    const page = await ports.scimGroups.list(call.key.organizationId, query, showsMembers(selection))
    if (!page.ok) return page
    return inRoom(groupList(query, page.value, { selection, publicOrigin: ports.publicOrigin }), {
      key: call.key,
      ports,
    })
  },
})
