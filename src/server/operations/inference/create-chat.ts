import { isModelAllowed } from '../../../schemas/keys/allowed-models.ts'
import { fail, ok, type Outcome } from '../../../schemas/failures.ts'
import { ChatAnswer, ChatChunk } from '../../../schemas/inference/chat.ts'
import type { ChatRequest } from '../../../schemas/inference/chat-input.ts'
import { INFERENCE_DEADLINE_MS } from '../../../schemas/inference/inference-limits.ts'
import { isSessionIdTooLong, sessionIdTooLong } from '../../../schemas/containers/session-ids.ts'
import { chargedNano } from '../../../schemas/money/costs.ts'
import { usdOfNano } from '../../../schemas/money/usd.ts'
import { endedBy } from '../../../schemas/values/call-ended.ts'
import { callerOf } from '../../../schemas/values/callers.ts'
import type { InferenceEnd, InferencePlan } from '../../ports/inference/inference.ts'
import type { CallableModel } from '../../ports/models/models.ts'
import type { Hold } from '../../ports/money/money.ts'
import type { Ports } from '../../ports/ports.ts'
import { nextCallId } from '../call-ids.ts'
import { callableBy, defineOperation, modelsOf, type Call, type Success } from '../define.ts'
import { modelUnfit, modelUnknown } from '../name-hints.ts'
import { CHAT_SILENCE, ChatStream, chatUsage, ChatWhole, type Charged, type ChatHead } from './chat-answer.ts'

type ChatCall = Call<undefined, undefined, ChatRequest>
interface Inputs {
  readonly headers: readonly ['x-session-id']
  readonly body: 'chat'
}

const OPERATION = 'chat.create'
const STATUSES = [400, 402, 403, 404, 408, 413, 422, 429, 500, 502, 503, 524, 529] as const

/**
 * Lets a model write the next message of a conversation, streamed or whole. Source: D1–D4, D7, D13, D15, D16,
 * D19, D21.
 */
export const createChat = defineOperation<Inputs, ChatRequest>({
  id: OPERATION,
  method: 'post',
  path: '/chat/completions',
  tag: 'inference',
  summary: 'Create a chat completion',
  description:
    'With `stream: true` the answer comes as server-sent events, the usage and the cost last. ' +
    'A stream that ends without `[DONE]` is not whole: its last event then tells why, ' +
    'and the connection ends without the last chunk.',
  access: { keys: ['inference', 'intern'], keyScopes: ['inference'] },
  deadlineMs: INFERENCE_DEADLINE_MS,
  // What was delivered is charged, also to a caller who left.
  outlivesClient: true,
  input: { headers: ['x-session-id'], body: 'chat' },
  success: {
    status: 200,
    body: ChatAnswer,
    events: ChatChunk,
    headers: { 'x-generation-id': 'Id of the answer, as in its body.' },
  },
  tellsParam: true,
  statuses: STATUSES,
  failures: [
    'body_invalid',
    'not_supported',
    'header_invalid',
    'model_unknown',
    'model_not_allowed',
    'scope_missing',
    'model_unfit',
    'credit_exhausted',
    'key_limit_exceeded',
    'budget_exceeded',
    'cost_unbounded',
    'deadline_exceeded',
    'busy',
    'store_unavailable',
    'draining',
    'internal',
    'client_gone',
  ],
  example: { body: { model: 'sluice/echo-1', messages: [{ role: 'user', content: 'Hello there' }] } },
  run(call, ports) {
    const sessionId = call.body.sessionId ?? call.headers['x-session-id'] ?? null
    if (sessionId !== null && isSessionIdTooLong(sessionId)) return sessionIdTooLong()
    if (sessionId !== null) call.notes.sessionId = sessionId
    const models = modelsOf(call.key, ports)
    return models instanceof Promise
      ? models.then((known) => chat(call, known, ports))
      : chat(call, models, ports)
  },
})

