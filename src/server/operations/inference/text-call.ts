import { ok, type Failure, type Outcome } from '../../../schemas/failures.ts'
import { INLINE_JSON_BYTES_MAX } from '../../../schemas/limits/limits.ts'
import { withoutMarks } from '../../../schemas/values/long-integers.ts'
import type { EventStream } from '../../ports/event-stream.ts'
import type {
  AnsweredBy,
  InferenceEnd,
  InferencePlan,
  InferenceProgress,
  InferenceSink,
} from '../../ports/inference/inference.ts'
import type { Hold } from '../../ports/money/money.ts'
import type { FailureFacts, TextEvents, TextHead, WholeText } from '../../../dialects/answers.ts'
import type { FinalEvents, ShownUsage, WrittenPart } from '../../../dialects/parts.ts'
import type { Success } from '../define.ts'
import { settle, type Charge, type PaidCall, type Spent } from '../paid-call.ts'
import { Delivery, keepGeneration, type CallRecord } from './keep-generation.ts'
import { keepProgress } from './keep-progress.ts'
import { TEXT_STATUSES, type CompleteParts, type Planned, type TextCall } from './text-form.ts'
import { withAffordable, type RefusedTokens } from '../../../schemas/money/money-refusals.ts'
import { bytesOf } from '../../../schemas/values/json-bytes.ts'
import { inputTokens, outputTokens } from '../../../schemas/money/costs.ts'

/**
 * A call to a model that writes, from its hold to its record: it is what is paid for, receives what the model
 * writes, and makes the reply. One object, since each closure and each step in between costs every call.
 */
abstract class PaidText implements PaidCall<InferenceEnd>, InferenceSink, CallRecord {
  readonly operation: string
  readonly model: string
  readonly bound: InferencePlan['bound']
  readonly id: string
  readonly isStreamed: boolean
  readonly media: CallRecord['media']
  abstract readonly delivery: Delivery | null
  readonly call: TextCall
  protected readonly parts: CompleteParts
  protected readonly head: TextHead
  readonly #planned: Planned
  #hold: Pick<Hold, 'progress'> | null = null

  constructor(call: TextCall, planned: Planned, parts: CompleteParts) {
    const { head, plan } = planned
    const { isStream, size } = parts.body
    this.operation = parts.form.operation
    this.model = head.model
    this.bound = plan.bound
    this.id = head.id
    this.isStreamed = isStream
    this.media = size.media
    this.call = call
    this.parts = parts
    this.head = head
    this.#planned = planned
  }

  estimatedTokens(): number {
    return this.#planned.plan.estimatedTokens()
  }

  usedTokens({ usage }: InferenceEnd): number {
    return usage.input + usage.cacheRead + usage.cacheWrite + usage.output + usage.reasoning
  }

  refused(failure: Failure): Failure {
    const { plan, defaultTokensMax } = this.#planned
    const { body, form } = this.parts
    const tokens = { member: form.tokensMember, asked: body.size.tokensMax, byDefault: defaultTokensMax }
    return tellAffordable(failure, plan, tokens)
  }

  run(hold: Pick<Hold, 'progress'>): Promise<Outcome<InferenceEnd>> {
    this.#hold = hold
    return this.#planned.plan.run(this)
  }

  abstract begin(by: AnsweredBy): void
  abstract take(parts: readonly WrittenPart[]): boolean
  abstract pass(events: Uint8Array): boolean
  abstract room(): Promise<void>

  progressed(progress: InferenceProgress): void {
    if (this.#hold !== null) keepProgress(this, progress, this.#hold)
  }

  ended(end: InferenceEnd, hold: Hold): Outcome<Success> {
    const { failure } = end
    const { ports } = this.parts
    // Only a streamed answer reached its caller in part. D26.
    if (failure !== null && !this.isStreamed) {
      hold.release()
      keepGeneration(this, { end, failure, chargedNano: 0 }, ports)
      return { ok: false, failure }
    }
    const charge = settle(this.call, spentOn(end), { bound: this.bound, hold })
    keepGeneration(this, { end, failure, chargedNano: charge.nano }, ports)
    return this.reply(end, charge)
  }

  protected abstract reply(end: InferenceEnd, charge: Charge): Outcome<Success>

  /** For the head, which leaves with it. D32. */
  protected noteFirstOutput(): void {
    const { notes, startedAt } = this.call
    notes.ttftMs = performance.now() - startedAt
  }
}

/** An answer that is streamed: its reply begins with the first output, or before it. D13, D15. */
export class StreamedText extends PaidText {
  readonly delivery = new Delivery()
  readonly #events: TextEvents
  #by: AnsweredBy | null = null
  /** Null: the head of the answer has not left. */
  #stream: EventStream | null = null

  constructor(call: TextCall, planned: Planned, parts: CompleteParts) {
    super(call, planned, parts)
    this.#events = parts.form.events(planned.head, parts.body)
  }

