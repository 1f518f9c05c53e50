import { ok } from '../../../schemas/failures.ts'
import { PROBING_DEADLINE_MS } from '../../../schemas/endpoints/endpoint-limits.ts'
import { EndpointParams, EndpointSummaryAnswer } from '../../../schemas/endpoints/private-endpoints.ts'
import { actorOf, defineOperation } from '../define.ts'
import { activate, ACTIVATION_FAILURES } from './activation.ts'
import { answer, EXAMPLE_PARAMS, refOf, summaryOf } from './endpoint-answers.ts'

/** Makes a validated draft routable in its workspace. Source: §4.10, B1.10, §7, decision C28. */
export const activatePrivateEndpoint = defineOperation({
  id: 'private_endpoints.activate',
  method: 'post',
  path: '/private-endpoints/{id}/activate',
  tag: 'private-endpoints',
  summary: 'Activate a private endpoint',
  deadlineMs: PROBING_DEADLINE_MS,
  input: { params: EndpointParams },
  success: { status: 200, body: EndpointSummaryAnswer },
  statuses: [400, 403, 404, 408, 409, 422, 500, 502],
  failures: ACTIVATION_FAILURES,
  example: { params: EXAMPLE_PARAMS },
  async run(call, ports) {
    const activated = await activate({ ref: refOf(call), by: actorOf(call), call }, ports)
    return activated.ok ? ok(answer(summaryOf(activated.value, ports))) : activated
  },
})
