import { ATTEMPTS_MAX } from '../../schemas/inference/inference-limits.ts'
import { fail, type Failure, type Outcome } from '../../schemas/failures.ts'
import { inputTokens, outputTokens } from '../../schemas/money/costs.ts'
import { withAffordable } from '../../schemas/money/money-refusals.ts'
import type { TextHead } from '../../dialects/answers.ts'
import type { WrittenPart } from '../../dialects/parts.ts'
import type { AnswerPorts, TextCaller, TextForm, TextJob } from '../ports/inference/inference.ts'
import type { ModelReply } from '../ports/model-calls.ts'
import type { CallableModel, Endpoint } from '../ports/models/models.ts'
import { CallMedia } from '../upstream/inference/inline/call-media.ts'
import type {
  InferenceSink,
  SeenStream,
  Written,
  WritingAttempt,
  WritingProtocol,
} from '../upstream/inference/protocol.ts'
import type { Attempting, Try } from '../upstream/routing/attempts.ts'
import { lacksToolPrice } from './bounds.ts'
import { MeteredCall, StreamRate, type OpenStream } from './meter.ts'
import { Payment, type Charge, type Spent } from './payment.ts'
import { askedOf, isOfCall, type SharedByCalls, type TextPlan } from './plan.ts'
import {
  keepGeneration,
  progressOf,
  type AnsweredBy,
  type CallRecord,
  type Delivery,
  type InferenceEnd,
  type InferenceProgress,
} from './record.ts'
import { judgeTextUsage } from './charge.ts'

type WritingTry = Try<WritingProtocol>

export interface TextCallInput {
  readonly plan: TextPlan
  readonly form: TextForm
  readonly ports: AnswerPorts
}

/**
 * A call to a model that writes, from its hold to its record: the attempts send it to one endpoint after
 * another, which relays its output to this call, until one has answered; then the call is settled, recorded
 * and replied to. The kinds of replies receive the model's output.
 */
