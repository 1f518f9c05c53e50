import { ok, type Outcome } from '../../../schemas/failures.ts'
import { CONVERSATION_HEADERS } from '../../../schemas/inference/conversation.ts'
import type { CompleteText, TextRequest } from '../../../schemas/inference/text-request.ts'
import { defaultOutputTokens } from '../../../schemas/limits/model-calls.ts'
import { sessionIdOf } from '../../../schemas/containers/session-ids.ts'
import { inputTokens, outputTokens } from '../../../schemas/money/text-costs.ts'
import { callerOf } from '../../../schemas/values/callers.ts'
import { withoutMarks } from '../../../schemas/values/long-integers.ts'
import type {
  AnsweredBy,
  Inference,
  InferenceEnd,
  InferencePlan,
  InferenceProgress,
} from '../../ports/inference/inference.ts'
import type { Ports } from '../../ports/ports.ts'
import { nextCallId } from '../call-ids.ts'
import { modelsOf, type KnownModels } from '../callable-model.ts'
import type { Call, Success } from '../define.ts'
import { hopsOf } from '../hops.ts'
import { paidCall, settle, type Charge, type Spent } from '../paid-call.ts'
import { callableModels } from './callable-models.ts'
import { completeText } from './complete-text.ts'
import type { TextWithFiles } from './inline-files.ts'
import { keepGeneration, type CallRecord, type Delivery } from './keep-generation.ts'
import { keepProgress } from './keep-progress.ts'
import { tellAffordable } from './tell-affordable.ts'
import { StreamedReply, WholeReply } from './text-replies.ts'
import type { ShownUsage } from '../../../dialects/parts.ts'
import type { PaidUsage, TextEvents, TextHead } from '../../../dialects/answers.ts'
import type { WholeTextOf } from '../../../dialects/whole-texts.ts'

/** Statuses of every operation that writes texts. D3. */
export const TEXT_STATUSES = [400, 402, 403, 404, 408, 413, 422, 429, 500, 502, 503, 524, 529] as const

/** Headers of a caller that every operation reads which writes texts. */
export const TEXT_HEADERS = ['x-session-id', 'x-sluice-hops', ...CONVERSATION_HEADERS] as const

/** Headers of every answer, each where it is known when the head leaves. D32. */
export const ANSWER_HEADERS = {
  'x-generation-id': 'Id of the answer, as in its body.',
  'x-sluice-provider': 'Slug of the provider that answered.',
  'x-sluice-attempts': 'Number of endpoints tried, including the last.',
  'x-sluice-dropped':
    'Members of the request that were not sent to the provider or have no effect, comma-separated; ' +
    'also fields of a preset that was saved in another format, by their names there.',
  'x-sluice-unpriced':
    '`true` when the catalogue has neither a price for the endpoint nor `free`, or no price for tools that the provider runs: ' +
    'parts without a price are not charged, whatever the provider charges. ' +
    '`tier` when the answer reports a tier, speed or region without a price in the catalogue; the usual price is charged.',
  'x-sluice-usage':
    'For answers that are not streamed. `estimated`: the provider reported no credible token counts, so Sluice estimated them; ' +
    '`capped`: the reported cost exceeded the maximum, which was charged.',
} as const

/** The form of calls and answers in one dialect: what its operation adds to `answerText`. */
export interface TextForm {
  /** Id of the operation. */
  readonly operation: string
  /** The member of a request with the most tokens of an answer. */
  readonly tokensMember: 'max_tokens' | 'max_output_tokens'
  /** The events of a streamed answer. */
  events(head: TextHead, request: TextRequest): TextEvents
  readonly whole: WholeTextOf
  /** @param nano the charged part of the cost */
  usageOf(end: PaidUsage, nano: number): ShownUsage
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
  const text = completeText(call, ports)
  return text instanceof Promise
    ? text.then((completed) => answer(call, completed, { form, ports }))
    : answer(call, text, { form, ports })
}

