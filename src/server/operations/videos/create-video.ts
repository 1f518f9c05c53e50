import { endedBy } from '../../../schemas/values/call-ended.ts'
import { checkCallbackUrl } from '../../../schemas/webhooks/callback-urls.ts'
import { fail, ok, type Outcome } from '../../../schemas/failures.ts'
import { videoCostNano } from '../../../schemas/videos/video-prices.ts'
import { VideoAnswer, videoAnswer, type VideoBody } from '../../../schemas/videos/videos.ts'
import { sessionIdOf } from '../../../schemas/inference/conversation.ts'
import { isModelAllowed } from '../../../schemas/keys/permissions.ts'
import { isCounted, type LimitFlags } from '../../../schemas/money/costs.ts'
import { variablesOf } from '../../../schemas/workspaces/provider-keys.ts'
import { endpointUnconfigured } from '../../../schemas/models/unconfigured.ts'
import type { CallableModel, Endpoint, VideoFacts } from '../../ports/models/models.ts'
import type { Ports } from '../../ports/ports.ts'
import type { PreviousVideo, VideoInput, VideoOnce, VideoRequest } from '../../ports/videos/videos.ts'
import { applyPreset, isComplete, PRESET_USE_FAILURES } from '../apply-preset.ts'
import { modelsOf } from '../model-calls.ts'
import { defineOperation, ownWorkspaceOf, type Call } from '../define.ts'
import { modelNotAllowed, modelUnfit, modelUnknown } from '../name-hints.ts'
import { videoRequestOf } from './video-request.ts'

type VideoCall = Call<undefined, undefined, VideoBody>

const OPERATION = 'video.create'

/**
 * Creates a job that generates a video. Source: §4.1, §2.3, §7, B1.1, decisions C1, C14, C16–C18, C27; design
 * §7.
 */
export const createVideo = defineOperation({
  id: OPERATION,
  method: 'post',
  path: '/videos',
  tag: 'videos',
  summary: 'Submit a video generation job',
  description:
    'Settings that the model does not list are refused. The job runs in the background: poll it, or set a `callback_url`.',
  idempotent: true,
  tellsAccount: true,
  input: { headers: ['x-session-id'], body: 'video' },
  success: {
    status: 202,
    body: VideoAnswer,
    headers: {
      'x-sluice-unpriced':
        '`true` when the catalogue has no price for the endpoint and does not mark it as free; nothing is charged, even if the provider charges.',
    },
  },
  statuses: [400, 402, 404, 429, 500],
  failures: [
    'header_invalid',
    'body_invalid',
    ...PRESET_USE_FAILURES,
    'model_unknown',
    'model_not_allowed',
    'model_unfit',
    'endpoint_unconfigured',
    'video_unsupported',
    'video_unknown',
    'video_unfinished',
    'video_previous_unfit',
    'callback_url_invalid',
    'credit_exhausted',
    'key_limit_exceeded',
    'budget_exceeded',
    'cost_unbounded',
    'video_jobs_full',
    'workspace_unknown',
    'idempotency_mismatch',
    'busy',
    'store_unavailable',
  ],
  example: { body: { model: 'sluice/clip-1', prompt: 'A paper boat on a quiet lake', duration: 2, seed: 7 } },
  async run(call, ports) {
    const { body, key, notes } = call
    const session = sessionIdOf(body.session_id, call.headers['x-session-id'])
    if (!session.ok) return session
    const sessionId = session.value
    if (sessionId !== null) notes.sessionId = sessionId
    const known = await modelsOf(key, ports)
    if (!known.ok) return known
    const named = isComplete(body) ? ok(body) : await applyPreset(call, ports, () => ({}))
    if (!named.ok) return named
    const model = known.value.resolve(named.value.model)
    if (model === null) return modelUnknown(named.value.model, ports.models, key.allowedModels)
    if (!isModelAllowed(key.allowedModels, model.id)) return modelNotAllowed(model)
    if (model.video === null) return modelUnfit(model, 'videos', ports.models)
    notes.model = model.id
    const planned = await planOf(call, { model, facts: model.video }, ports)
    if (!planned.ok) return planned
    const { endpoint } = planned.value
    notes.provider = endpoint.provider.slug
    const checked = await checkCallbackUrl(body.callback_url, {
      path: '/callback_url',
      gate: ports.egress,
      holder: ownWorkspaceOf(key),
    })
    if (!checked.ok) return checked
    if (body.trace !== undefined) {
      ports.observer.trace(body.trace, {
        requestId: call.requestId,
        operation: OPERATION,
        model: model.id,
        sessionId,
        notes,
      })
    }
    // The caller has already received this failure and may retry: a job that has not begun must no longer begin.
    if (performance.now() >= call.deadlineAt) return fail('deadline_exceeded')
    const failure = call.signal.aborted ? endedBy(call.signal) : null
    if (failure?.name === 'draining') return { ok: false, failure }
    const given = inputOf(call, { ...planned.value, model, sessionId }, ports.publicOrigin)
    const accepted = await ports.videos.accept(given)
    if (!accepted.ok) return accepted
    if (given.isUnpriced) notes.isUnpriced = true
    const headers = given.isUnpriced ? { headers: UNPRICED } : {}
    return ok({ kind: 'json', value: videoAnswer(accepted.value, ports.publicOrigin), ...headers })
  },
})