function chat(
  call: ChatCall,
  known: Awaited<ReturnType<typeof modelsOf>>,
  ports: Ports,
): Outcome<Success> | Promise<Outcome<Success>> {
  if (!known.ok) return known
  const found = known.value.resolve(call.body.model)
  if (found === null) return modelUnknown(call.body.model, ports.models, call.key.allowedModels)
  const callable = callableBy(call.key, found)
  if (!callable.ok) return callable
  const model = callable.value
  if (!isModelAllowed(call.key.allowedModels, model.id)) return fail('model_not_allowed')
  if (!model.isWriter) return modelUnfit(model, 'texts', ports.models)
  call.notes.model = model.id
  const planned = ports.inference.plan({ model, request: call.body, caller: callerOf(call.key), call })
  return planned.ok ? paid(call, { model, plan: planned.value }, ports) : planned
}

interface Planned {
  readonly model: CallableModel
  readonly plan: InferencePlan
}

/** Reserves the most that the call may cost, passes the answer on, and pays what was delivered. D25, D26. */
async function paid(call: ChatCall, { model, plan }: Planned, ports: Ports): Promise<Outcome<Success>> {
  const pending = ports.spend.hold({
    key: call.key,
    bound: plan.bound,
    facts: { requestId: call.requestId, operation: OPERATION, model: model.id },
    signal: () => call.signal,
    deadlineAt: call.deadlineAt,
  })
  const held = pending instanceof Promise ? await pending : pending
  if (!held.ok) return held
  const hold = held.value
  try {
    const written = hold.written()
    if (!(written instanceof Promise ? await written : written)) return fail('store_unavailable')
    const answer = answerOf(call, model)
    const end = call.hasEnded
      ? { ok: false as const, failure: endedBy(call.signal) }
      : await plan.run(answer.sink)
    if (!end.ok) {
      hold.release()
      return end
    }
    return answer.ended(end.value, settle(call, end.value, { plan, hold }))
  } catch (bug) {
    // An error must not keep the money reserved; a settled hold stays settled.
    hold.release()
    throw bug
  }
}

/** Pays, and adds the known figures to the notes. No step of this can fail. */
function settle(
  { notes }: ChatCall,
  end: InferenceEnd,
  { plan, hold }: { readonly plan: InferencePlan; readonly hold: Hold },
): Charged {
  const { usage, provider, isByok, isEstimated, upstreamMs, attempts } = end
  const costNano = 0
  const promptTokens = usage.input + usage.cacheRead + usage.cacheWrite
  hold.settle({
    costNano,
    isByok,
    isEstimated,
    provider,
    tokens: promptTokens,
    milliseconds: Math.round(upstreamMs),
  })
  const nano = chargedNano({ costNano, isByok }, plan.bound)
  notes.provider = provider
  notes.promptTokens = promptTokens
  notes.costUsd = usdOfNano(nano)
  notes.attempts = attempts
  notes.upstreamMs = upstreamMs
  return { nano, isByok }
}

interface Answer {
  readonly sink: ChatStream | ChatWhole
  ended(end: InferenceEnd, charged: Charged): Outcome<Success>
}

function answerOf(call: ChatCall, model: CallableModel): Answer {
  const id = nextCallId('gen_')
  const head: ChatHead = { id, created: Math.floor(Date.now() / 1_000), model: model.id, provider: 'local' }
  const headers = { 'x-generation-id': id }
  return call.body.isStream ? streamed(call, head, headers) : whole(head, headers)
}

type Headers = Readonly<Record<string, string>>

function streamed(call: ChatCall, head: ChatHead, headers: Headers): Answer {
  const sink = new ChatStream(head, () => call.events({ headers, silence: () => CHAT_SILENCE }))
  const isEmpty = call.body.isUsageAlone
  return {
    sink,
    ended({ failure, usage }, charged) {
      if (failure === null) sink.end(chatUsage(usage, charged), isEmpty)
      else sink.breakOff(failure, { statuses: STATUSES, requestId: call.requestId })
      return failure === null ? ok({ kind: 'streamed' }) : { ok: false, failure }
    },
  }
}

function whole(head: ChatHead, headers: Headers): Answer {
  const sink = new ChatWhole()
  return {
    sink,
    ended({ failure, usage }, charged) {
      if (failure !== null) return { ok: false, failure }
      return ok({ kind: 'json', value: sink.answer(head, chatUsage(usage, charged)), headers })
    },
  }
}
