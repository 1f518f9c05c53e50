import { ok, type Outcome } from '../../../schemas/failures.ts'
import { CONVERSATION_HEADERS, sessionIdOf } from '../../../schemas/inference/conversation.ts'
import { defaultOutputTokens } from '../../../schemas/limits/model-calls.ts'
import { callerOf } from '../../../schemas/values/callers.ts'
import type { InferencePlan } from '../../ports/inference/inference.ts'
import type { Ports } from '../../ports/ports.ts'
import { modelsOf, type KnownModels, hopsOf, nextCallId } from '../model-calls.ts'
import type { Success } from '../define.ts'
import { paidCall } from '../paid-call.ts'
import type { TextWithFiles } from './text-inputs.ts'
import { CollectedText, StreamedText } from './text-call.ts'
import type { AnswerParts, CompleteParts, Planned, TextCall, TextForm } from './text-form.ts'
import type { TextHead } from '../../../dialects/answers.ts'
import { callableModels, completeText } from './text-inputs.ts'

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

function answerWith(call: TextCall, known: Outcome<KnownModels>, parts: CompleteParts): Answered {
  if (!known.ok) return known
  const planned = planOf(call, known.value, parts)
  return planned instanceof Promise
    ? planned.then((late) => (late.ok ? paidAnswer(call, late.value, parts) : late))
    : planned.ok
      ? paidAnswer(call, planned.value, parts)
      : planned
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

function paidAnswer(call: TextCall, planned: Planned, parts: CompleteParts): Promise<Outcome<Success>> {
  const paid = parts.body.isStream
    ? new StreamedText(call, planned, parts)
    : new CollectedText(call, planned, parts)
  return paidCall(call, paid, parts.ports)
}

function headOf(model: string): TextHead {
  return { id: nextCallId('gen_'), createdS: Math.floor(Date.now() / 1_000), model }
}
