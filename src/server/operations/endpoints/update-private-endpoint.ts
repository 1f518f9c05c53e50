import { ok, type Outcome } from '../../../schemas/failures.ts'
import {
  EndpointParams,
  WholeEndpointAnswer,
  type UpdateEndpointBody,
} from '../../../schemas/endpoints/private-endpoints.ts'
import type { EndpointChanges } from '../../ports/endpoints/private-endpoints.ts'
import type { Ports } from '../../ports/ports.ts'
import { actorOf, defineOperation } from '../define.ts'
import { answer, ENDPOINT_FAILURES, EXAMPLE_PARAMS, refOf, wholeOf } from './endpoint-answers.ts'
import { baseUrlOf, countable } from './endpoint-fields.ts'

/** Changes a draft, which makes its validation invalid. Source: B2.6. */
export const updatePrivateEndpoint = defineOperation({
  id: 'private_endpoints.update',
  method: 'patch',
  path: '/private-endpoints/{id}',
  tag: 'private-endpoints',
  summary: 'Update a draft',
  description: 'Absent members keep their values. Any change invalidates an earlier validation.',
  input: { params: EndpointParams, body: 'update_private_endpoint' },
  success: { status: 200, body: WholeEndpointAnswer },
  statuses: [400, 403, 404, 408, 409, 422, 500],
  failures: [...ENDPOINT_FAILURES, 'base_url_invalid', 'endpoint_not_draft'],
  example: { params: EXAMPLE_PARAMS, body: { upstream_model_id: 'bge-m3', declared_region: 'us' } },
  async run(call, ports) {
    const changes = changesOf(call.body, ports)
    if (!changes.ok) return changes
    const changed = await ports.privateEndpoints.update(refOf(call), changes.value, actorOf(call))
    return changed.ok ? ok(answer(wholeOf(changed.value, ports))) : changed
  },
})

function changesOf(body: UpdateEndpointBody, ports: Ports): Outcome<EndpointChanges> {
  const {
    upstream_model_id: upstreamModelId,
    base_url: given,
    declared_region: region,
    declared_zdr: zdr,
    pricing,
    secret_name: name,
    forms,
  } = body
  const priced = pricing === undefined ? null : countable(pricing)
  if (priced !== null && !priced.ok) return priced
  const baseUrl = given === undefined ? null : baseUrlOf(given, ports)
  if (baseUrl !== null && !baseUrl.ok) return baseUrl
  return ok({
    upstreamModelId,
    ...(baseUrl !== null && { baseUrl: baseUrl.value }),
    ...(region !== undefined && { declaredRegion: region }),
    ...(zdr !== undefined && { declaredZdr: zdr }),
    ...(pricing !== undefined && { pricing }),
    ...(name !== undefined && { secretName: name }),
    ...(forms !== undefined && { forms }),
  })
}
