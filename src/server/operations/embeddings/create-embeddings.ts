import { Compile } from 'typebox/compile'
import { callerOf } from '../../../schemas/values/callers.ts'
import { EmbeddingsAnswer } from '../../../schemas/embeddings/embeddings.ts'
import { ok, type Outcome } from '../../../schemas/failures.ts'
import { EMBEDDINGS_DEADLINE_MS } from '../../../schemas/embeddings/embedding-limits.ts'
import { HOPS_MAX } from '../../../schemas/models/provider-limits.ts'
import { ProviderPreferences } from '../../../schemas/models/preferences.ts'
import type { EmbeddingsRequest } from '../../ports/embeddings/embeddings.ts'
import type { Ports } from '../../ports/ports.ts'
import { applyPreset, isComplete, type Complete } from '../apply-preset.ts'
import {
  callableModel,
  modelsOf,
  type KnownModels,
  hopsOf,
  nextCallId,
  PAID_CALL_FAILURES,
} from '../model-calls.ts'
import { defineOperation, type Call, type Success } from '../define.ts'
import { sessionIdOf } from '../../../schemas/inference/conversation.ts'

type EmbeddingsCall = Call<undefined, undefined, EmbeddingsRequest>
interface Inputs {
  readonly headers: readonly ['x-session-id', 'x-sluice-hops']
  readonly body: 'embeddings'
}

const OPERATION = 'embeddings.create'

/**
 * Embeds texts, token lists or media with one model.
 * Source: §4.3, §2.5, §7, B1.3, decisions C14, C21, C23–C25, C30; design §6.
 */
export const createEmbeddings = defineOperation<Inputs, EmbeddingsRequest>({
  id: OPERATION,
  method: 'post',
  path: '/embeddings',
  tag: 'embeddings',
  summary: 'Create embeddings',
  access: { keys: ['inference', 'intern'], keyScopes: ['inference'] },
  deadlineMs: EMBEDDINGS_DEADLINE_MS,
  input: { headers: ['x-session-id', 'x-sluice-hops'], body: 'embeddings' },
  success: {
    status: 200,
    body: EmbeddingsAnswer,
    headers: {
      'x-sluice-dropped': 'Request fields that were dropped, comma-separated.',
      'x-sluice-unpriced':
        '`true` when the catalogue has no price for the endpoint and does not mark it as free; nothing is charged, even if the provider charges.',
      'x-sluice-usage':
        '`estimated`: the provider reported no usable token counts, so Sluice estimated them; ' +
        '`capped`: the reported cost exceeded the maximum, which was charged.',
    },
  },
  statuses: [400, 402, 403, 404, 408, 413, 429, 500, 502, 503, 504, 524, 529],
  failures: [...PAID_CALL_FAILURES, 'input_unsupported'],
  example: { body: { model: 'sluice/lexical-1', input: 'The quick brown fox jumps over the lazy dog.' } },
  run(call, ports) {
    const { body } = call
    return isComplete(body) ? embed(call, body, ports) : embedWithPreset(call, ports)
  },
})

async function embedWithPreset(call: EmbeddingsCall, ports: Ports): Promise<Outcome<Success>> {
  const applied = await applyPreset(call, ports, ({ provider }) =>
    PREFERENCES.Check(provider) ? { provider } : {},
  )
  return applied.ok ? embed(call, applied.value, ports) : applied
}

const PREFERENCES = Compile(ProviderPreferences)

type Answered = Outcome<Success> | Promise<Outcome<Success>>

/** Returns a promise only when the call must wait: a promise costs a turn of the microtask queue, which matters on the hot path. */
function embed(call: EmbeddingsCall, body: Complete<EmbeddingsRequest>, ports: Ports): Answered {
  const session = sessionIdOf(body.session_id, call.headers['x-session-id'])
  if (!session.ok) return session
  const sessionId = session.value
  if (sessionId !== null) call.notes.sessionId = sessionId
  const hops = hopsOf(call)
  // In a cycle of endpoints each call would cause the next, until the gate had no room for other calls.
  const models = hops < HOPS_MAX ? modelsOf(call.key, ports) : ok(ports.models)
  const input: EmbedInput = { body, sessionId, hops, ports }
  return models instanceof Promise
    ? models.then((known) => embedWith(call, known, input))
    : embedWith(call, models, input)
}

interface EmbedInput {
  readonly body: Complete<EmbeddingsRequest>
  readonly sessionId: string | null
  readonly hops: number
  readonly ports: Ports
}

function embedWith(
  call: EmbeddingsCall,
  known: Outcome<KnownModels>,
  { body, sessionId, hops, ports }: EmbedInput,
): Answered {
  if (!known.ok) return known
  const found = callableModel({ name: body.model, makes: 'embeddings', key: call.key }, known.value, ports)
  if (!found.ok) return found
  const model = found.value
  call.notes.model = model.id
  if (body.trace !== undefined) {
    const { requestId, notes } = call
    ports.observer.trace(body.trace, { requestId, operation: OPERATION, model: model.id, sessionId, notes })
  }
  const job = {
    operation: OPERATION,
    id: nextCallId('emb_'),
    model,
    request: body,
    limits: call.key.money,
    caller: callerOf(call.key),
    requestId: call.requestId,
    hops,
    deadlineAt: call.deadlineAt,
    call,
  }
  return ports.embedder.answer(job, ports)
}
