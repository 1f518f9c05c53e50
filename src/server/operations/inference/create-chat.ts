import { ok, type Outcome } from '../../../schemas/failures.ts'
import { ChatAnswer, ChatChunk } from '../../../schemas/inference/chat.ts'
import type { ChatRequest } from '../../../schemas/inference/chat-input.ts'
import { INFERENCE_DEADLINE_MS } from '../../../schemas/inference/inference-limits.ts'
import { isSessionIdTooLong, sessionIdTooLong } from '../../../schemas/containers/session-ids.ts'
import { callerOf } from '../../../schemas/values/callers.ts'
import type { InferenceEnd } from '../../ports/inference/inference.ts'
import type { CallableModel } from '../../ports/models/models.ts'
import type { Ports } from '../../ports/ports.ts'
import { nextCallId } from '../call-ids.ts'
import { callableModel, modelsOf, type KnownModels } from '../callable-model.ts'
import { defineOperation, type Call, type Success } from '../define.ts'
import { paidCall, settle, type Charge, type Spent } from '../paid-call.ts'
import { CHAT_SILENCE, ChatStream, chatUsage, ChatWhole, type ChatHead } from './chat-answer.ts'

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
  known: Outcome<KnownModels>,
  ports: Ports,
): Outcome<Success> | Promise<Outcome<Success>> {
  if (!known.ok) return known
  const found = callableModel({ name: call.body.model, makes: 'texts', key: call.key }, known.value, ports)
  if (!found.ok) return found
  const model = found.value
  call.notes.model = model.id
  const planned = ports.inference.plan({ model, request: call.body, caller: callerOf(call.key), call })
  if (!planned.ok) return planned
  const { bound } = planned.value
  const answer = answerOf(call, model)
  return paidCall(
    call,
    {
      operation: OPERATION,
      model: model.id,
      bound,
      run: () => planned.value.run(answer.sink),
      ended(end, hold) {
        // Only a streamed answer reached its caller in part. D26.
        if (end.failure !== null && !call.body.isStream) {
          hold.release()
          return { ok: false, failure: end.failure }
        }
        return answer.ended(end, settle(call, spentOn(end), { bound, hold }))
      },
    },
    ports,
  )
}

function spentOn({ usage, costNano, isByok, isEstimated, isUnpriced, ...end }: InferenceEnd): Spent {
  const promptTokens = usage.input + usage.cacheRead + usage.cacheWrite
  const { provider, attempts, upstreamMs } = end
  return { costNano, promptTokens, isByok, isEstimated, isUnpriced, provider, attempts, upstreamMs }
}

interface Answer {
  readonly sink: ChatStream | ChatWhole
  ended(end: InferenceEnd, charge: Charge): Outcome<Success>
}

function answerOf(call: ChatCall, model: CallableModel): Answer {
  const id = nextCallId('gen_')
  const head: ChatHead = { id, created: Math.floor(Date.now() / 1_000), model: model.id }
  const headers = { 'x-generation-id': id }
  return call.body.isStream ? streamed(call, head, headers) : whole(head, headers)
}

type Headers = Readonly<Record<string, string>>

function streamed(call: ChatCall, head: ChatHead, headers: Headers): Answer {
  const sink = new ChatStream(head, () => call.events({ headers, silence: () => CHAT_SILENCE }))
  const isEmpty = call.body.isUsageAlone
  return {
    sink,
    ended(end, { nano }) {
      const { failure } = end
      if (failure === null) sink.end(chatUsage(end, nano), isEmpty)
      else sink.breakOff(failure, { statuses: STATUSES, requestId: call.requestId })
      return failure === null ? ok({ kind: 'streamed' }) : { ok: false, failure }
    },
  }
}

function whole(head: ChatHead, headers: Headers): Answer {
  const sink = new ChatWhole()
  return {
    sink,
    ended(end, { nano }) {
      return ok({ kind: 'json', value: sink.answer(head, chatUsage(end, nano)), headers })
    },
  }
}
