import { setImmediate as turn } from 'node:timers/promises'
import { endedBy } from '../../../schemas/values/call-ended.ts'
import { isCounted } from '../../../schemas/money/costs.ts'
import type { InputKind } from '../../../schemas/embeddings/embeddings.ts'
import { fail, ok, type Failure, type Outcome } from '../../../schemas/failures.ts'
import { EMBEDDINGS_HOPS_MAX } from '../../../schemas/embeddings/embedding-limits.ts'
import { endpointUnconfigured } from '../../../schemas/models/unconfigured.ts'
import type {
  EmbeddingJob,
  EmbeddingPlan,
  Embedder,
  EmbeddingsResult,
} from '../../ports/embeddings/embeddings.ts'
import type { Egress } from '../../ports/egress/egress.ts'
import type { Endpoint } from '../../ports/models/models.ts'
import type { BreakerReading, FailedAttempt, Log, Meters } from '../../ports/observe.ts'
import type { ShortJobs } from '../../ports/short-jobs.ts'
import { costBoundOf, mostTokens } from './bounds.ts'
import { isStrike, mayFallBack } from './fallbacks.ts'
import { STRIKES_OF_FAILURE, STRIKES_OF_TIMEOUT } from './health.ts'
import { mediaOf, shapeOf, type InputShape } from './input-shape.ts'
import type { Credential } from '../credential.ts'
import type { Reading } from './protocol.ts'
import { MISCOUNTED } from './read-answer.ts'
import { route } from './routing.ts'
import { TargetTable, type Target } from './targets.ts'
import { Trail } from './trail.ts'
import { judgeUsage } from './usage.ts'

export interface EmbedderOptions {
  readonly egress: Egress
  readonly jobs: ShortJobs
  /**
   * Keys of the operator by the name of their environment variable; a provider without its key is not used.
   */
  readonly credentials: ReadonlyMap<string, Credential>
  readonly log: Log
  readonly meters: Pick<Meters, 'upstream'>
  /** Milliseconds of the same clock as the deadlines. */
  readonly now: () => number
  /** A number from 0 to 1. */
  readonly random: () => number
}

/**
 * The embedder of a front: endpoints by preferences and health, attempts inside the call's deadline. Design
 * §10.
 */
export function createEmbedder(
  options: EmbedderOptions,
): Embedder & { breakers(): readonly BreakerReading[] } {
  return new RoutingEmbedder(options)
}

class RoutingEmbedder implements Embedder {
  readonly #targets: TargetTable
  readonly #log: Log
  readonly #meters: Pick<Meters, 'upstream'>
  readonly #now: () => number

  constructor(options: EmbedderOptions) {
    this.#targets = new TargetTable(options)
    this.#log = options.log
    this.#meters = options.meters
    this.#now = options.now
  }

  breakers(): readonly BreakerReading[] {
    return this.#targets.breakers(this.#now())
  }

