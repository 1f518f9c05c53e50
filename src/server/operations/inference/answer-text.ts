import { ok, type Failure, type Outcome } from '../../../schemas/failures.ts'
import type { TextPreset } from '../../../schemas/inference/text-preset.ts'
import { CONVERSATION_HEADERS } from '../../../schemas/inference/conversation.ts'
import type { CompleteText, TextRequest } from '../../../schemas/inference/text-request.ts'
import { sessionIdOf } from '../../../schemas/containers/session-ids.ts'
import { defaultOutputTokens } from '../../../schemas/limits/model-calls.ts'
import { callerOf } from '../../../schemas/values/callers.ts'
import type { EventStream } from '../../ports/event-stream.ts'
import type {
  AnsweredBy,
  FinalEvents,
  Inference,
  InferenceEnd,
  InferencePlan,
  InferenceProgress,
  InferenceSink,
  ShownUsage,
} from '../../ports/inference/inference.ts'
import type { Ports } from '../../ports/ports.ts'
import type { PresetContent } from '../../ports/presets/presets.ts'
import { isComplete, usedPreset } from '../apply-preset.ts'
import { nextCallId } from '../call-ids.ts'
import { modelsOf, type KnownModels } from '../callable-model.ts'
import type { Call, Success } from '../define.ts'
import { hopsOf } from '../hops.ts'
import { paidCall, settle, type Charge, type Spent } from '../paid-call.ts'
import { callableModels } from './callable-models.ts'
import { withFiles, type TextWithFiles } from './inline-files.ts'
import { keepGeneration, type Delivery } from './keep-generation.ts'
import { keepProgress } from './keep-progress.ts'
import { tellAffordable } from './tell-affordable.ts'

/** Statuses of every operation that writes texts. D3. */
export const TEXT_STATUSES = [400, 402, 403, 404, 408, 413, 422, 429, 500, 502, 503, 524, 529] as const

/** Headers of a caller that every operation reads which writes texts. */
export const TEXT_HEADERS = ['x-session-id', 'x-sluice-hops', ...CONVERSATION_HEADERS] as const

/** Headers of every answer, each where it is known when the head leaves. D32. */
export const ANSWER_HEADERS = {
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
} as const

/** What every event, or the answer, of one call begins with. */
export interface TextHead {
  /** `gen_…` */
  readonly id: string
  /** Unix seconds. */
  readonly createdS: number
  /** Canonical id of the first model of the call; another one may answer. D11. */
  readonly model: string
}

/** An answer as server-sent events in a dialect. D13. */
export interface TextStream extends InferenceSink {
  readonly delivery: Delivery
  /** A first output may never come: failures before it are then told by the stream too. */
  readonly isOpen: boolean
  /** Begins the reply before any output. D15. */
  openEarly(): void
  /** @param finalEvents what the provider's stream kept back for the usage */
  end(usage: ShownUsage, finalEvents: FinalEvents | null): void
  /** Tells the client that the answer is not whole. D21. */
  /** Written while the source is silent, in place of the form's. D16. */
  readonly silence?: Uint8Array
  breakOff(failure: Failure, told: { readonly statuses: readonly number[]; readonly requestId: string }): void
}

/** An answer that is sent when it is whole. D14. */
export interface WholeText extends InferenceSink {
  /** The answer of a model that writes parts. */
  answer(usage: ShownUsage): object
}

/** The form of calls and answers in one dialect: what its operation adds to `answerText`. */
export interface TextForm {
  /** Id of the operation. */
  readonly operation: string
  /** What a call takes of a preset. D10. */
  presetOf(content: PresetContent): TextPreset
  /** @param open begins the reply; called with the first output, or without an endpoint before it */
  stream(head: TextHead, request: TextRequest, open: (by: AnsweredBy | null) => EventStream): TextStream
  whole(head: TextHead): WholeText
  /** @param nano the charged part of the cost */
  usageOf(end: Pick<InferenceEnd, 'usage' | 'isByok' | 'isEstimated'>, nano: number): ShownUsage
  /** Written while the source is silent, unless the stream has its own. D16. */
  readonly silence: Uint8Array
  /** Headers of the caller that go to the provider: a flat list of names and values; absent: none. D4. */
  passed?(call: Pick<Call, 'headers'>): Outcome<readonly string[]>
}

type TextCall = Call<undefined, undefined, TextRequest>
type Answered = Outcome<Success> | Promise<Outcome<Success>>

/**
 * Lets a model write a text, streamed or whole, in the form of a dialect: finds the models, reserves the most
 * that the call may cost, passes the answer on, pays, and keeps the record. D1–D4, D10, D11, D15, D21, D33.
 */