const UNPRICED = { 'x-sluice-unpriced': 'true' } as const

interface Chosen {
  readonly endpoint: Endpoint
  readonly request: VideoRequest
  /** The job that a remix changes: OpenAI's protocol sends only the prompt of a remix. */
  readonly remixed: PreviousVideo | null
}

/** The endpoint and the request of a job. Failures: those of choosing the endpoint, of the request and of the previous job. */
async function planOf(
  call: VideoCall,
  { model, facts }: { readonly model: CallableModel; readonly facts: VideoFacts },
  ports: Ports,
): Promise<Outcome<Chosen>> {
  const previous = await previousOf(call, facts, ports)
  if (!previous.ok) return previous
  const endpoint = chooseEndpoint(model, {
    operatorKeys: ports.operatorKeys,
    limits: call.key.money,
    previous: previous.value,
  })
  if (!endpoint.ok) return endpoint
  const { slug, protocol } = endpoint.value.provider
  const remixed = protocol === 'openai' ? previous.value : null
  const request = videoRequestOf({
    body: call.body,
    facts,
    provider: slug,
    previousUpstreamId: previous.value?.upstreamId ?? null,
    remixedSeconds: remixed?.seconds ?? null,
  })
  return request.ok ? ok({ endpoint: endpoint.value, request: request.value, remixed }) : request
}

/** Failures: video_unsupported, video_unknown, video_unfinished, store_unavailable. */
async function previousOf(
  { body, key }: VideoCall,
  facts: VideoFacts,
  { videos }: Ports,
): Promise<Outcome<PreviousVideo | null>> {
  const { previous_job_id: id } = body
  if (id === undefined) return ok(null)
  if (facts.takesPreviousJob) return videos.previous(ownWorkspaceOf(key), id)
  const issues = [{ path: '/previous_job_id', message: 'is not supported by the model', expected: 'none' }]
  return fail('video_unsupported', { metadata: { issues } })
}

interface Planned extends Chosen {
  readonly model: CallableModel
  readonly sessionId: string | null
}

function inputOf(
  call: VideoCall,
  { model, endpoint, request, remixed, sessionId }: Planned,
  origin: string,
): VideoInput {
  const pricing = endpoint.video?.pricing ?? null
  const { provider, tag, upstreamModel } = endpoint
  return {
    key: call.key,
    workspaceId: ownWorkspaceOf(call.key),
    requestId: call.requestId,
    target: {
      model: model.id,
      provider: provider.slug,
      endpoint: tag,
      upstreamModel,
      ownSecret: ownSecretOf(endpoint),
    },
    request,
    // A remix has the size and the model of the previous clip, even when another model would be cheaper.
    costNano: pricing === null ? 0 : Math.max(videoCostNano(pricing, request), remixed?.costNano ?? 0),
    isUnpriced: pricing === null,
    callbackUrl: call.body.callback_url ?? null,
    sessionId,
    once: onceOf(call, origin),
  }
}

function onceOf({ claim, bodySha256 }: VideoCall, origin: string): VideoOnce | null {
  if (claim === null || bodySha256 === null) return null
  return { claim, bodySha256, answer: (view) => JSON.stringify(videoAnswer(view, origin)) }
}

interface Choice {
  readonly operatorKeys: Ports['operatorKeys']
  /** Limits of the key: an unpriced endpoint whose calls count against a limit is skipped when there is another endpoint. C40. */
  readonly limits: LimitFlags
  readonly previous: PreviousVideo | null
}

/**
 * The first endpoint of the model that can be called here: its provider needs no key, or the workspace or the
 * operator has a key for it. A job that continues another job uses the same endpoint and credential. Failures:
 * endpoint_unconfigured, also when the catalogue lists the model without an endpoint; video_previous_unfit.
 */
function chooseEndpoint(model: CallableModel, { operatorKeys, limits, previous }: Choice): Outcome<Endpoint> {
  const able = model.endpoints.filter(({ video, provider }) => video !== null && provider.video !== null)
  const ready = able.filter(
    ({ provider, ownWay }) =>
      ownWay !== undefined || variablesOf(provider).every((name) => operatorKeys.has(name)),
  )
  const [first] = ready
  if (first === undefined) return endpointUnconfigured(model)
  // The store refuses unpriced endpoints, unless a limit was removed meanwhile.
  if (previous === null)
    return ok(
      ready.find((endpoint) => !endpoint.isUnpriced || !isCounted(limits, endpoint.ownWay !== undefined)) ??
        first,
    )
  const same = ready.find(
    (endpoint) =>
      endpoint.provider.slug === previous.provider && ownSecretOf(endpoint) === previous.ownSecret,
  )
  return same === undefined ? fail('video_previous_unfit') : ok(same)
}

/** Name of the workspace's secret for calls of the endpoint; null: the operator's credential, or none. */
function ownSecretOf({ ownWay }: Endpoint): string | null {
  return ownWay?.secretName ?? null
}