export abstract class TextCall
  extends Payment<InferenceEnd, TextCaller>
  implements Attempting<WritingProtocol, Written, InferenceEnd>, InferenceSink, CallRecord
{
  readonly attemptsMax = ATTEMPTS_MAX
  readonly operation: string
  readonly model: string
  readonly bound: TextPlan['bound']
  readonly id: string
  readonly isStreamed: boolean
  readonly media: CallRecord['media']
  readonly job: TextJob
  /** Media of the prompt that are fetched for providers. */
  readonly fetched: CallMedia
  abstract readonly delivery: Delivery | null
  protected readonly head: TextHead
  protected readonly form: TextForm
  protected readonly ports: AnswerPorts
  readonly #plan: TextPlan
  protected readonly shared: SharedByCalls
  readonly #metered: MeteredCall
  /** Time of the first output; null: no output was sent, or the answer came whole. */
  #begunAt: number | null = null
  /** The answer that reports its progress; null: it has not begun, or came whole. */
  #begun: BegunAnswer | null = null

  constructor({ plan, form, ports }: TextCallInput) {
    const { job, shared } = plan
    super(job.call, ports)
    const { isStream, size } = job.request
    this.operation = job.operation
    this.model = job.head.model
    this.bound = plan.bound
    this.id = job.head.id
    this.isStreamed = isStream
    this.media = size.media
    this.job = job
    this.fetched = new CallMedia(shared.egress, job)
    this.head = job.head
    this.form = form
    this.ports = ports
    this.#plan = plan
    this.shared = shared
    this.#metered = new MeteredCall(shared.meters.streams, job, shared.now)
  }

  estimatedTokens(): number {
    return this.#plan.estimatedTokens()
  }

  protected override usedTokens({ usage }: InferenceEnd): number {
    return usage.input + usage.cacheRead + usage.cacheWrite + usage.output + usage.reasoning
  }

  /** Adds the most tokens that the available money pays for, if the call was refused for lack of money. */
  protected override refused(failure: Failure): Failure {
    const available = failure.fields?.['availableNano']
    if (typeof available !== 'number') return failure
    const affordable = this.#plan.affordableTokens(available)
    if (affordable === null) return failure
    const { request, defaultTokensMax = null } = this.job
    const { tokensMember: member } = this.form
    const tokens = { member, asked: request.size.tokensMax, byDefault: defaultTokensMax, affordable }
    return withAffordable(failure, available, tokens)
  }

  protected override async run(): Promise<Outcome<InferenceEnd>> {
    this.#metered.attempted()
    this.beforeAttempts()
    let outcome: Outcome<InferenceEnd> | null = null
    try {
      outcome = await this.shared.attempts.run(this.job, this.#plan.choices, this)
      return outcome
    } finally {
      // A run that throws also ends its stream.
      try {
        this.fetched.release()
        if (this.#begun !== null) this.shared.open.delete(this.#begun)
        this.#metered.ended(outcome ?? fail('internal'))
      } finally {
        this.afterAttempts(outcome)
      }
    }
  }

  protected beforeAttempts(): void {}

  /** @param outcome null: a bug ended the attempts */
  protected afterAttempts(_outcome: Outcome<InferenceEnd> | null): void {}

  /** Called before the first output: from now on the answer comes from this endpoint. */
  protected abstract firstOutput(by: AnsweredBy): void
  abstract take(parts: readonly WrittenPart[]): boolean
  abstract pass(events: Uint8Array): boolean
  abstract room(): Promise<void>

  endsAtOf({ text }: Endpoint, startedAt: number): number {
    const { request, deadlineAt } = this.job
    return request.isStream ? startedAt + (text?.firstOutputMs ?? Infinity) : deadlineAt
  }

  attempt(one: WritingTry): Promise<Outcome<Written>> {
    return one.target.protocol.write(new Attempt(this, one))
  }

  /** Called when the request of an attempt is ready to be sent: the endpoint's time begins only now. @returns the time of the clock */
  ready(one: WritingTry): number {
    const now = this.shared.now()
    one.startedAt = now
    one.endsAt = this.endsAtOf(one.target.endpoint, now)
    return now
  }

  /** Called when the first output of an attempt is sent. */
  begin(one: WritingTry, dropped: readonly string[], seen: SeenStream): void {
    const { request } = this.job
    // Released early: a stream may last an hour, and nothing more is sent.
    request.source.release()
    this.fetched.release()
    const at = this.shared.now()
    this.#begunAt = at
    const unpricedTier = this.#plan.prices.unpricedTierAt(one.target.endpoint, seen.reported)
    const by = this.#answeredBy(one, dropped, { unpricedTier, createdS: seen.createdS })
    if (request.isStream) {
      this.#metered.committed(one)
      this.#begun = new BegunAnswer(this, { one, by, seen, at })
      this.shared.open.add(this.#begun)
    }
    this.firstOutput(by)
  }

  /** Writes the progress of a streamed answer to the journal. */
  report(begun: BegunAnswer): void {
    this.progress(progressOf(this, this.#reached(begun)))
  }

  #reached({ one, by, seen, rate, at }: BegunAnswer): InferenceProgress {
    const { endpoint } = one.target
    const { rates, now: clock } = this.shared
    const now = clock()
    const written = rate.usage(askedOf(one, this.job, now), rates.of(endpoint, this.job.caller))
    // Estimated hidden reasoning is not counted yet, since it may turn out to be less.
    this.#metered.wrote(seen.usage === null ? { ...written, reasoning: 0 } : written)
    const usage = rate.ahead(written, now - at)
    const { reported } = seen
    return {
      ...by,
      usage,
      ...this.#plan.prices.charge(endpoint, { usage, reported, startedAt: one.startedAt }),
      reported,
      upstreamMs: now - one.startedAt,
      isDrained: endpoint.text?.onLeave === 'drain',
      upstreamId: seen.upstreamId,
    }
  }

  answered(written: Written, one: WritingTry): InferenceEnd {
    this.#metered.answered(written, one)
    const { endpoint } = one.target
    const { failure, reported, answer, release, finalEvents, dropped } = written
    const now = this.shared.now()
    const upstreamMs = now - one.startedAt
    const { usage, isEstimated } = this.#usageOf(written, one, now)
    if (failure === null) {
      // Latency is the wait for the first output: an answer of many tokens is not a slow one.
      const firstMs = this.#begunAt === null ? upstreamMs : this.#begunAt - one.startedAt
      one.target.health.answered(firstMs, usage.output + usage.reasoning, upstreamMs)
      this.shared.meters.upstream(endpoint.provider.slug, 'ok', upstreamMs)
    }
    const charge = this.#plan.prices.charge(endpoint, { usage, reported, startedAt: one.startedAt })
    const { unpricedTier } = charge
    return {
      failure: failure === null ? null : this.#broken(failure, one),
      ...this.#answeredBy(one, dropped, { unpricedTier }),
      usage,
      isEstimated,
      costNano: charge.costNano,
      price: charge.price,
      reported,
      upstreamMs,
      answer,
      ...(release !== undefined && { release }),
      finalEvents,
      upstreamId: written.upstreamId,
      finishReason: written.finishReason,
    }
  }

  #usageOf(written: Written, one: WritingTry, now: number): Pick<InferenceEnd, 'usage' | 'isEstimated'> {
    const { failure, reportedUsage, outputBytes, isExact, pausedMs } = written
    if (isExact && reportedUsage !== null) return { usage: reportedUsage, isEstimated: failure !== null }
    const asked = askedOf(one, this.job, now - pausedMs)
    // A provider that failed is paid only for the output that it delivered.
    const isProviders = failure !== null && !isOfCall(failure)
    return judgeTextUsage(
      reportedUsage,
      { outputBytes, isWhole: failure === null, ...asked, reasons: isProviders ? false : asked.reasons },
      this.shared.rates.of(one.target.endpoint, this.job.caller),
    )
  }

  /** The failure of an answer that broke off after its first output, with the name of its provider. */
  #broken(failure: Failure, one: WritingTry): Failure {
    const { caller, call, deadlineAt } = this.job
    const of = { caller, call, deadlineAt, isInnocent: isOfCall(failure), hasBegun: true }
    const learned = this.shared.attempts.learn(failure, one, of)
    return isOfCall(failure) ? learned : one.trail.ending(learned, one.target.endpoint.provider)
  }

  #answeredBy(
    { model, target, trail }: WritingTry,
    dropped: readonly string[],
    facts: Pick<AnsweredBy, 'unpricedTier' | 'createdS'>,
  ): AnsweredBy {
    const { endpoint } = target
    const { request } = this.job
    return {
      model: model.id,
      provider: endpoint.provider.slug,
      isByok: endpoint.ownWay !== undefined,
      isUnpriced: endpoint.isUnpriced || lacksToolPrice(endpoint, request.size.serverTools),
      attempts: trail.length + 1,
      dropped: dropped.length === 0 ? request.dropped : [...request.dropped, ...dropped],
      ...facts,
    }
  }

  protected override ended(end: InferenceEnd): Outcome<ModelReply> {
    const { failure } = end
    // If the answer is not streamed, its caller got no part of it.
    if (failure !== null && !this.isStreamed) {
      this.releaseHold()
      keepGeneration(this, { end, failure, chargedNano: 0 }, this.ports)
      return { ok: false, failure }
    }
    const charge = this.settleHold(spentOn(end))
    keepGeneration(this, { end, failure, chargedNano: charge.nano }, this.ports)
    return this.reply(end, charge)
  }

  protected abstract reply(end: InferenceEnd, charge: Charge): Outcome<ModelReply>
}

interface FirstOutput {
  readonly one: WritingTry
  readonly by: AnsweredBy
  readonly seen: SeenStream
  /** Milliseconds of the clock. */
  readonly at: number
}

/** An answer whose first output was sent. */
class BegunAnswer implements OpenStream {
  dueAt = 0
  readonly one: WritingTry
  readonly by: AnsweredBy
  readonly seen: SeenStream
  readonly at: number
  readonly rate: StreamRate
  readonly #call: TextCall

  constructor(call: TextCall, { one, by, seen, at }: FirstOutput) {
    this.one = one
    this.by = by
    this.seen = seen
    this.at = at
    this.rate = new StreamRate(seen)
    this.#call = call
  }

  report(): void {
    this.#call.report(this)
  }
}

/** One try of one endpoint, as its protocol sees it. */
class Attempt implements WritingAttempt {
  readonly job: TextJob
  readonly model: CallableModel
  readonly sink: InferenceSink
  readonly media: CallMedia
  readonly #call: TextCall
  readonly #one: WritingTry

  constructor(call: TextCall, one: WritingTry) {
    this.job = call.job
    this.model = one.model
    this.sink = call
    this.media = call.fetched
    this.#call = call
    this.#one = one
  }

  begin(dropped: readonly string[], seen: SeenStream): void {
    this.#call.begin(this.#one, dropped, seen)
  }

  ready(): number {
    return this.#call.ready(this.#one)
  }

  mayChangeModel(): boolean {
    const { others, model } = this.#one
    return others.hasOther(model)
  }
}

/** Written out, as the other objects of each call are: a spread would cost calls of the runtime. */
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