export function answerText(call: TextCall, form: TextForm, ports: Ports): Answered {
  const session = sessionIdOf(call.body.sessionId, call.headers['x-session-id'])
  if (!session.ok) return session
  if (session.value !== null) call.notes.sessionId = session.value
  const { body } = call
  return isCompleteText(body) ? answer(call, { body, form, ports }) : answerWithPreset(call, form, ports)
}

function isCompleteText(body: TextRequest): body is CompleteText {
  return isComplete(body)
}

async function answerWithPreset(call: TextCall, form: TextForm, ports: Ports): Promise<Outcome<Success>> {
  const used = await usedPreset(call, ports)
  if (!used.ok) return used
  const { model, content } = used.value
  const { key, body, signal } = call
  const preset = { fields: form.presetOf(content), model }
  const merged = await ports.inference.withPreset(body, preset, { caller: callerOf(key), signal })
  return merged.ok ? answer(call, { body: merged.value, form, ports }) : merged
}

/** The conversation as a coding agent names it. */
function agentSession({ headers }: Pick<TextCall, 'headers'>): string | null {
  for (const name of CONVERSATION_HEADERS) if (headers[name] !== undefined) return headers[name]
  return null
}

interface AnswerParts extends TextWithFiles {
  readonly form: TextForm
  readonly ports: Ports
}

function answer(call: TextCall, parts: AnswerParts): Answered {
  return parts.body.files === undefined ? answerFound(call, parts) : answerWithFiles(call, parts)
}

async function answerWithFiles(call: TextCall, parts: AnswerParts): Promise<Outcome<Success>> {
  const found = await withFiles(call, parts.body, parts.ports)
  return found.ok ? answerFound(call, { ...parts, ...found.value }) : found
}

/** @param parts with the files that the body names */
function answerFound(call: TextCall, parts: AnswerParts): Answered {
  const models = modelsOf(call.key, parts.ports)
  return models instanceof Promise
    ? models.then((known) => answerWith(call, known, parts))
    : answerWith(call, models, parts)
}

function answerWith(
  call: TextCall,
  known: Outcome<KnownModels>,
  { body, files, form, ports }: AnswerParts,
): Answered {
  if (!known.ok) return known
  const found = callableModels({ key: call.key, body }, known.value, ports)
  if (!found.ok) return found
  const [model] = found.value
  call.notes.model = model.id
  const head = headOf(model.id)
  const passed = form.passed?.(call)
  if (passed?.ok === false) return passed
  const { tokensMax } = body.size
  const defaultTokensMax = tokensMax === null ? defaultOutputTokens(call.key.callLimits) : null
  const planned = ports.inference.plan({
    models: found.value,
    request: body,
    ...(files !== undefined && { files }),
    head,
    ...(passed !== undefined && { passedHeaders: passed.value }),
    limits: call.key.money,
    defaultTokensMax,
    caller: callerOf(call.key),
    session: call.notes.sessionId ?? agentSession(call),
    requestId: call.requestId,
    hops: hopsOf(call),
    deadlineAt: call.deadlineAt,
    call,
  })
  return planned.ok ? pay(call, { body, form, ports, head, plan: planned.value, defaultTokensMax }) : planned
}

interface PlannedAnswer extends AnswerParts {
  readonly head: TextHead
  readonly plan: InferencePlan
  /** What stands for the maximum that the request lacks. D25. */
  readonly defaultTokensMax: number | null
}

/** Reserves the money of a planned call, runs it, pays, and keeps the record. */
function pay(call: TextCall, { body, form, ports, head, plan, defaultTokensMax }: PlannedAnswer): Answered {
  const { bound } = plan
  const { id, model } = head
  const { media } = body.size
  const { isStream: isStreamed } = body
  const record = { call, id, model, isStreamed, media }
  const unanswered = (failure: Failure, delivery: Delivery): void =>
    keepGeneration({ ...record, end: null, failure, chargedNano: 0, delivery }, ports)
  const keep = (end: InferenceEnd, chargedNano: number): void => {
    const { delivery } = answer
    keepGeneration(
      { call, id, model, isStreamed, media, end, failure: end.failure, chargedNano, delivery },
      ports,
    )
  }
  const { streamHoldMs } = ports.inference
  const answer = isStreamed
    ? streamed(call, { head, body, form, streamHoldMs, unanswered })
    : whole(head, form)
  return paidCall(
    call,
    {
      operation: form.operation,
      model,
      bound,
      run: (hold) => answer.run(plan, keepProgress({ ...record, delivery: answer.delivery }, hold)),
      refused: (failure) => tellAffordable(failure, plan, defaultTokensMax),
      ended(end, hold) {
        const { failure } = end
        // Only a streamed answer reached its caller in part. D26.
        if (failure !== null && !isStreamed) {
          hold.release()
          keep(end, 0)
          return { ok: false, failure }
        }
        const charge = settle(call, spentOn(end), { bound, hold })
        keep(end, charge.nano)
        return answer.ended(end, charge)
      },
    },
    ports,
  )
}

