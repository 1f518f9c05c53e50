import { ok } from '../../../schemas/failures.ts'
import { EndpointParams, WholeEndpointAnswer } from '../../../schemas/endpoints/private-endpoints.ts'
import { actorOf, defineOperation } from '../define.ts'
import { answer, ENDPOINT_FAILURES, EXAMPLE_PARAMS, refOf, wholeOf } from './endpoint-answers.ts'
import { countable } from './endpoint-fields.ts'

/** Sets the price of the endpoint's calls; its validation remains valid. Source: B2.6. */
export const setPrivateEndpointPricing = defineOperation({
  id: 'private_endpoints.set_pricing',
  method: 'put',
  path: '/private-endpoints/{id}/pricing',
  tag: 'private-endpoints',
  summary: 'Set the prices of a private endpoint',
  input: { params: EndpointParams, body: 'set_private_endpoint_pricing' },
  success: { status: 200, body: WholeEndpointAnswer },
  statuses: [400, 403, 404, 500],
  failures: ENDPOINT_FAILURES,
  example: { params: EXAMPLE_PARAMS, body: { pricing: { prompt: '0.00000002', completion: '0' } } },
  async run(call, ports) {
    const { pricing } = call.body
    const priced = countable(pricing)
    if (!priced.ok) return priced
    const changed = await ports.privateEndpoints.setPricing(refOf(call), pricing, actorOf(call))
    return changed.ok ? ok(answer(wholeOf(changed.value, ports))) : changed
  },
})
