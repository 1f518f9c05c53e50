import type { Outcome } from '../../../schemas/failures.ts'
import { sessionIdOf, CONVERSATION_HEADERS } from '../../../schemas/inference/conversation.ts'
import type { TextRequest } from '../../../schemas/inference/text-request.ts'
import { defaultOutputTokens } from '../../../schemas/limits/model-calls.ts'
import { callerOf } from '../../../schemas/values/callers.ts'
import type { TextForm } from '../../ports/inference/inference.ts'
import type { Ports } from '../../ports/ports.ts'
import type { Call, Success } from '../define.ts'
import { hopsOf, modelsOf, nextCallId, type KnownModels } from '../model-calls.ts'
import { callableModels, completeText, type TextWithFiles } from './text-inputs.ts'

/** Statuses of every operation that generates text. D3. */
export const TEXT_STATUSES = [400, 402, 403, 404, 408, 413, 422, 429, 500, 502, 503, 524, 529] as const

/** Request headers that every operation that generates text reads. */
export const TEXT_HEADERS = ['x-session-id', 'x-sluice-hops', ...CONVERSATION_HEADERS] as const

/** Headers of every answer, each only when its value is known before the head is sent. D32. */
export const ANSWER_HEADERS = {
  'x-generation-id': 'Id of the answer, as in its body.',
  'x-sluice-provider': 'Slug of the provider that answered.',
  'x-sluice-attempts': 'Number of endpoints tried, including the last.',
  'x-sluice-dropped':
    'Fields of the request that were not sent to the provider or have no effect, comma-separated; ' +
    'also fields of a preset that was saved in another format, by their names in that format.',
  'x-sluice-unpriced':
    '`true` when the catalogue has no price for the endpoint and does not mark it as free, or has no price for tools that the provider runs. ' +
    'Unpriced parts of a call are not charged, even if the provider charges for them. ' +
    '`tier` when the answer reports a tier, speed or region without a price in the catalogue; the usual price is charged.',
  'x-sluice-usage':
    'Sent only with answers that are not streamed. `estimated`: the provider reported no credible token counts, so Sluice estimated them; ' +
    '`capped`: the reported cost exceeded the maximum, which was charged.',
} as const

/** The parts of `answerText` that differ between the operations of the dialects. */
export interface TextOperation extends TextForm {
  readonly operation: string
  /** Headers of the caller that are passed on to the provider: a flat list of names and values; absent: none. D4. */
  passed?(call: Pick<Call, 'headers'>): Outcome<readonly string[]>
}

type AnswerCall = Call<undefined, undefined, TextRequest>
type Answered = Outcome<Success> | Promise<Outcome<Success>>

/** Dependencies of an answer, besides the call itself. */
interface Answering {
  readonly form: TextOperation
  readonly ports: Ports
}

/**
 * Generates a text, streamed or whole, in the form of a dialect: completes the request with its preset and its
 * files, finds the models, and starts the answer. D1–D4, D10, D11, D15, D21, D33.
 */
export function answerText(call: AnswerCall, form: TextOperation, ports: Ports): Answered {
  const session = sessionIdOf(call.body.sessionId, call.headers['x-session-id'])
  if (!session.ok) return session
  if (session.value !== null) call.notes.sessionId = session.value
  const text = completeText(call, ports)
  const by = { form, ports }
  return text instanceof Promise
    ? text.then((completed) => answerComplete(call, completed, by))
    : answerComplete(call, text, by)
}

/** Creates a promise of its own only when the models of the workspace must be loaded first. */
function answerComplete(call: AnswerCall, text: Outcome<TextWithFiles>, by: Answering): Answered {
  if (!text.ok) return text
  const models = modelsOf(call.key, by.ports)
  return models instanceof Promise
    ? models.then((known) => answerBy(known, call, text.value, by))
    : answerBy(models, call, text.value, by)
}

/** Failures: those of `callableModels`, of `form.passed`, and of `Inference.answer`. */
function answerBy(
  known: Outcome<KnownModels>,
  call: AnswerCall,
  { body, files }: TextWithFiles,
  { form, ports }: Answering,
): Answered {
  if (!known.ok) return known
  const found = callableModels({ key: call.key, body }, known.value, ports)
  if (!found.ok) return found
  const [{ id: model }] = found.value
  call.notes.model = model
  const passed = form.passed?.(call)
  if (passed?.ok === false) return passed
  const job = {
    operation: form.operation,
    startedAt: call.startedAt,
    models: found.value,
    request: body,
    ...(files !== undefined && { files }),
    head: { id: nextCallId('gen_'), createdS: Math.floor(Date.now() / 1_000), model },
    ...(passed !== undefined && { passedHeaders: passed.value }),
    limits: call.key.money,
    defaultTokensMax: body.size.tokensMax === null ? defaultOutputTokens(call.key.callLimits) : null,
    caller: callerOf(call.key),
    session: call.notes.sessionId ?? agentSession(call),
    requestId: call.requestId,
    hops: hopsOf(call),
    deadlineAt: call.deadlineAt,
    call,
  }
  return ports.inference.answer(job, form, ports)
}

/** The name that a coding agent gives to the conversation. */
function agentSession({ headers }: Pick<AnswerCall, 'headers'>): string | null {
  for (const name of CONVERSATION_HEADERS) if (headers[name] !== undefined) return headers[name]
  return null
}
