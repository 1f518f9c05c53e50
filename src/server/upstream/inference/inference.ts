import { fail, ok, type Failure, type Outcome } from '../../../schemas/failures.ts'
import type { CompleteText, TextRequest } from '../../../schemas/inference/text-request.ts'
import { ATTEMPTS_MAX } from '../../../schemas/inference/inference-limits.ts'
import { ADMITTED_OUTPUT_TOKENS_MAX } from '../../../schemas/limits/rate-limits.ts'
import { HOPS_MAX } from '../../../schemas/models/provider-limits.ts'
import { endpointUnconfigured } from '../../../schemas/models/unconfigured.ts'
import type {
  AnsweredBy,
  Inference,
  InferenceEnd,
  CountedPrompt,
  CountJob,
  InferenceJob,
  InferencePlan,
  InferenceProgress,
  InferenceSink,
  PresetBy,
} from '../../ports/inference/inference.ts'
import type { CallableModel, Endpoint } from '../../ports/models/models.ts'
import type { BreakerReading, Log, Meters } from '../../ports/observe.ts'
import type { ShortJobs } from '../../ports/short-jobs.ts'
import { CallInstants } from '../cost-bound.ts'
import { Attempts, type Choice, type Try } from '../routing/attempts.ts'
import { choosePriced, pricedChoices } from '../routing/priced.ts'
import { route, type RoutedCall } from '../routing/route.ts'
import { TargetTable, type Target } from '../routing/targets.ts'
import { affordableOutputTokens, isHeld, isPriced, lacksToolPrice, textBoundOf } from './bounds.ts'
import { mergePreset, type Merging } from './merge-preset.ts'
import { CallPrices } from './call-prices.ts'
import { CallMedia, type MediaEgress } from './inline/call-media.ts'
import { fittingEndpoints } from './fitting-endpoints.ts'
import { MeteredCall } from './metered-call.ts'
import { OpenStreams, StreamRate, type SeenStream } from './open-streams.ts'
import { writerOpener, type OpenWriterDeps } from './open-writer.ts'
import type { Written, WritingProtocol } from './protocol.ts'
import { askedOf, boundInputOf, RoutedText } from './routed-text.ts'
import { takersOf, type Takers } from './translated/takers.ts'
import { judgeTextUsage, LearnedRates } from './text-usage.ts'

export interface InferenceOptions extends OpenWriterDeps {
  /** Milliseconds without an output after which the head of a streamed answer leaves. D15. */
  readonly streamHoldMs: number
  readonly log: Log
  readonly meters: Pick<Meters, 'upstream' | 'streams'>
  /** Milliseconds of the same clock as the deadlines. */
  readonly now: () => number
  /** Unix milliseconds; left out: of the wall clock. */
  readonly unixNow?: () => number
  /** A number from 0 to 1. */
  readonly random: () => number
}

/** The models of a front that write: endpoints by preferences and health, attempts until one has begun. */
export function createInference(
  options: InferenceOptions,
): Inference & { breakers(): readonly BreakerReading[] } {
  return new RoutingInference(options)
}

type WritingTarget = Target<WritingProtocol>
type WritingChoice = Choice<WritingProtocol>
type WritingTry = Try<WritingProtocol>

class RoutingInference implements Inference {
  readonly streamHoldMs: number
  readonly #targets: TargetTable<WritingProtocol>
  readonly #attempts: Attempts<WritingProtocol>
  readonly #rates = new LearnedRates()
  readonly #open: OpenStreams
  readonly #meters: Pick<Meters, 'upstream' | 'streams'>
  readonly #now: () => number
  readonly #unixNow: () => number
  readonly #jobs: ShortJobs
  readonly #egress: MediaEgress

  constructor(options: InferenceOptions) {
    const { log, meters, now, random, streamHoldMs, jobs, egress } = options
    this.#jobs = jobs
    this.#egress = egress
    this.streamHoldMs = streamHoldMs
    this.#targets = new TargetTable({ open: writerOpener(options), random })
    this.#attempts = new Attempts({ targets: this.#targets, log, meters, now })
    this.#open = new OpenStreams(now)
    this.#meters = meters
    this.#now = now
    this.#unixNow = options.unixNow ?? Date.now
  }

