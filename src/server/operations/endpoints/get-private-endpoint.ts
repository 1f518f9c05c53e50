import { ok } from '../../../schemas/failures.ts'
import { EndpointParams, WholeEndpointAnswer } from '../../../schemas/endpoints/private-endpoints.ts'
import { defineOperation } from '../define.ts'
import { answer, ENDPOINT_FAILURES, EXAMPLE_PARAMS, refOf, wholeOf } from './endpoint-answers.ts'

/** Reads a private endpoint with its upstream. Source: B2.6. */
export const getPrivateEndpoint = defineOperation({
  id: 'private_endpoints.get',
  method: 'get',
  path: '/private-endpoints/{id}',
  tag: 'private-endpoints',
  summary: 'Get a private endpoint',
  input: { params: EndpointParams },
  success: { status: 200, body: WholeEndpointAnswer },
  statuses: [403, 404, 408, 500],
  failures: ENDPOINT_FAILURES,
  example: { params: EXAMPLE_PARAMS },
  async run(call, ports) {
    const found = await ports.privateEndpoints.get(refOf(call))
    return found.ok ? ok(answer(wholeOf(found.value, ports))) : found
  },
})
