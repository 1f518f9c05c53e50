import { CONTROL_DEADLINE_MS } from '../../../../schemas/limits/limits.ts'
import { DiscoveryQuery, ResourceTypesBody } from '../../../../schemas/scim/scim-discovery.ts'
import { SCIM_RESOURCE_TYPES } from '../../../../schemas/scim/scim-schemas.ts'
import { defineOperation } from '../../define.ts'
import { DISCOVERY_STATUSES, filterRefusal, listAnswer, resourceTypeAnswer } from './discovery-answers.ts'

/** Lists the kinds of resources. Source: RFC 7643 §6, RFC 7644 §4. */
export const listResourceTypes = defineOperation({
  id: 'scim.list_resource_types',
  method: 'get',
  path: '/ResourceTypes',
  area: 'scim',
  tag: 'scim',
  summary: 'List resource types',
  access: { keys: ['scim'] },
  deadlineMs: CONTROL_DEADLINE_MS,
  outlivesClient: false,
  input: { query: DiscoveryQuery },
  success: { status: 200, body: ResourceTypesBody, isList: true },
  statuses: DISCOVERY_STATUSES,
  failures: ['scim_filter_refused'],
  example: {},
  run({ query }, { publicOrigin }) {
    return (
      filterRefusal(query) ??
      listAnswer(SCIM_RESOURCE_TYPES.map((type) => resourceTypeAnswer(type, publicOrigin)))
    )
  },
})
