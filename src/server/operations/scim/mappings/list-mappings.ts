import { ok } from '../../../../schemas/failures.ts'
import { MappingListAnswer, ScimPageQuery } from '../../../../schemas/scim/group-mappings.ts'
import { defineOperation } from '../../define.ts'
import { mappingAnswer, pageOf, READ_STATUSES } from './mapping-answers.ts'
import { offsetPage } from '../../../../schemas/lists/cut-page.ts'

/** Lists the organization's group mappings, oldest first. Source: B2.5. */
export const listMappings = defineOperation({
  id: 'scim.list_mappings',
  method: 'get',
  path: '/scim/group-mappings',
  tag: 'group-mappings',
  summary: 'List group mappings',
  input: { query: ScimPageQuery },
  success: { status: 200, body: MappingListAnswer, isList: true },
  statuses: READ_STATUSES,
  failures: ['store_unavailable'],
  example: { query: { limit: 20 } },
  async run(call, ports) {
    const page = await ports.groupMappings.list(call.key.organizationId, pageOf(call.query))
    if (!page.ok) return page
    return ok({ kind: 'json', value: offsetPage(page.value, pageOf(call.query), mappingAnswer) })
  },
})
