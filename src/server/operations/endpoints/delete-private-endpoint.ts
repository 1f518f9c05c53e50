import { ok } from '../../../schemas/failures.ts'
import {
  DeleteEndpointQuery,
  EndpointDeletedAnswer,
  EndpointParams,
} from '../../../schemas/endpoints/private-endpoints.ts'
import { actorOf, defineOperation } from '../define.ts'
import { answer, ENDPOINT_FAILURES, EXAMPLE_PARAMS, refOf } from './endpoint-answers.ts'

/** Deletes a private endpoint; an active one serves no further calls. Source: B2.6. */
export const deletePrivateEndpoint = defineOperation({
  id: 'private_endpoints.delete',
  method: 'delete',
  path: '/private-endpoints/{id}',
  tag: 'private-endpoints',
  summary: 'Delete a private endpoint',
  input: { params: EndpointParams, query: DeleteEndpointQuery },
  success: { status: 200, body: EndpointDeletedAnswer },
  statuses: [400, 403, 404, 408, 409, 422, 500, 502],
  failures: [...ENDPOINT_FAILURES, 'endpoint_was_active'],
  example: { params: EXAMPLE_PARAMS, query: { draft_only: true } },
  async run(call, ports) {
    const ref = refOf(call)
    const isDraftOnly = call.query.draft_only === true
    const removed = await ports.privateEndpoints.remove(ref, isDraftOnly, actorOf(call))
    return removed.ok ? ok(answer({ id: ref.id.toLowerCase() })) : removed
  },
})
