import { fail, ok, type Outcome } from '../../schemas/failures.ts'
import type { CompleteText, TextRequest, Dialect } from '../../schemas/inference/text-request.ts'
import { ATTEMPTS_MAX } from '../../schemas/inference/inference-limits.ts'
import { HOPS_MAX } from '../../schemas/models/provider-limits.ts'
import { endpointUnconfigured } from '../../schemas/models/unconfigured.ts'
import type {
  Inference,
  CountedPrompt,
  CountJob,
  InferenceJob,
  AnswerPorts,
  TextForm,
  TextJob,
  PresetBy,
} from '../ports/inference/inference.ts'
import type { CallableModel, Endpoint, OwnWay, EndpointText } from '../ports/models/models.ts'
import type { BreakerReading, Log, Meters } from '../ports/observe.ts'
import type { ShortJobs } from '../ports/short-jobs.ts'
import { CallInstants, choosePriced, pricedChoices } from '../upstream/cost-bound.ts'
import { Attempts } from '../upstream/routing/attempts.ts'
import { route, type RoutedCall } from '../upstream/routing/route.ts'
import { TargetTable, type Target } from '../upstream/routing/targets.ts'
import { isPriced } from './bounds.ts'
import { mergePreset, type Merging } from '../upstream/inference/merge-preset.ts'
import { CallMedia } from '../upstream/inference/inline/call-media.ts'
import type { WritingProtocol } from '../upstream/inference/protocol.ts'
import {
  boundInputOf,
  RoutedText,
  fittingEndpoints,
  TextPlan,
  isOfCall,
  type SharedByCalls,
  type WritingChoice,
} from './plan.ts'
import { takersOf, type Takers } from '../upstream/inference/translated/takers.ts'
import { LearnedRates, CallPrices } from './charge.ts'
import { CollectedText, StreamedText } from './replies.ts'
import type { TextCallInput } from './text-call.ts'
import type { ModelReply } from '../ports/model-calls.ts'
import { OpenStreams } from './meter.ts'
import type { Caller } from '../../schemas/values/callers.ts'
import type { AnswerRoom, Egress } from '../ports/egress/egress.ts'
import { LoopBudget } from '../structures/loop-budget.ts'
import { headerOf, type Credential, type CredentialHeader } from '../upstream/credential.ts'
import { ofOwnKey, OwnCredential } from '../upstream/endpoints/own-credential.ts'
import { ownAccess } from '../upstream/endpoints/own-origin.ts'
import { ProviderLink, type LinkDeps } from '../upstream/link.ts'
import { operatorAccess } from '../upstream/provider-headers.ts'
import { Echo, EchoHouse } from '../upstream/inference/echo.ts'
import { Drains } from './relay.ts'
import { WritingEndpoint } from './send.ts'
import { DIALECTS } from '../../schemas/inference/text-request.ts'
import { Framing } from '../upstream/inference/framing.ts'
import { nativeWire } from '../upstream/inference/native-wire.ts'
import { isEcho, LearnedText, protocolFor } from '../upstream/inference/spoken.ts'
import { TranslatedWire } from '../upstream/inference/translated-wire.ts'
import type { Wire, WireOf } from '../upstream/inference/wire.ts'

export interface InferenceOptions extends OpenWriterDeps {
  /** Milliseconds without output after which the head of a streamed answer is sent. */
  readonly streamHoldMs: number
  readonly log: Log
  readonly meters: Pick<Meters, 'upstream' | 'streams'>
  /** Milliseconds of the same clock as the deadlines. */
  readonly now: () => number
  /** Unix milliseconds; absent: of the wall clock. */
  readonly unixNow?: () => number
  /** A number from 0 to 1. */
  readonly random: () => number
}

/** The text models of a front: chooses endpoints by preferences and health, and attempts them until one has begun to answer. */
export function createInference(
  options: InferenceOptions,
): Inference & { breakers(): readonly BreakerReading[] } {
  return new RoutingInference(options)
}

type WritingTarget = Target<WritingProtocol>
type Answered = Outcome<ModelReply> | Promise<Outcome<ModelReply>>

class RoutingInference implements Inference {
  readonly #targets: TargetTable<WritingProtocol>
  readonly #shared: SharedByCalls
  readonly #unixNow: () => number
  readonly #jobs: ShortJobs