  override async run(hold: Pick<Hold, 'progress'>): Promise<Outcome<InferenceEnd>> {
    const { ports } = this.parts
    // A provider that is silent must not write on for a caller who has left. D27.
    this.call.watch()
    const silence = setTimeout(() => this.openEarly(), ports.inference.streamHoldMs)
    const outcome = await super.run(hold).finally(() => clearTimeout(silence))
    if (outcome.ok || this.#stream === null) return outcome
    // After the head only the stream can tell. D15.
    this.#breakOff(outcome.failure)
    keepGeneration(this, { end: null, failure: outcome.failure, chargedNano: 0 }, ports)
    return outcome
  }

  /** Begins the reply before any output. D15. */
  openEarly(): void {
    if (this.#stream !== null) return
    this.#stream = this.#open(null)
    this.#stream.write(this.#events.silence)
  }

  begin(by: AnsweredBy): void {
    this.#by = by
    this.#events.begin(by)
  }

  take(parts: readonly WrittenPart[]): boolean {
    return this.#write(this.#events.eventsOf(parts))
  }

  pass(events: Uint8Array): boolean {
    this.#events.passed?.(events)
    return this.#write(events)
  }

  async room(): Promise<void> {
    if (this.#stream !== null) await this.delivery.stall(this.#stream.room())
  }

  protected override reply(end: InferenceEnd, { nano }: Charge): Outcome<Success> {
    const { failure } = end
    if (failure !== null) {
      this.#breakOff(failure)
      return { ok: false, failure }
    }
    this.#end(this.parts.form.usageOf(end, nano), end.finalEvents)
    return ok({ kind: 'streamed' })
  }

  /** @param finalEvents what the provider's stream kept back for the usage */
  #end(usage: ShownUsage, finalEvents: FinalEvents | null): void {
    this.#stream ??= this.#open(this.#by)
    const last = finalEvents === null ? [this.#events.lastOf(usage)] : finalEvents.withUsage(usage)
    // One write, unless the copy for it would hold the loop: the last event may have 16 MiB.
    if (bytesOf(last) <= INLINE_JSON_BYTES_MAX)
      return this.#stream.end(last.length === 1 ? last[0] : Buffer.concat(last))
    for (const bytes of last) this.#stream.write(bytes)
    this.#stream.end()
  }

  #breakOff(failure: Failure): void {
    const facts: FailureFacts = { statuses: TEXT_STATUSES, requestId: this.call.requestId }
    this.#stream?.breakOff(this.#events.failureOf(failure, facts))
  }

  #write(events: Uint8Array): boolean {
    this.#stream ??= this.#open(this.#by)
    this.#stream.write(events)
    this.delivery.wrote()
    return this.#stream.hasRoom
  }

  /** @param by null: no endpoint has answered */
  #open(by: AnsweredBy | null): EventStream {
    if (by !== null) this.noteFirstOutput()
    const events = this.#events
    return this.call.events({ headers: headersOf(this.head, by), silence: () => events.silence })
  }
}

/** An answer that is sent when it is whole. D14. */
export class CollectedText extends PaidText {
  readonly delivery = null
  readonly #text: WholeText

  constructor(call: TextCall, planned: Planned, parts: CompleteParts) {
    super(call, planned, parts)
    this.#text = parts.form.whole(planned.head, parts.body)
  }

  begin(by: AnsweredBy): void {
    this.#text.begin(by)
  }

  take(parts: readonly WrittenPart[]): boolean {
    for (const part of parts) this.#text.add(part)
    return true
  }

  /** No provider streams an answer that is wanted whole. */
  pass(): boolean {
    return true
  }

  room(): Promise<void> {
    return Promise.resolve()
  }

  protected override reply(end: InferenceEnd, { nano, isCapped }: Charge): Outcome<Success> {
    const usage = this.parts.form.usageOf(end, nano)
    const headers = headersOf(this.head, end, usageWord(end, isCapped))
    const { answer, release } = end
    this.noteFirstOutput()
    if (answer === null && release === undefined)
      return ok({ kind: 'json', value: this.#text.answer(usage), headers })
    const parts = answer?.withUsage(usage) ?? [
      Buffer.from(withoutMarks(JSON.stringify(this.#text.answer(usage)))),
    ]
    const done = answer?.release ?? release
    return ok({
      kind: 'bytes',
      parts,
      contentType: 'application/json',
      headers,
      ...(done !== undefined && { done }),
    })
  }
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

/**
 * A refusal for want of money with the most tokens of an answer that there is money for, as
 * `affordable_output_tokens` and in its text. Other failures are as they were. D25.
 */
export function tellAffordable(
  failure: Failure,
  plan: Pick<InferencePlan, 'affordableTokens'>,
  tokens: Omit<RefusedTokens, 'affordable'>,
): Failure {
  const available = failure.fields?.['availableNano']
  if (typeof available !== 'number') return failure
  const affordable = plan.affordableTokens(available)
  return affordable === null ? failure : withAffordable(failure, available, { ...tokens, affordable })
}
