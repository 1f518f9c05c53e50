import { fail, ok, type Outcome } from '../../../schemas/failures.ts'
import type { CompleteText, TextRequest } from '../../../schemas/inference/text-request.ts'
import { ATTEMPTS_MAX } from '../../../schemas/inference/inference-limits.ts'
import { HOPS_MAX } from '../../../schemas/models/provider-limits.ts'
import { endpointUnconfigured } from '../../../schemas/models/unconfigured.ts'
import type {
  Inference,
  CountedPrompt,
  CountJob,
  InferenceJob,
  InferencePlan,
  PresetBy,
} from '../../ports/inference/inference.ts'
import type { CallableModel, Endpoint } from '../../ports/models/models.ts'
import type { BreakerReading, Log, Meters } from '../../ports/observe.ts'
import type { ShortJobs } from '../../ports/short-jobs.ts'
import { CallInstants } from '../cost-bound.ts'
import { Attempts } from '../routing/attempts.ts'
import { choosePriced, pricedChoices } from '../routing/priced.ts'
import { route, type RoutedCall } from '../routing/route.ts'
import { TargetTable, type Target } from '../routing/targets.ts'
import { isPriced } from './bounds.ts'
import { mergePreset, type Merging } from './merge-preset.ts'
import { CallPrices } from './call-prices.ts'
import { CallMedia } from './inline/call-media.ts'
import { OpenStreams } from './open-streams.ts'
import { writerOpener, type OpenWriterDeps } from './open-writer.ts'
import type { WritingProtocol } from './protocol.ts'
import { boundInputOf, RoutedText, fittingEndpoints } from './routed-text.ts'
import { takersOf, type Takers } from './translated/takers.ts'
import { LearnedRates } from './text-usage.ts'
import { isOfCall, TextPlan, type SharedByCalls, type WritingChoice } from './writing-call.ts'

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

class RoutingInference implements Inference {
  readonly streamHoldMs: number
  readonly #targets: TargetTable<WritingProtocol>
  readonly #shared: SharedByCalls
  readonly #unixNow: () => number
  readonly #jobs: ShortJobs

  constructor(options: InferenceOptions) {
    const { log, meters, now, random, streamHoldMs, jobs, egress } = options
    this.#jobs = jobs
    this.streamHoldMs = streamHoldMs
    this.#targets = new TargetTable({ open: writerOpener(options), random })
    const attempts = new Attempts({ targets: this.#targets, log, meters, now })
    const [rates, open] = [new LearnedRates(), new OpenStreams(now)]
    this.#shared = { attempts, rates, open, meters, egress, now }
    this.#unixNow = options.unixNow ?? Date.now
  }

  breakers(): readonly BreakerReading[] {
    return this.#targets.breakers(this.#shared.now())
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
    const media = new CallMedia(this.#shared.egress, job)
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
    const instants = new CallInstants(this.#unixNow(), this.#shared.now(), job.deadlineAt)
    const prices = new CallPrices(job.request, instants)
    const bounded = boundInputOf(job, instants)
    const chosen = takers.ok ? this.#choices(job, bounded, takers.value) : takers
    if (!chosen.ok) return chosen
    const plan = new TextPlan({ job, choices: chosen.value, prices, bounded, shared: this.#shared })
    const { ambiguous } = job.request.source
    return ambiguous !== null && plan.isHeld
      ? fail('body_invalid', { metadata: { issues: [ambiguous] } })
      : ok(plan)
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
    const isWhole = fitting.value.length === model.endpoints.length
    const fit = isWhole ? model : { ...model, endpoints: fitting.value }
    const routed = route(fit, call, (endpoint) => this.#targets.healthOf(endpoint))
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
}

function isLocal({ provider }: Endpoint): boolean {
  return provider.protocol === 'local'
}
