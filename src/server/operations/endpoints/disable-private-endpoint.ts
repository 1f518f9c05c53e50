import { ok } from '../../../schemas/failures.ts'
import { EndpointParams, EndpointSummaryAnswer } from '../../../schemas/endpoints/private-endpoints.ts'
import { actorOf, defineOperation } from '../define.ts'
import { answer, ENDPOINT_FAILURES, EXAMPLE_PARAMS, refOf, summaryOf } from './endpoint-answers.ts'

/** Takes an active endpoint out of routing on every front. Source: B2.6. */
export const disablePrivateEndpoint = defineOperation({
  id: 'private_endpoints.disable',
  method: 'post',
  path: '/private-endpoints/{id}/disable',
  tag: 'private-endpoints',
  summary: 'Disable a private endpoint',
  input: { params: EndpointParams },
  success: { status: 200, body: EndpointSummaryAnswer },
  statuses: [403, 404, 409, 500],
  failures: [...ENDPOINT_FAILURES, 'endpoint_not_active'],
  example: { params: EXAMPLE_PARAMS },
  async run(call, ports) {
    const changed = await ports.privateEndpoints.disable(refOf(call), actorOf(call))
    return changed.ok ? ok(answer(summaryOf(changed.value, ports))) : changed
  },
})
