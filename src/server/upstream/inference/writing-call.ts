import { ATTEMPTS_MAX } from '../../../schemas/inference/inference-limits.ts'
import { fail, type Failure, type Outcome } from '../../../schemas/failures.ts'
import { ADMITTED_OUTPUT_TOKENS_MAX } from '../../../schemas/limits/rate-limits.ts'
import type {
  AnsweredBy,
  InferenceEnd,
  InferenceJob,
  InferencePlan,
  InferenceProgress,
  InferenceSink,
} from '../../ports/inference/inference.ts'
import type { CallableModel, Endpoint } from '../../ports/models/models.ts'
import type { CostBound } from '../../ports/money/money.ts'
import type { Meters } from '../../ports/observe.ts'
import type { Attempting, Attempts, Choice, Try } from '../routing/attempts.ts'
import { affordableOutputTokens, isHeld, lacksToolPrice, textBoundOf, type TextBoundInput } from './bounds.ts'
import type { CallPrices } from './call-prices.ts'
import { CallMedia, type MediaEgress } from './inline/call-media.ts'
import { MeteredCall } from './metered-call.ts'
import { StreamRate, type OpenStreams, type SeenStream } from './open-streams.ts'
import type { Written, WritingAttempt, WritingProtocol } from './protocol.ts'
import { askedOf } from './routed-text.ts'
import { judgeTextUsage, type LearnedRates } from './text-usage.ts'

export type WritingChoice = Choice<WritingProtocol>
type WritingTry = Try<WritingProtocol>

/** What all calls to models that write share. */
export interface SharedByCalls {
  readonly attempts: Attempts<WritingProtocol>
  readonly rates: LearnedRates
  readonly open: OpenStreams
  readonly meters: Pick<Meters, 'upstream' | 'streams'>
  readonly egress: MediaEgress
  /** Milliseconds of the same clock as the deadlines. */
  readonly now: () => number
}

/** A call whose endpoints are chosen. */
interface TextPlanInput {
  readonly job: InferenceJob
  readonly choices: readonly WritingChoice[]
  readonly prices: CallPrices
  /** What bounds its cost. */
  readonly bounded: TextBoundInput
  readonly shared: SharedByCalls
}

/** What a call may cost, before anything is sent. */
export class TextPlan implements InferencePlan {
  readonly job: InferenceJob
  readonly choices: readonly WritingChoice[]
  readonly prices: CallPrices
  readonly shared: SharedByCalls
  readonly bound: CostBound
  readonly #bounded: TextBoundInput
  readonly #targets: readonly WritingChoice['target'][]

