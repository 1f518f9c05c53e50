import { ok, type Failure, type Outcome } from '../../../schemas/failures.ts'
import { ChatAnswer, ChatChunk } from '../../../schemas/inference/chat.ts'
import type { ChatRequest, CompleteChat } from '../../../schemas/inference/chat-input.ts'
import { chatPresetOf } from '../../../schemas/inference/chat-preset.ts'
import { INFERENCE_DEADLINE_MS } from '../../../schemas/inference/inference-limits.ts'
import { sessionIdOf } from '../../../schemas/containers/session-ids.ts'
import { callerOf } from '../../../schemas/values/callers.ts'
import type { AnsweredBy, Inference, InferenceEnd, InferencePlan } from '../../ports/inference/inference.ts'
import type { Ports } from '../../ports/ports.ts'
import { isComplete, usedPreset } from '../apply-preset.ts'
import { nextCallId } from '../call-ids.ts'
import { modelsOf, type KnownModels } from '../callable-model.ts'
import { defineOperation, type Call, type Success } from '../define.ts'
import { hopsOf } from '../hops.ts'
import { PAID_CALL_FAILURES, paidCall, settle, type Charge, type Spent } from '../paid-call.ts'
import { keepGeneration, type Delivery } from './keep-generation.ts'
import { CHAT_SILENCE, ChatStream, chatUsage, ChatWhole, type ChatHead } from './chat-answer.ts'
import { callableModels } from './callable-models.ts'

type ChatCall = Call<undefined, undefined, ChatRequest>
interface Inputs {
  readonly headers: readonly ['x-session-id', 'x-sluice-hops']
  readonly body: 'chat'
}

const OPERATION = 'chat.create'
const STATUSES = [400, 402, 403, 404, 408, 413, 422, 429, 500, 502, 503, 524, 529] as const

/**
 * Lets a model write the next message of a conversation, streamed or whole. Source: D1–D4, D7, D10, D11, D13,
 * D15, D16, D19, D21.
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
  input: { headers: ['x-session-id', 'x-sluice-hops'], body: 'chat' },
  success: {
    status: 200,
    body: ChatAnswer,
    events: ChatChunk,
    headers: {
      'x-generation-id': 'Id of the answer, as in its body.',
      'x-sluice-provider': 'Slug of the provider that answered.',
      'x-sluice-attempts': 'Endpoints that were tried, with the last.',
      'x-sluice-dropped':
        'Members of the request that the provider did not get, or that have no effect, with commas between them.',
      'x-sluice-unpriced':
        '`true` when the catalogue has neither a price for the endpoint nor `free`: nothing is charged, whatever its provider asks.',
      'x-sluice-usage':
        'Of an answer that is not streamed: `estimated` when the provider told no credible token counts and ours stand in; ' +
        '`capped` when it told more than the call may cost at most, which is what was charged.',
    },
  },
  tellsParam: true,
  statuses: STATUSES,
  failures: [...PAID_CALL_FAILURES, 'not_supported'],
  example: { body: { model: 'sluice/echo-1', messages: [{ role: 'user', content: 'Hello there' }] } },
  run(call, ports) {
    const session = sessionIdOf(call.body.sessionId, call.headers['x-session-id'])
    if (!session.ok) return session
    if (session.value !== null) call.notes.sessionId = session.value
    const { body } = call
    return isCompleteChat(body) ? chat(call, body, ports) : chatWithPreset(call, ports)
  },
})

type Answered = Outcome<Success> | Promise<Outcome<Success>>

function isCompleteChat(body: ChatRequest): body is CompleteChat {
  return isComplete(body)
}

async function chatWithPreset(call: ChatCall, ports: Ports): Promise<Outcome<Success>> {
  const used = await usedPreset(call, ports)
  if (!used.ok) return used
  const { model, content } = used.value
  const { key, body, signal } = call
  const preset = { fields: chatPresetOf(content), model }
  const merged = await ports.inference.withPreset(body, preset, { caller: callerOf(key), signal })
  return merged.ok ? chat(call, merged.value, ports) : merged
}

function chat(call: ChatCall, body: CompleteChat, ports: Ports): Answered {
  const models = modelsOf(call.key, ports)
  return models instanceof Promise
    ? models.then((known) => chatWith(call, known, { body, ports }))
    : chatWith(call, models, { body, ports })
}

interface ChatParts {
  readonly body: CompleteChat
  readonly ports: Ports
}

function chatWith(call: ChatCall, known: Outcome<KnownModels>, { body, ports }: ChatParts): Answered {
  if (!known.ok) return known
  const found = callableModels({ key: call.key, body }, known.value, ports)
  if (!found.ok) return found
  const [model] = found.value
  call.notes.model = model.id
  const head: ChatHead = {
    id: nextCallId('gen_'),
    createdS: Math.floor(Date.now() / 1_000),
    model: model.id,
  }
  const planned = ports.inference.plan({
    models: found.value,
    request: body,
    head,
    limits: call.key.money,
    caller: callerOf(call.key),
    requestId: call.requestId,
    hops: hopsOf(call),
    deadlineAt: call.deadlineAt,
    call,
  })
  if (!planned.ok) return planned
  const { bound } = planned.value
  const { isStream: isStreamed, size } = body
  const record = { call, id: head.id, model: model.id, isStreamed, media: size.media }
  const unanswered = (failure: Failure, delivery: Delivery): void =>
    keepGeneration({ ...record, end: null, failure, chargedNano: 0, delivery }, ports)
  const { streamHoldMs } = ports.inference
  const answer = isStreamed ? streamed(call, { head, body, streamHoldMs, unanswered }) : whole(head)
  return paidCall(
    call,
    {
      operation: OPERATION,
      model: model.id,
      bound,
      run: () => answer.run(planned.value),
      ended(end, hold) {
        // Only a streamed answer reached its caller in part. D26.
        if (end.failure !== null && !body.isStream) {
          hold.release()
          return { ok: false, failure: end.failure }
        }
        const charge = settle(call, spentOn(end), { bound, hold })
        const { failure } = end
        const { delivery } = answer
        keepGeneration({ ...record, end, failure, chargedNano: charge.nano, delivery }, ports)
        return answer.ended(end, charge)
      },
    },
    ports,
  )
}

function spentOn({ usage, costNano, isByok, isEstimated, isUnpriced, ...end }: InferenceEnd): Spent {
  const promptTokens = usage.input + usage.cacheRead + usage.cacheWrite
  const { provider, model, attempts, upstreamMs } = end
  return { costNano, promptTokens, isByok, isEstimated, isUnpriced, provider, model, attempts, upstreamMs }
}

interface Answer {
  /** Null: not streamed. */
  readonly delivery: Delivery | null
  run(plan: InferencePlan): Promise<Outcome<InferenceEnd>>
  ended(end: InferenceEnd, charge: Charge): Outcome<Success>
}

