import { ok } from '../../../../schemas/failures.ts'
import { DirectoryGroupListAnswer, ScimPageQuery } from '../../../../schemas/scim/group-mappings.ts'
import { defineOperation } from '../../define.ts'
import { groupAnswer, pageOf, READ_STATUSES } from './mapping-answers.ts'
import { offsetPage } from '../../../../schemas/lists/cut-page.ts'

/** Lists the groups that the identity provider created. Source: B2.5. */
export const listGroups = defineOperation({
  id: 'scim.list_groups',
  method: 'get',
  path: '/scim/groups',
  tag: 'group-mappings',
  summary: 'List groups of the identity provider',
  description: 'Sorted by display name. Only the identity provider can change groups.',
  input: { query: ScimPageQuery },
  success: { status: 200, body: DirectoryGroupListAnswer, isList: true },
  statuses: READ_STATUSES,
  failures: ['store_unavailable'],
  example: { query: { limit: 20 } },
  async run(call, ports) {
    const page = await ports.groupMappings.groups(call.key.organizationId, pageOf(call.query))
    if (!page.ok) return page
    return ok({ kind: 'json', value: offsetPage(page.value, pageOf(call.query), groupAnswer) })
  },
})