  constructor({ job, choices, prices, bounded, shared }: TextPlanInput) {
    this.job = job
    this.choices = choices
    this.prices = prices
    this.shared = shared
    this.#bounded = bounded
    this.#targets = choices.map(({ target }) => target)
    this.bound = textBoundOf(this.#targets, bounded)
  }

  /** A finite limit counts the call. */
  get isHeld(): boolean {
    return isHeld(this.#targets, this.#bounded)
  }

  /** By the endpoint that is tried first. */
  estimatedTokens(): number {
    const { request, caller, defaultTokensMax = null } = this.job
    const { size, choices } = request
    const [first] = this.#targets
    if (first === undefined) return 0
    const { endpoint } = first
    const most = size.tokensMax ?? defaultTokensMax ?? endpoint.text?.maxCompletionTokens ?? Infinity
    const prompt = this.shared.rates.of(endpoint, caller).promptTokens(size.text)
    return prompt + Math.min(most, ADMITTED_OUTPUT_TOKENS_MAX) * choices
  }

  affordableTokens(availableNano: number): number | null {
    return affordableOutputTokens(this.#targets, this.#bounded, availableNano)
  }

  run(sink: InferenceSink): Promise<Outcome<InferenceEnd>> {
    return new WritingCall(this, sink).run()
  }
}

/** An answer whose first output has left. */
interface BegunAnswer {
  readonly one: WritingTry
  readonly by: AnsweredBy
  readonly seen: SeenStream
  readonly rate: StreamRate
  /** Milliseconds of the clock at the first output. */
  readonly at: number
}

/** One call that runs: its attempts, the begin of its answer, its progress and its end. */
class WritingCall implements Attempting<WritingProtocol, Written, InferenceEnd> {
  readonly attemptsMax = ATTEMPTS_MAX
  readonly job: InferenceJob
  readonly sink: InferenceSink
  readonly media: CallMedia
  readonly #plan: TextPlan
  readonly #shared: SharedByCalls
  readonly #metered: MeteredCall
  /** Null: no output has left, or the answer came whole. */
  #begunAt: number | null = null
  /** Ends the reports of progress; null: there are none. */
  #close: (() => void) | null = null

  constructor(plan: TextPlan, sink: InferenceSink) {
    const { job, shared } = plan
    this.job = job
    this.sink = sink
    this.media = new CallMedia(shared.egress, job)
    this.#plan = plan
    this.#shared = shared
    this.#metered = new MeteredCall(shared.meters.streams, job, shared.now)
  }

  async run(): Promise<Outcome<InferenceEnd>> {
    // A run that throws ends its stream, too.
    let outcome: Outcome<InferenceEnd> = fail('internal')
    try {
      outcome = await this.#shared.attempts.run(this.job, this.#plan.choices, this)
      return outcome
    } finally {
      this.media.release()
      this.#close?.()
      this.#metered.ended(outcome)
    }
  }

  endsAtOf({ text }: Endpoint, startedAt: number): number {
    const { request, deadlineAt } = this.job
    return request.isStream ? startedAt + (text?.firstOutputMs ?? Infinity) : deadlineAt
  }

  attempt(one: WritingTry): Promise<Outcome<Written>> {
    return one.target.protocol.write(new Attempt(this, one))
  }

  /** The request of an attempt is ready to be sent. @returns the clock */
  ready(one: WritingTry): number {
    return this.#shared.attempts.ready(one, this)
  }

  /** The first output of an attempt leaves. */
  begin(one: WritingTry, dropped: readonly string[], seen: SeenStream): void {
    const { request } = this.job
    // A stream may last an hour, and nothing more is sent.
    request.source.release()
    this.media.release()
    const at = this.#shared.now()
    this.#begunAt = at
    const unpricedTier = this.#plan.prices.unpricedTierAt(one.target.endpoint, seen.reported)
    const by = this.#answeredBy(one, dropped, { unpricedTier, createdS: seen.createdS })
    if (request.isStream) {
      this.#metered.committed(one)
      const begun: BegunAnswer = { one, by, seen, rate: new StreamRate(seen), at }
      this.#close = this.#shared.open.add(() => this.sink.progressed(this.#progressOf(begun)))
    }
    this.sink.begin(by)
  }

  #progressOf({ one, by, seen, rate, at }: BegunAnswer): InferenceProgress {
    const { endpoint } = one.target
    const { rates, now: clock } = this.#shared
    const now = clock()
    const written = rate.usage(askedOf(one, this.job, now), rates.of(endpoint, this.job.caller))
    // What is thought unseen may turn out to be less.
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
    const now = this.#shared.now()
    const upstreamMs = now - one.startedAt
    const { usage, isEstimated } = this.#usageOf(written, one, now)
    if (failure === null) {
      // Latency is the wait for the first output: an answer of many tokens is not a slow one. D26.
      const firstMs = this.#begunAt === null ? upstreamMs : this.#begunAt - one.startedAt
      one.target.health.answered(firstMs, usage.output + usage.reasoning, upstreamMs)
      this.#shared.meters.upstream(endpoint.provider.slug, 'ok', upstreamMs)
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
    const { failure, told, outputBytes, isExact, pausedMs } = written
    if (isExact && told !== null) return { usage: told, isEstimated: failure !== null }
    const asked = askedOf(one, this.job, now - pausedMs)
    // A provider that failed is paid for what it has delivered alone.
    const isProviders = failure !== null && !isOfCall(failure)
    return judgeTextUsage(
      told,
      { outputBytes, isWhole: failure === null, ...asked, reasons: isProviders ? false : asked.reasons },
      this.#shared.rates.of(one.target.endpoint, this.job.caller),
    )
  }

  /** Why an answer broke off after its first output, with the name of its provider. D21. */
  #broken(failure: Failure, one: WritingTry): Failure {
    const { caller, call, deadlineAt } = this.job
    const of = { caller, call, deadlineAt, isInnocent: isOfCall(failure), hasBegun: true }
    const learned = this.#shared.attempts.learn(failure, one, of)
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
}

/** The call ended, not the endpoint. */
export function isOfCall({ name }: Failure): boolean {
  return name === 'client_gone' || name === 'draining' || name === 'deadline_exceeded'
}

/** One try of one endpoint, as its protocol sees it. */
class Attempt implements WritingAttempt {
  readonly job: InferenceJob
  readonly model: CallableModel
  readonly sink: InferenceSink
  readonly media: CallMedia
  readonly #call: WritingCall
  readonly #one: WritingTry

  constructor(call: WritingCall, one: WritingTry) {
    this.job = call.job
    this.model = one.model
    this.sink = call.sink
    this.media = call.media
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
