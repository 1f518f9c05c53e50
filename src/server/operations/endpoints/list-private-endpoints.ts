import { ok } from '../../../schemas/failures.ts'
import { EndpointListAnswer } from '../../../schemas/endpoints/private-endpoints.ts'
import { defineOperation } from '../define.ts'
import { answer, summaryOf } from './endpoint-answers.ts'

/** Lists the organization's private endpoints, including drafts, oldest first. Source: B2.6. */
export const listPrivateEndpoints = defineOperation({
  id: 'private_endpoints.list',
  method: 'get',
  path: '/private-endpoints',
  tag: 'private-endpoints',
  summary: 'List private endpoints',
  input: {},
  success: { status: 200, body: EndpointListAnswer, isList: true },
  statuses: [403, 408, 500],
  failures: ['store_unavailable'],
  example: {},
  async run(call, ports) {
    const found = await ports.privateEndpoints.list(call.key.organizationId)
    return found.ok ? ok(answer(found.value.map((endpoint) => summaryOf(endpoint, ports)))) : found
  },
})
