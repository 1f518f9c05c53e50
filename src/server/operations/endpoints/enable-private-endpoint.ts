import { ok } from '../../../schemas/failures.ts'
import { EndpointParams, EndpointSummaryAnswer } from '../../../schemas/endpoints/private-endpoints.ts'
import { actorOf, defineOperation } from '../define.ts'
import { answer, ENDPOINT_FAILURES, EXAMPLE_PARAMS, refOf, summaryOf } from './endpoint-answers.ts'

/** Makes a disabled endpoint routable again. Source: B2.6. */
export const enablePrivateEndpoint = defineOperation({
  id: 'private_endpoints.enable',
  method: 'post',
  path: '/private-endpoints/{id}/enable',
  tag: 'private-endpoints',
  summary: 'Enable a private endpoint',
  input: { params: EndpointParams },
  success: { status: 200, body: EndpointSummaryAnswer },
  statuses: [403, 404, 409, 500],
  failures: [...ENDPOINT_FAILURES, 'endpoint_not_disabled', 'workspace_endpoints_full', 'workspace_unknown'],
  example: { params: EXAMPLE_PARAMS },
  async run(call, ports) {
    const changed = await ports.privateEndpoints.enable(refOf(call), actorOf(call))
    return changed.ok ? ok(answer(summaryOf(changed.value, ports))) : changed
  },
})