function headOf(model: string): TextHead {
  return { id: nextCallId('gen_'), createdS: Math.floor(Date.now() / 1_000), model }
}

/** Written out, as the other objects of each call: a spread or a rest costs calls of the runtime. */
function spentOn(end: InferenceEnd): Spent {
  const { usage } = end
  return {
    costNano: end.costNano,
    promptTokens: usage.input + usage.cacheRead + usage.cacheWrite,
    text: { outputTokens: usage.output + usage.reasoning, cachedTokens: usage.cacheRead },
    isByok: end.isByok,
    isEstimated: end.isEstimated,
    isUnpriced: end.isUnpriced,
    provider: end.provider,
    model: end.model,
    attempts: end.attempts,
    upstreamMs: end.upstreamMs,
  }
}

interface Answer {
  /** Null: not streamed. */
  readonly delivery: Delivery | null
  run(plan: InferencePlan, progressed: (progress: InferenceProgress) => void): Promise<Outcome<InferenceEnd>>
  ended(end: InferenceEnd, charge: Charge): Outcome<Success>
}

interface Streaming extends Pick<Inference, 'streamHoldMs'> {
  readonly head: TextHead
  readonly body: CompleteText
  readonly form: TextForm
  /** Called when no provider has begun an answer whose head had left. */
  readonly unanswered: (failure: Failure, delivery: Delivery) => void
}

function streamed(call: TextCall, { head, body, form, streamHoldMs, unanswered }: Streaming): Answer {
  const told = { statuses: TEXT_STATUSES, requestId: call.requestId }
  const sink = form.stream(head, body, (by) =>
    call.events({ headers: headersOf(head, by), silence: () => sink.silence ?? form.silence }),
  )
  return {
    delivery: sink.delivery,
    async run(plan, progressed) {
      // A provider that is silent must not write on for a caller who has left. D27.
      call.watch()
      const hold = setTimeout(() => sink.openEarly(), streamHoldMs)
      const outcome = await plan.run(sink, progressed).finally(() => clearTimeout(hold))
      // Behind the head only the stream can tell. D15.
      if (!outcome.ok && sink.isOpen) {
        sink.breakOff(outcome.failure, told)
        unanswered(outcome.failure, sink.delivery)
      }
      return outcome
    },
    ended(end, { nano }) {
      const { failure } = end
      if (failure === null) sink.end(form.usageOf(end, nano), end.finalEvents)
      else sink.breakOff(failure, told)
      return failure === null ? ok({ kind: 'streamed' }) : { ok: false, failure }
    },
  }
}

function whole(head: TextHead, form: TextForm): Answer {
  const sink = form.whole(head)
  return {
    delivery: null,
    run: (plan, progressed) => plan.run(sink, progressed),
    ended(end, { nano, isCapped }) {
      const usage = form.usageOf(end, nano)
      const headers = headersOf(head, end, usageWord(end, isCapped))
      const { answer } = end
      if (answer === null) return ok({ kind: 'json', value: sink.answer(usage), headers })
      const parts = answer.withUsage(usage)
      return ok({ kind: 'bytes', parts, contentType: 'application/json', headers, done: answer.release })
    },
  }
}

/**
 * @param by null: no endpoint has answered so far
 * @param usage what there is to say of the usage; null: nothing
 */
function headersOf(
  { id }: TextHead,
  by: AnsweredBy | null,
  usage: string | null = null,
): Readonly<Record<string, string>> {
  if (by === null) return { 'x-generation-id': id }
  const headers: Record<string, string> = {
    'x-generation-id': id,
    'x-sluice-provider': by.provider,
    'x-sluice-attempts': String(by.attempts),
  }
  if (by.dropped.length > 0) headers['x-sluice-dropped'] = by.dropped.join(',')
  if (by.isUnpriced) headers['x-sluice-unpriced'] = 'true'
  if (usage !== null) headers['x-sluice-usage'] = usage
  return headers
}

function usageWord({ isEstimated }: InferenceEnd, isCapped: boolean): string | null {
  if (isEstimated) return 'estimated'
  return isCapped ? 'capped' : null
}
