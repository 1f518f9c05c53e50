import { SCIM_GROUP_DEADLINE_MS } from '../../../schemas/scim/scim-resource-limits.ts'
import { ScimGroupList, ScimListQuery } from '../../../schemas/scim/scim-resources.ts'
import { defineOperation } from '../define.ts'
import { groupList, inRoom, showsMembers } from './group-resource.ts'
import { selectionOf } from './projection.ts'
import { queryOf } from './scim-calls.ts'

/** Lists groups. Source: RFC 7644 §3.4.2. */
export const listScimGroups = defineOperation({
  id: 'scim.list_scim_groups',
  area: 'scim',
  method: 'get',
  path: '/Groups',
  tag: 'scim',
  summary: 'List groups with their members',
  description:
    'Add `excludedAttributes=members` for much smaller responses. Without `sortBy` the oldest come first.',
  access: { keys: ['scim'] },
  deadlineMs: SCIM_GROUP_DEADLINE_MS,
  outlivesClient: false,
  input: { query: ScimListQuery },
  success: { status: 200, body: ScimGroupList, isList: true },
  statuses: [400, 403, 500],
  failures: ['scim_filter_invalid', 'scim_value_invalid', 'scim_too_many', 'busy', 'store_unavailable'],
  example: { query: { filter: 'displayName eq "Engineering"', excludedAttributes: 'members' } },
  async run(call, ports) {
    const [query, selection] = [queryOf(call.query), selectionOf(call.query)]
    const page = await ports.scimGroups.list(call.key.organizationId, query, showsMembers(selection))
    if (!page.ok) return page
    return inRoom(groupList(query, page.value, { selection, publicOrigin: ports.publicOrigin }), {
      key: call.key,
      ports,
    })
  },
})
