import { ok, type Failure, type Outcome } from '../../../schemas/failures.ts'
import { REPLAYED } from '../../../schemas/idempotency.ts'
import { PROBING_DEADLINE_MS } from '../../../schemas/endpoints/endpoint-limits.ts'
import {
  EndpointSummaryAnswer,
  type CreateEndpointBody,
} from '../../../schemas/endpoints/private-endpoints.ts'
import { actorOf, defineOperation, type Call, type Success } from '../define.ts'
import type { PrivateEndpoint } from '../../ports/endpoints/private-endpoints.ts'
import type { Ports } from '../../ports/ports.ts'
import { ACTIVATION_FAILURES, activate } from './activation.ts'
import { answer, summaryOf, wholeOf } from './endpoint-answers.ts'
import { fieldsOf, type EndpointFields } from './endpoint-fields.ts'
import { failureOfChecks, validate, VALIDATION_FAILURES, type ExaminedEndpoint } from './validation.ts'

type CreateCall = Call<undefined, undefined, CreateEndpointBody>
/** Creates a draft; with `activate` validates and activates it too. Source: B2.6, decisions C6, C16. */
export const createPrivateEndpoint = defineOperation({
  id: 'private_endpoints.create',
  method: 'post',
  path: '/private-endpoints',
  tag: 'private-endpoints',
  summary: 'Create a private endpoint',
  description:
    'With `activate`, a failed validation keeps the draft: the draft is returned in `data` next to `error`, with the ' +
    'findings. Repeating an `Idempotency-Key` with the same fields returns the first endpoint in its current state; ' +
    '`activate` does not count as a field.',
  deadlineMs: PROBING_DEADLINE_MS,
  idempotent: 'own',
  input: { body: 'create_private_endpoint' },
  success: { status: 201, body: EndpointSummaryAnswer },
  statuses: [400, 403, 404, 408, 409, 422, 500, 502],
  failures: [
    'body_invalid',
    'base_url_invalid',
    'provider_unsupported',
    'endpoints_full',
    'idempotency_key_reused',
    'validation_failed',
    ...VALIDATION_FAILURES,
    ...ACTIVATION_FAILURES,
  ],
  example: {
    body: {
      model_permaslug: 'acme/embed',
      provider_slug: 'openai-compatible',
      upstream_model_id: 'bge-m3',
      base_url: 'https://models.acme.example/v1',
      declared_region: 'europe',
      declared_zdr: true,
      pricing: { prompt: '0.00000002', completion: '0' },
      secret_name: 'acme_key',
    },
  },
  async run(call, ports) {
    const fields = fieldsOf(call.body, ports)
    if (!fields.ok) return fields
    const created = await create(call, fields.value, ports)
    if (!created.ok) return created
    const { endpoint, isReplay } = created.value
    if (isReplay) return ok({ kind: 'json', value: { data: summaryOf(endpoint, ports) }, ...REPLAYED })
    const { activate: request } = call.body
    return request === undefined
      ? ok(answer(summaryOf(endpoint, ports)))
      : bringUp(call, { endpoint, workspaceId: request.workspace_id }, ports)
  },
})

function create(
  call: CreateCall,
  fields: EndpointFields,
  ports: Ports,
): ReturnType<Ports['privateEndpoints']['create']> {
  const { key, idempotency } = call
  // An endpoint without forms keeps the digest that it had before forms existed.
  const compared = { ...fields, forms: fields.forms ?? undefined }
  const repeatable = idempotency === null ? null : { ...idempotency, fields: JSON.stringify(compared) }
  return ports.privateEndpoints.create(
    { organizationId: key.organizationId, ...fields, idempotency: repeatable },
    actorOf(call),
  )
}

interface Draft {
  readonly endpoint: PrivateEndpoint
  readonly workspaceId: string
}

/** Validates and activates the draft. After a failure the draft is kept, and the reply contains the failure. */
async function bringUp(
  call: CreateCall,
  { endpoint, workspaceId }: Draft,
  ports: Ports,
): Promise<Outcome<Success>> {
  const ref = { organizationId: endpoint.organizationId, id: endpoint.id }
  const by = actorOf(call)
  const validated = await validate({ ref, workspaceId, forms: null, by, call }, ports)
  if (!validated.ok) return withDraft(validated.failure, { endpoint, validation: null }, ports)
  const validation = validated.value
  if (!validation.passed) return withDraft(failureOfChecks(validation), { endpoint, validation }, ports)
  const activated = await activate({ ref, by, call }, ports)
  if (!activated.ok) return withDraft(activated.failure, { endpoint, validation }, ports)
  return ok(answer(summaryOf(activated.value, ports)))
}

interface Left {
  readonly endpoint: PrivateEndpoint
  readonly validation: ExaminedEndpoint | null
}

function withDraft(failure: Failure, { endpoint, validation }: Left, ports: Ports): Outcome<never> {
  const rendered =
    validation === null
      ? null
      : { passed: validation.passed, checks: validation.checks, forms: validation.forms }
  return {
    ok: false,
    failure: { ...failure, data: { endpoint: wholeOf(endpoint, ports), validation: rendered } },
  }
}