  plan(job: EmbeddingJob): Outcome<EmbeddingPlan> {
    const { input } = job.request
    const shape = shapeOf(input)
    const chosen = this.#choosePriced(job, shape) ?? this.#choose(job, shape)
    if (!chosen.ok) return chosen
    const targets = chosen.value
    return ok({ bound: costBoundOf(targets, input, shape), run: () => this.#run(job, shape, targets) })
  }

  async #run(
    job: EmbeddingJob,
    shape: InputShape,
    targets: readonly Target[],
  ): Promise<Outcome<EmbeddingsResult>> {
    const trail = new Trail()
    for (const target of targets) {
      const startedAt = this.#now()
      if (startedAt >= job.deadlineAt)
        return { ok: false, failure: trail.ended({ name: 'deadline_exceeded' }) }
      // The signal is read only when there was time to leave: a signal that is never read is never created.
      if (trail.length > 0 && (await hasEnded(job)))
        return { ok: false, failure: trail.ended(endedBy(job.call.signal)) }
      if (!target.health.admit(startedAt, job.caller.key)) {
        trail.skipped(target.health.restMs(startedAt, job.caller.key))
        continue
      }
      const tried: Try = { job, shape, target, startedAt }
      const outcome = await this.#attempt(tried)
      if (outcome.ok) return ok(this.#result(outcome.value, tried, trail))
      const { provider } = target.endpoint
      const failure = this.#learn(outcome.failure, tried)
      if (!mayFallBack(failure)) return { ok: false, failure: trail.ending(failure, provider) }
      trail.add(failure, provider)
    }
    return { ok: false, failure: trail.last() }
  }

  /**
   * The model without the endpoints whose cost no limit of the caller can bound; null where the model has no
   * such endpoints, or only such. C40.
   */
  #choosePriced(job: EmbeddingJob, shape: InputShape): Outcome<readonly Target[]> | null {
    const { model, limits } = job
    if (limits === null || !model.endpoints.some(isUnpriced)) return null
    const bounded = model.endpoints.filter(
      (endpoint) => !endpoint.isUnpriced || !isCounted(limits, endpoint.ownWay !== undefined),
    )
    if (bounded.length === 0 || bounded.length === model.endpoints.length) return null
    const chosen = this.#choose({ ...job, model: { ...model, endpoints: bounded } }, shape)
    return chosen.ok ? chosen : null
  }

  /** Endpoints that the preferences leave, that are configured, and whose protocol supports the input. */
  #choose(job: EmbeddingJob, shape: InputShape): Outcome<readonly Target[]> {
    const { model, request } = job
    const routed = route(model, request, (endpoint) => this.#targets.healthOf(endpoint))
    if (!routed.ok) return routed
    const { hops = 0 } = job
    const targets: Target[] = []
    let [isSetUp, isCircular] = [false, false]
    for (const endpoint of routed.value) {
      const target = this.#targets.of(endpoint)
      if (target === null) continue
      isSetUp = true
      // In a cycle of providers each call would cause the next; private endpoints have the same bound.
      const isTooFar = hops > EMBEDDINGS_HOPS_MAX && endpoint.provider.protocol !== 'local'
      isCircular ||= isTooFar
      if (isTooFar) continue
      if (target.protocol.takes(shape)) targets.push(target)
    }
    if (!isSetUp) return endpointUnconfigured(model)
    if (isCircular && targets.length === 0) return fail('hops_exceeded', { fields: { hops } })
    const foreign = shape.kind === 'objects' ? foreignTo(model.inputModalities, mediaOf(request.input)) : null
    if (foreign !== null)
      return fail('input_unsupported', {
        detail: `It does not take ${foreign}; it takes ${model.inputModalities.join(', ')}.`,
      })
    return targets.length === 0
      ? fail('input_unsupported', { detail: this.#formsOf(routed.value) })
      : ok(targets)
  }

  /** The forms of input that at least one of the endpoints accepts. */
  #formsOf(endpoints: readonly Endpoint[]): string {
    const protocols = endpoints.flatMap((endpoint) => this.#targets.of(endpoint)?.protocol ?? [])
    // The keys of `FORMS` are the kinds.
    const kinds = Object.keys(FORMS) as InputKind[]
    const taken = kinds.filter((kind) => protocols.some((protocol) => protocol.takes({ kind, count: 1 })))
    return `It takes: ${taken.map((kind) => FORMS[kind]).join(', ')}.`
  }

  /**
   * This method is no async function: on the hot path each async function costs a turn of the microtask
   * queue.
   */
  #attempt({ job, shape, target, startedAt }: Try): Promise<Outcome<Reading>> {
    const { endpoint, protocol, health } = target
    const endsAt = Math.min(startedAt + endpoint.provider.timeoutMs, job.deadlineAt)
    const { request, deadlineAt, caller, call, requestId = null, hops = 0 } = job
    const reading = protocol.embed({ request, shape, endsAt, deadlineAt, caller, requestId, hops, call })
    if (!health.isOpen) return reading
    return reading.catch((bug: unknown) => {
      // A probe without a report would keep the breaker open for ever.
      health.unknown(job.caller.key)
      throw bug
    })
  }

  #result(reading: Reading, { job, shape, target, startedAt }: Try, trail: Trail): EmbeddingsResult {
    const { endpoint, health } = target
    const upstreamMs = this.#now() - startedAt
    const usage = judgeUsage(reading, job.request.input, { shape, contextLength: endpoint.contextLength })
    // A provider that reports too many tokens must not count as faster.
    const most = mostTokens(job.request.input, shape, endpoint.contextLength)
    health.answered(upstreamMs, Math.min(usage.promptTokens, most ?? Infinity))
    this.#meters.upstream(endpoint.provider.slug, 'ok', upstreamMs)
    return {
      data: reading.data,
      promptTokens: usage.promptTokens,
      totalTokens: usage.totalTokens,
      isEstimated: usage.isEstimated,
      provider: endpoint.provider.slug,
      promptNanoPerMillion: endpoint.promptNanoPerMillion,
      requestNano: endpoint.requestNano,
      isUnpriced: endpoint.isUnpriced,
      isByok: endpoint.ownWay !== undefined,
      attempts: trail.length + 1,
      previousErrors: trail.errors,
      upstreamMs,
      release: reading.release,
    }
  }

  /**
   * Reports a failure to the endpoint's health and the log. A failure that the call's own deadline caused
   * becomes that deadline.
   */
  #learn(failure: Failure, { job, target, startedAt }: Try): Failure {
    const { endpoint, health } = target
    const { name } = failure
    const now = this.#now()
    const wasOpen = health.isOpen
    const strikes = name === 'upstream_slow' ? STRIKES_OF_TIMEOUT : STRIKES_OF_FAILURE
    const attemptEndsAt = startedAt + endpoint.provider.timeoutMs
    // The call's own deadline cut this attempt: the endpoint might have answered within its own timeout.
    const isCut = name === 'upstream_slow' && attemptEndsAt > job.deadlineAt
    if (isStrike(failure) && failure.cause !== MISCOUNTED && !isCut)
      health.strike(now, strikes, job.caller.key, this.#targets.isAlone(job.model.endpoints))
    else if (name === 'upstream_refused') health.alive()
    else health.unknown(job.caller.key)
    this.#meters.upstream(endpoint.provider.slug, name, now - startedAt)
    const durationMs = Math.round(now - startedAt)
    const attempt = failedAttempt(failure, endpoint.provider.slug)
    if (job.call.notes !== undefined) (job.call.notes.failedAttempts ??= []).push(attempt)
    const fields = { ...attempt, endpoint: endpoint.tag, failure: name, durationMs }
    this.#log.debug('upstream.attempt_failed', fields)
    if (health.isOpen && !wasOpen) {
      this.#targets.opened(target)
      this.#log.warn('upstream.breaker_opened', fields)
    }
    const isDeadline = name === 'upstream_slow' && attemptEndsAt >= job.deadlineAt
    return isDeadline ? { ...failure, name: 'deadline_exceeded' } : failure
  }
}

function isUnpriced(endpoint: Endpoint): boolean {
  return endpoint.isUnpriced
}

const FORMS: Readonly<Record<InputKind, string>> = {
  string: 'a string',
  strings: 'an array of strings',
  numbers: 'an array of token ids',
  lists: 'an array of arrays of token ids',
  objects: 'an array of objects with content parts',
}

/** One attempt of one call. */
interface Try {
  readonly job: EmbeddingJob
  readonly shape: InputShape
  readonly target: Target
  readonly startedAt: number
}

/** The logged facts of a failed attempt. */
function failedAttempt({ name, fields, metadata, cause }: Failure, provider: string): FailedAttempt {
  const status = fields?.['status']
  const broken =
    cause instanceof Error && 'code' in cause && typeof cause.code === 'string' ? cause.code : name
  return {
    provider,
    status: typeof status === 'number' ? status : null,
    code: metadata?.provider_code ?? broken,
  }
}

/** The first modality that the model does not accept; null when it accepts all. */
function foreignTo(taken: readonly string[], media: ReadonlySet<string>): string | null {
  for (const modality of media) if (!taken.includes(modality)) return modality
  return null
}

/**
 * True when the call has ended. While a provider works on a call, Sluice does not watch whether the client
 * leaves; between two attempts it does. C24.
 */
async function hasEnded({ call }: EmbeddingJob): Promise<boolean> {
  call.sent?.(false)
  // Immediates of this turn run before the event loop polls the sockets again.
  await turn()
  await turn()
  return call.signal.aborted
}