interface Streaming extends Pick<Inference, 'streamHoldMs'> {
  readonly head: ChatHead
  readonly body: CompleteChat
  /** Called when no provider has begun an answer whose head had left. */
  readonly unanswered: (failure: Failure, delivery: Delivery) => void
}

function streamed(call: ChatCall, { head, body, streamHoldMs, unanswered }: Streaming): Answer {
  const { isUsageAlone } = body
  const { requestId } = call
  const sink = new ChatStream(head, (by) =>
    call.events({ headers: headersOf(head, by), silence: () => CHAT_SILENCE }),
  )
  return {
    delivery: sink.delivery,
    async run(plan) {
      const hold = setTimeout(() => sink.openEarly(), streamHoldMs)
      const outcome = await plan.run(sink).finally(() => clearTimeout(hold))
      // Behind the head only the stream can tell. D15.
      if (!outcome.ok && sink.isOpen) {
        sink.breakOff(outcome.failure, { statuses: STATUSES, requestId })
        unanswered(outcome.failure, sink.delivery)
      }
      return outcome
    },
    ended(end, { nano }) {
      const { failure } = end
      if (failure === null) sink.end(chatUsage(end, nano), isUsageAlone)
      else sink.breakOff(failure, { statuses: STATUSES, requestId })
      return failure === null ? ok({ kind: 'streamed' }) : { ok: false, failure }
    },
  }
}

function whole(head: ChatHead): Answer {
  const sink = new ChatWhole()
  return {
    delivery: null,
    run: (plan) => plan.run(sink),
    ended(end, { nano, isCapped }) {
      const usage = chatUsage(end, nano)
      const headers = { ...headersOf(head, end), ...usageHeader(end, isCapped) }
      const { answer } = end
      if (answer === null) return ok({ kind: 'json', value: sink.answer(head, usage), headers })
      const parts = answer.withUsage(JSON.stringify(usage))
      return ok({ kind: 'bytes', parts, contentType: 'application/json', headers, done: answer.release })
    },
  }
}

type Headers = Readonly<Record<string, string>>

/** @param by null: no endpoint has answered so far */
function headersOf({ id }: ChatHead, by: AnsweredBy | null): Headers {
  if (by === null) return { 'x-generation-id': id }
  return {
    'x-generation-id': id,
    'x-sluice-provider': by.provider,
    'x-sluice-attempts': String(by.attempts),
    ...(by.dropped.length === 0 ? null : { 'x-sluice-dropped': by.dropped.join(',') }),
    ...(by.isUnpriced ? { 'x-sluice-unpriced': 'true' } : null),
  }
}

function usageHeader({ isEstimated }: InferenceEnd, isCapped: boolean): Headers | null {
  if (isEstimated) return { 'x-sluice-usage': 'estimated' }
  return isCapped ? { 'x-sluice-usage': 'capped' } : null
}