interface AnswerParts {
  readonly form: TextForm
  readonly ports: Ports
}

/** Returns a promise of its own only when the models of the workspace are to be loaded. */
function answer(call: TextCall, text: Outcome<TextWithFiles>, parts: AnswerParts): Answered {
  if (!text.ok) return text
  const { form, ports } = parts
  const complete = { form, ports, ...text.value }
  const models = modelsOf(call.key, ports)
  return models instanceof Promise
    ? models.then((known) => answerWith(call, known, complete))
    : answerWith(call, models, complete)
}

interface CompleteParts extends AnswerParts, TextWithFiles {}

function answerWith(call: TextCall, known: Outcome<KnownModels>, parts: CompleteParts): Answered {
  if (!known.ok) return known
  const planned = planOf(call, known.value, parts)
  return planned instanceof Promise
    ? planned.then((late) => (late.ok ? paidAnswer(call, late.value, parts) : late))
    : planned.ok
      ? paidAnswer(call, planned.value, parts)
      : planned
}

interface Planned {
  readonly head: TextHead
  readonly plan: InferencePlan
  /** What stands for the maximum that the request lacks. D25. */
  readonly defaultTokensMax: number | null
}

/** Failures: those of `callableModels`, of the form's headers, and of `Inference.plan`. */
function planOf(
  call: TextCall,
  known: KnownModels,
  { body, files, form, ports }: CompleteParts,
): Outcome<Planned> | Promise<Outcome<Planned>> {
  const found = callableModels({ key: call.key, body }, known, ports)
  if (!found.ok) return found
  const [model] = found.value
  call.notes.model = model.id
  const head = headOf(model.id)
  const passed = form.passed?.(call)
  if (passed?.ok === false) return passed
  const { tokensMax } = body.size
  const defaultTokensMax = tokensMax === null ? defaultOutputTokens(call.key.callLimits) : null
  const planned = ports.inference.plan({
    operation: form.operation,
    startedAt: call.startedAt,
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
  const withHead = (plan: Outcome<InferencePlan>): Outcome<Planned> =>
    plan.ok ? ok({ head, plan: plan.value, defaultTokensMax }) : plan
  return planned instanceof Promise ? planned.then(withHead) : withHead(planned)
}

/** The conversation as a coding agent names it. */
function agentSession({ headers }: Pick<TextCall, 'headers'>): string | null {
  for (const name of CONVERSATION_HEADERS) if (headers[name] !== undefined) return headers[name]
  return null
}

function paidAnswer(
  call: TextCall,
  { head, plan, defaultTokensMax }: Planned,
  { body, form, ports }: CompleteParts,
): Promise<Outcome<Success>> {
  const { bound } = plan
  const { isStream: isStreamed, size } = body
  const { streamHoldMs } = ports.inference
  const parts = { head, body, form }
  const answer = isStreamed ? streamed(call, { streamHoldMs, ...parts }) : whole(call, parts)
  const { id, model } = head
  const record: CallRecord = { call, id, model, isStreamed, media: size.media, delivery: answer.delivery }
  return paidCall(
    call,
    {
      operation: form.operation,
      model,
      bound,
      estimatedTokens: () => plan.estimatedTokens(),
      usedTokens,
      async run(hold) {
        const outcome = await answer.run(plan, keepProgress(record, hold))
        if (!outcome.ok && answer.isOpen)
          keepGeneration(record, { end: null, failure: outcome.failure, chargedNano: 0 }, ports)
        return outcome
      },
      refused: (failure) =>
        tellAffordable(failure, plan, {
          member: form.tokensMember,
          asked: size.tokensMax,
          byDefault: defaultTokensMax,
        }),
      ended(end, hold) {
        const { failure } = end
        // Only a streamed answer reached its caller in part. D26.
        if (failure !== null && !isStreamed) {
          hold.release()
          keepGeneration(record, { end, failure, chargedNano: 0 }, ports)
          return { ok: false, failure }
        }
        const charge = settle(call, spentOn(end), { bound, hold })
        keepGeneration(record, { end, failure, chargedNano: charge.nano }, ports)
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
    tokens: inputTokens(usage),
    text: { outputTokens: outputTokens(usage), cachedTokens: usage.cacheRead },
    isByok: end.isByok,
    isEstimated: end.isEstimated,
    isUnpriced: end.isUnpriced,
    provider: end.provider,
    model: end.model,
    attempts: end.attempts,
    milliseconds: Math.round(end.upstreamMs),
    upstreamMs: end.upstreamMs,
  }
}

function usedTokens({ usage }: InferenceEnd): number {
  return usage.input + usage.cacheRead + usage.cacheWrite + usage.output + usage.reasoning
}

interface Answer {
  /** Null: not streamed. */
  readonly delivery: Delivery | null
  /** The head of the answer has left. */
  readonly isOpen: boolean
  run(plan: InferencePlan, progressed: (progress: InferenceProgress) => void): Promise<Outcome<InferenceEnd>>
  ended(end: InferenceEnd, charge: Charge): Outcome<Success>
}

interface Streaming extends Pick<Inference, 'streamHoldMs'> {
  readonly head: TextHead
  readonly body: CompleteText
  readonly form: TextForm
}

function streamed(call: TextCall, { head, body, form, streamHoldMs }: Streaming): Answer {
  const facts = { statuses: TEXT_STATUSES, requestId: call.requestId }
  const events = form.events(head, body)
  const reply = new StreamedReply(events, (by) => {
    if (by !== null) noteFirstOutput(call)
    return call.events({ headers: headersOf(head, by), silence: () => events.silence })
  })
  return {
    delivery: reply.delivery,
    get isOpen() {
      return reply.isOpen
    },
    async run(plan, progressed) {
      // A provider that is silent must not write on for a caller who has left. D27.
      call.watch()
      const hold = setTimeout(() => reply.openEarly(), streamHoldMs)
      const outcome = await plan.run(reply, progressed).finally(() => clearTimeout(hold))
      // Behind the head only the stream can tell. D15.
      if (!outcome.ok) reply.breakOff(outcome.failure, facts)
      return outcome
    },
    ended(end, { nano }) {
      const { failure } = end
      if (failure === null) reply.end(form.usageOf(end, nano), end.finalEvents)
      else reply.breakOff(failure, facts)
      return failure === null ? ok({ kind: 'streamed' }) : { ok: false, failure }
    },
  }
}

/** For the head, which leaves with it. D32. */
function noteFirstOutput({ notes, startedAt }: TextCall): void {
  notes.ttftMs = performance.now() - startedAt
}

function whole(call: TextCall, { head, body, form }: Omit<Streaming, 'streamHoldMs'>): Answer {
  const reply = new WholeReply(form.whole(head, body))
  return {
    delivery: null,
    isOpen: false,
    run: (plan, progressed) => plan.run(reply, progressed),
    ended(end, { nano, isCapped }) {
      const usage = form.usageOf(end, nano)
      const headers = headersOf(head, end, usageWord(end, isCapped))
      const { answer, release } = end
      noteFirstOutput(call)
      if (answer === null && release === undefined)
        return ok({ kind: 'json', value: reply.answer(usage), headers })
      const parts = answer?.withUsage(usage) ?? [
        Buffer.from(withoutMarks(JSON.stringify(reply.answer(usage)))),
      ]
      const done = answer?.release ?? release
      return ok({
        kind: 'bytes',
        parts,
        contentType: 'application/json',
        headers,
        ...(done !== undefined && { done }),
      })
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
  else if (by.unpricedTier !== null) headers['x-sluice-unpriced'] = 'tier'
  if (usage !== null) headers['x-sluice-usage'] = usage
  return headers
}

function usageWord({ isEstimated }: InferenceEnd, isCapped: boolean): string | null {
  if (isEstimated) return 'estimated'
  return isCapped ? 'capped' : null
}