  breakers(): readonly BreakerReading[] {
    return this.#targets.breakers(this.#now())
  }

  withPreset(request: TextRequest, preset: Merging, by: PresetBy): Promise<Outcome<CompleteText>> {
    return mergePreset(request, preset, { ...by, jobs: this.#jobs })
  }

  /** Health stays as it is: a provider that counts no tokens may write well. D5. */
  async count(job: CountJob): Promise<Outcome<CountedPrompt>> {
    const [model] = job.models
    if (model === undefined) return fail('model_unknown')
    const takers = await takersOf({ ...job, models: [model], isCount: true }, this.#jobs)
    const chosen = takers.ok ? this.#choose(model, job, takers.value) : takers
    if (!chosen.ok) return chosen
    const media = new CallMedia(this.#egress, job)
    return this.#counted(job, chosen.value.slice(0, ATTEMPTS_MAX), media).finally(() => media.release())
  }

  async #counted(
    job: CountJob,
    targets: readonly WritingTarget[],
    media: CallMedia,
  ): Promise<Outcome<CountedPrompt>> {
    let last: Outcome<never> = fail('count_unavailable')
    for (const { protocol } of targets) {
      const counted = await protocol.count(job, media)
      if (counted.ok) return counted
      last = counted
      if (isOfCall(counted.failure) || counted.failure.name === 'upstream_refused') return counted
    }
    return last
  }

  plan(job: InferenceJob): Outcome<InferencePlan> | Promise<Outcome<InferencePlan>> {
    const takers = takersOf(job, this.#jobs)
    return takers instanceof Promise
      ? takers.then((known) => this.#planned(job, known))
      : this.#planned(job, takers)
  }

  #planned(job: InferenceJob, takers: Outcome<Takers | null>): Outcome<InferencePlan> {
    const instants = new CallInstants(this.#unixNow(), this.#now(), job.deadlineAt)
    const prices = new CallPrices(job.request, instants)
    const input = boundInputOf(job, instants)
    const chosen = takers.ok ? this.#choices(job, input, takers.value) : takers
    if (!chosen.ok) return chosen
    const choices = chosen.value
    const targets = choices.map(({ target }) => target)
    const { ambiguous } = job.request.source
    if (ambiguous !== null && isHeld(targets, input))
      return fail('body_invalid', { metadata: { issues: [ambiguous] } })
    return ok({
      bound: textBoundOf(targets, input),
      estimatedTokens: () => this.#estimatedTokens(job, targets),
      affordableTokens: (availableNano) => affordableOutputTokens(targets, input, availableNano),
      run: (sink, progressed) => this.#run(job, choices, { sink, progressed, prices }),
    })
  }

  /** By the endpoint that is tried first. */
  #estimatedTokens(
    { request, caller, defaultTokensMax = null }: InferenceJob,
    targets: readonly WritingTarget[],
  ): number {
    const { size, choices } = request
    const [first] = targets
    if (first === undefined) return 0
    const { endpoint } = first
    const most = size.tokensMax ?? defaultTokensMax ?? endpoint.text?.maxCompletionTokens ?? Infinity
    const prompt = this.#rates.of(endpoint, caller).promptTokens(size.text)
    return prompt + Math.min(most, ADMITTED_OUTPUT_TOKENS_MAX) * choices
  }

  /**
   * The endpoints of all models, each once. A model without an endpoint for this call is left out; the
   * failure of the first model is returned where every model is. D11.
   */
  #choices(
    job: InferenceJob,
    input: ReturnType<typeof boundInputOf>,
    takers: Takers | null,
  ): Outcome<readonly WritingChoice[]> {
    const choices = new Map<WritingTarget, WritingChoice>()
    let failed: Outcome<never> | null = null
    for (const model of job.models) {
      const chosen = choosePriced(model, job.limits, (some) => this.#choose(some, job, takers))
      if (!chosen.ok) failed ??= chosen
      else for (const target of chosen.value) if (!choices.has(target)) choices.set(target, { model, target })
    }
    if (choices.size === 0 && failed !== null) return failed
    return ok(pricedChoices([...choices.values()], job.limits, (endpoint) => isPriced(endpoint, input)))
  }

  /** Endpoints that the preferences leave, that take the call and are configured. */
  #choose(model: CallableModel, job: CountJob, takers: Takers | null): Outcome<readonly WritingTarget[]> {
    const { request, hops } = job
    const fitting = fittingEndpoints(model, job)
    if (!fitting.ok) return fitting
    const taking = takers === null ? undefined : this.#taking(takers)
    const { caller, session } = job
    const call = new RoutedText(request, { caller, session, at: this.#unixNow() }, taking)
    const routed = route({ ...model, endpoints: fitting.value }, call, (endpoint) =>
      this.#targets.healthOf(endpoint),
    )
    if (!routed.ok) return routed
    const targets = routed.value.flatMap((endpoint) => this.#targets.of(endpoint) ?? [])
    if (targets.length === 0) return endpointUnconfigured(model)
    // In a cycle of providers each call would cause the next.
    const near = hops > HOPS_MAX ? targets.filter(({ endpoint }) => isLocal(endpoint)) : targets
    return near.length === 0 ? fail('hops_exceeded', { fields: { hops } }) : ok(near)
  }

  #taking(takers: Takers): RoutedCall['taking'] {
    return (endpoints) => takers.among(endpoints, (endpoint) => this.#targets.of(endpoint) !== null)
  }

  async #run(
    job: InferenceJob,
    choices: readonly WritingChoice[],
    { sink, progressed, prices }: Receivers,
  ): Promise<Outcome<InferenceEnd>> {
    const { request, deadlineAt } = job
    const metered = new MeteredCall(this.#meters.streams, job, this.#now)
    const media = new CallMedia(this.#egress, job)
    let begunAt: number | null = null
    let close = (): void => undefined
    const endsAtOf = ({ text }: Endpoint, startedAt: number): number =>
      request.isStream ? startedAt + (text?.firstOutputMs ?? Infinity) : deadlineAt
    const attempted = this.#attempts.run(job, choices, {
      attemptsMax: ATTEMPTS_MAX,
      endsAtOf,
      attempt: (one) =>
        one.target.protocol.write({
          job,
          model: one.model,
          sink,
          media,
          begin: (dropped, seen) => {
            // A stream may last an hour, and nothing more is sent.
            request.source.release()
            media.release()
            const at = this.#now()
            begunAt = at
            const unpricedTier = prices.unpricedTierAt(one.target.endpoint, seen.reported)
            const { createdS } = seen
            const all = [...request.dropped, ...dropped]
            const by = answeredBy(one, job, { unpricedTier, dropped: all, createdS })
            if (request.isStream) {
              metered.committed(one)
              const begun = { by, at, rate: new StreamRate(seen), metered, job, seen, prices }
              close = this.#open.add(() => progressed(this.#progress(one, begun)))
            }
            sink.begin(by)
          },
          ready: () => this.#attempts.ready(one, { endsAtOf }),
          mayChangeModel: () => one.others.hasOther(one.model),
        }),
      answered: (written, one) => {
        metered.answered(written, one)
        return this.#end(written, one, { job, begunAt, prices })
      },
    })
    // A run that throws ends its stream, too.
    let outcome: Outcome<InferenceEnd> = fail('internal')
    try {
      outcome = await attempted
      return outcome
    } finally {
      media.release()
      close()
      metered.ended(outcome)
    }
  }

  #progress(one: WritingTry, { by, at, rate, metered, job, seen, prices }: BegunAnswer): InferenceProgress {
    const { endpoint } = one.target
    const now = this.#now()
    const written = rate.usage(askedOf(one, job, now), this.#rates.of(endpoint, job.caller))
    // What is thought unseen may turn out to be less.
    metered.wrote(seen.usage === null ? { ...written, reasoning: 0 } : written)
    const usage = rate.ahead(written, now - at)
    const { reported } = seen
    return {
      ...by,
      usage,
      ...prices.charge(endpoint, { usage, reported, startedAt: one.startedAt }),
      reported,
      upstreamMs: now - one.startedAt,
      isDrained: endpoint.text?.onLeave === 'drain',
      upstreamId: seen.upstreamId,
    }
  }

  /** @param begunAt first output of the answer; null: the answer came whole */
  #end(
    written: Written,
    one: WritingTry,
    { job, begunAt, prices }: Pick<BegunAnswer, 'job' | 'prices'> & { readonly begunAt: number | null },
  ): InferenceEnd {
    const { endpoint, health } = one.target
    const { failure, told, reported, outputBytes, answer, release, finalEvents } = written
    const now = this.#now()
    const upstreamMs = now - one.startedAt
    const { usage, isEstimated } =
      written.isExact && told !== null
        ? { usage: told, isEstimated: failure !== null }
        : judgeTextUsage(
            told,
            {
              ...askedOf(one, job, now - written.pausedMs),
              // A provider that failed is paid for what it has delivered alone.
              ...(failure !== null && !isOfCall(failure) && { reasons: false }),
              outputBytes,
              isWhole: failure === null,
            },
            this.#rates.of(endpoint, job.caller),
          )
    if (failure === null) {
      // Latency is the wait for the first output: an answer of many tokens is not a slow one. D26.
      const firstMs = begunAt === null ? upstreamMs : begunAt - one.startedAt
      health.answered(firstMs, usage.output + usage.reasoning, upstreamMs)
      this.#meters.upstream(endpoint.provider.slug, 'ok', upstreamMs)
    }
    const charge = prices.charge(endpoint, { usage, reported, startedAt: one.startedAt })
    const { unpricedTier } = charge
    return {
      ...answeredBy(one, job, { unpricedTier, dropped: droppedOf(job, written.dropped) }),
      failure: failure === null ? null : this.#broken(failure, one, job),
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

  /** Why an answer broke off after its first output, with the name of its provider. D21. */
  #broken(failure: Failure, one: WritingTry, job: InferenceJob): Failure {
    const { caller, call, deadlineAt } = job
    const of = { caller, call, deadlineAt, isInnocent: isOfCall(failure), hasBegun: true }
    const learned = this.#attempts.learn(failure, one, of)
    return isOfCall(failure) ? learned : one.trail.ending(learned, one.target.endpoint.provider)
  }
}

interface Receivers {
  readonly sink: InferenceSink
  readonly progressed: (progress: InferenceProgress) => void
  readonly prices: CallPrices
}

interface BegunAnswer {
  readonly by: AnsweredBy
  /** Milliseconds of the clock at the first output. */
  readonly at: number
  readonly rate: StreamRate
  readonly metered: MeteredCall
  readonly job: InferenceJob
  readonly seen: SeenStream
  readonly prices: CallPrices
}

function droppedOf({ request }: InferenceJob, dropped: readonly string[]): readonly string[] {
  return dropped.length === 0 ? request.dropped : [...request.dropped, ...dropped]
}

function answeredBy(
  { model, target, trail }: WritingTry,
  { request }: InferenceJob,
  facts: Pick<AnsweredBy, 'unpricedTier' | 'dropped' | 'createdS'>,
): AnsweredBy {
  const { endpoint } = target
  const { provider, ownWay } = endpoint
  return {
    model: model.id,
    provider: provider.slug,
    isByok: ownWay !== undefined,
    isUnpriced: endpoint.isUnpriced || lacksToolPrice(endpoint, request.size.serverTools),
    attempts: trail.length + 1,
    ...facts,
  }
}

/** The call ended, not the endpoint. */
function isOfCall({ name }: Failure): boolean {
  return name === 'client_gone' || name === 'draining' || name === 'deadline_exceeded'
}

function isLocal({ provider }: Endpoint): boolean {
  return provider.protocol === 'local'
}
