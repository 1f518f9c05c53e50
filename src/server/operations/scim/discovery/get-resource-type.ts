import { fail, ok } from '../../../../schemas/failures.ts'
import { CONTROL_DEADLINE_MS } from '../../../../schemas/limits/limits.ts'
import { DiscoveryParams, ResourceTypeBody } from '../../../../schemas/scim/scim-discovery.ts'
import { SCIM_RESOURCE_TYPES } from '../../../../schemas/scim/scim-schemas.ts'
import { defineOperation } from '../../define.ts'
import { DISCOVERY_STATUSES, resourceTypeAnswer } from './discovery-answers.ts'

/** Reads one kind of resources. Source: RFC 7643 §6, RFC 7644 §4. */
export const getResourceType = defineOperation({
  id: 'scim.get_resource_type',
  method: 'get',
  path: '/ResourceTypes/{id}',
  area: 'scim',
  tag: 'scim',
  summary: 'Get a resource type',
  access: { keys: ['scim'] },
  deadlineMs: CONTROL_DEADLINE_MS,
  outlivesClient: false,
  input: { params: DiscoveryParams },
  success: { status: 200, body: ResourceTypeBody },
  statuses: [...DISCOVERY_STATUSES, 404],
  failures: ['scim_resource_unknown'],
  example: { params: { id: 'User' } },
  run({ params }, { publicOrigin }) {
    const type = SCIM_RESOURCE_TYPES.find(({ id }) => id === params.id)
    return type === undefined
      ? fail('scim_resource_unknown')
      : ok({ kind: 'json', value: resourceTypeAnswer(type, publicOrigin) })
  },
})