  constructor(options: InferenceOptions) {
    const { log, meters, now, random, streamHoldMs, jobs, egress } = options
    this.#jobs = jobs
    this.#targets = new TargetTable({ open: writerOpener(options), random })
    const attempts = new Attempts({ targets: this.#targets, log, meters, now })
    const [rates, open] = [new LearnedRates(), new OpenStreams(now)]
    this.#shared = { attempts, rates, open, meters, egress, now, streamHoldMs }
    this.#unixNow = options.unixNow ?? Date.now
  }

  breakers(): readonly BreakerReading[] {
    return this.#targets.breakers(this.#shared.now())
  }

  withPreset(request: TextRequest, preset: Merging, by: PresetBy): Promise<Outcome<CompleteText>> {
    return mergePreset(request, preset, { ...by, jobs: this.#jobs })
  }

  /** Does not affect health: a provider that cannot count tokens may still write well. */
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

  answer(job: TextJob, form: TextForm, ports: AnswerPorts): Answered {
    const takers = takersOf(job, this.#jobs)
    return takers instanceof Promise
      ? takers.then((known) => this.#answer(job, known, { form, ports }))
      : this.#answer(job, takers, { form, ports })
  }

  #answer(
    job: TextJob,
    takers: Outcome<Takers | null>,
    { form, ports }: Omit<TextCallInput, 'plan'>,
  ): Answered {
    const planned = takers.ok ? this.#plan(job, takers.value) : takers
    if (!planned.ok) return planned
    const input = { plan: planned.value, form, ports }
    return (job.request.isStream ? new StreamedText(input) : new CollectedText(input)).pay()
  }

  #plan(job: TextJob, takers: Takers | null): Outcome<TextPlan> {
    const instants = new CallInstants(this.#unixNow(), this.#shared.now(), job.deadlineAt)
    const prices = new CallPrices(job.request, instants)
    const bounded = boundInputOf(job, instants)
    const chosen = this.#choices(job, bounded, takers)
    if (!chosen.ok) return chosen
    const plan = new TextPlan({ job, choices: chosen.value, prices, bounded, shared: this.#shared })
    const { ambiguous } = job.request.source
    return ambiguous !== null && plan.isHeld
      ? fail('body_invalid', { metadata: { issues: [ambiguous] } })
      : ok(plan)
  }

  /**
   * The endpoints of all models, each once. A model without an endpoint for this call is left out; if all
   * models are left out, the failure of the first is returned.
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

  /** Endpoints that the preferences permit, that can take the call and are configured. */
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
    // If providers form a cycle, each call would cause another.
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

interface OpenWriterDeps {
  readonly egress: Pick<Egress, 'trusted' | 'vetted' | 'room'>
  readonly jobs: ShortJobs
  /** Accounts the use of the loop by calls to models; absent: a separate account. */
  readonly loop?: LoopBudget
  /** Keys of the operator by the name of their environment variable; a provider without its key is not used. */
  readonly credentials: ReadonlyMap<string, Credential>
}

/** Opens endpoints of text models; null when the operator's key for the provider is not set. */
export function writerOpener({
  egress,
  jobs,
  loop = new LoopBudget(),
  credentials,
}: OpenWriterDeps): (endpoint: Endpoint) => WritingProtocol | null {
  const house = new EchoHouse(jobs)
  const drains = new Drains()
  return (endpoint) => {
    const { provider, ownWay, text } = endpoint
    if (isEcho(endpoint)) return new Echo(endpoint, house)
    if (text === null || provider.protocol === 'local') return null
    const open: Open = (access, key, credentialHeader = headerOf(provider.protocol)) => {
      const link = new ProviderLink(provider, { ...access, key, credentialHeader })
      const isVetted = ownWay !== undefined && ownWay.destination !== null
      const roomOf = (caller: Caller): AnswerRoom => egress.room(caller, isVetted)
      const wireOf = wiresOf(endpoint, text, { jobs, loop })
      return new WritingEndpoint({ endpoint, text, wireOf, link, drains, loop, roomOf })
    }
    if (ownWay !== undefined) return openOwn(endpoint, ownWay, { egress, open })
    const access = operatorAccess(provider, credentials)
    if (access === null) return null
    return open({ origin: egress.trusted(new URL(provider.baseUrl).origin), extra: access.extra }, access.key)
  }
}

type Open = (
  access: Pick<LinkDeps, 'origin' | 'extra'>,
  key: string | null,
  header?: CredentialHeader,
) => WritingProtocol

/** An endpoint with a workspace's own credential; null when the gate refuses its host or port. */
function openOwn(
  endpoint: Endpoint,
  way: OwnWay,
  { egress, open }: Pick<OpenWriterDeps, 'egress'> & { readonly open: Open },
): WritingProtocol | null {
  const access = ownAccess(endpoint, way, egress)
  if (access === null) return null
  const header = access.keyHeader ?? headerOf(endpoint.provider.protocol)
  const credential = new OwnCredential(way, (secret) => open(access, secret.reveal(), header))
  const isOwnKey = way.destination === null
  return {
    write(attempt) {
      const written = credential.under(attempt.job, (protocol) => protocol.write(attempt))
      return isOwnKey ? written.then((outcome) => ofOwnKey(outcome, way.secretName)) : written
    },
    count(job, media) {
      const counted = credential.under(job, (protocol) => protocol.count(job, media))
      return isOwnKey ? counted.then((outcome) => ofOwnKey(outcome, way.secretName)) : counted
    },
  }
}

/** The wires of an endpoint, created once for all of its calls. */
export function wiresOf(
  endpoint: Endpoint,
  text: EndpointText,
  how: { readonly jobs: ShortJobs; readonly loop: LoopBudget },
): WireOf {
  const learned = new LearnedText(text)
  const wires = new Map<Dialect, Wire>(
    DIALECTS.flatMap((dialect) => {
      const protocol = protocolFor(text, dialect)
      if (protocol === null) return []
      const deps = { endpoint, learned, framing: new Framing(protocol, how), ...how }
      return [
        [
          dialect,
          protocol === dialect ? nativeWire(dialect, deps) : new TranslatedWire(dialect, protocol, deps),
        ],
      ]
    }),
  )
  return (dialect) => wires.get(dialect) ?? null
}
