import { ok } from '../../../schemas/failures.ts'
import { PROBING_DEADLINE_MS } from '../../../schemas/endpoints/endpoint-limits.ts'
import { EndpointParams, EndpointValidationAnswer } from '../../../schemas/endpoints/private-endpoints.ts'
import { actorOf, defineOperation } from '../define.ts'
import { answer, EXAMPLE_PARAMS, refOf } from './endpoint-answers.ts'
import { validate, VALIDATION_FAILURES } from './validation.ts'

/** Sends a real minimal request to the upstream and stores the result. Source: B2.6. */
export const validatePrivateEndpoint = defineOperation({
  id: 'private_endpoints.validate',
  method: 'post',
  path: '/private-endpoints/{id}/validate',
  tag: 'private-endpoints',
  summary: 'Validate a private endpoint',
  description:
    'Sends a minimal request to each API: embeddings, or a stream of 16 tokens. Failed checks are part of a normal ' +
    'answer; checks without a result are left out. A successful validation assigns the endpoint to the workspace and ' +
    'expires after a day.',
  deadlineMs: PROBING_DEADLINE_MS,
  input: { params: EndpointParams, body: 'validate_private_endpoint' },
  success: { status: 200, body: EndpointValidationAnswer },
  statuses: [400, 403, 404, 408, 409, 422, 500, 502],
  failures: VALIDATION_FAILURES,
  example: { params: EXAMPLE_PARAMS, body: { workspace_id: '019a5b0c-4e21-7b1c-92d3-e4f5a6b7c8da' } },
  async run(call, ports) {
    const by = actorOf(call)
    const { workspace_id: workspaceId, forms: wanted = null } = call.body
    const validated = await validate(
      { ref: refOf(call), workspaceId: workspaceId.toLowerCase(), forms: wanted, by, call },
      ports,
    )
    if (!validated.ok) return validated
    const { passed, checks, forms } = validated.value
    return ok(answer({ passed, checks, forms }))
  },
})
