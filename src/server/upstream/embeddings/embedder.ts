import type { InputKind } from '../../../schemas/embeddings/embeddings.ts'
import { fail, ok, type Outcome } from '../../../schemas/failures.ts'
import { HOPS_MAX } from '../../../schemas/models/provider-limits.ts'
import { endpointUnconfigured } from '../../../schemas/models/unconfigured.ts'
import type {
  EmbeddingJob,
  EmbeddingPlan,
  Embedder,
  EmbeddingsRequest,
  EmbeddingsResult,
} from '../../ports/embeddings/embeddings.ts'
import type { CallableModel, Endpoint } from '../../ports/models/models.ts'
import type { BreakerReading, Log, Meters } from '../../ports/observe.ts'
import { Attempts, type Try } from '../routing/attempts.ts'
import { choosePriced } from '../routing/priced.ts'
import { route, type RoutedCall } from '../routing/route.ts'
import { TargetTable, type Target } from '../routing/targets.ts'
import { costBoundOf, mostTokens } from './bounds.ts'
import { mediaOf, shapeOf, type InputShape } from './input-shape.ts'
import { endpointOpener, type OpenEndpointDeps } from './open-endpoint.ts'
import type { EmbeddingProtocol, Reading } from './protocol.ts'
import { MISCOUNTED } from './read-answer.ts'
import { estimateTokens, judgeUsage } from './usage.ts'

export interface EmbedderOptions extends OpenEndpointDeps {
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

type EmbeddingTarget = Target<EmbeddingProtocol>

class RoutingEmbedder implements Embedder {
  readonly #targets: TargetTable<EmbeddingProtocol>
  readonly #attempts: Attempts<EmbeddingProtocol>
  readonly #meters: Pick<Meters, 'upstream'>
  readonly #now: () => number

  constructor(options: EmbedderOptions) {
    const { log, meters, now, random } = options
    this.#targets = new TargetTable({ open: endpointOpener(options), random })
    this.#attempts = new Attempts({ targets: this.#targets, log, meters, now })
    this.#meters = meters
    this.#now = now
  }

  breakers(): readonly BreakerReading[] {
    return this.#targets.breakers(this.#now())
  }

  plan(job: EmbeddingJob): Outcome<EmbeddingPlan> {
    const { input } = job.request
    const shape = shapeOf(input)
    const chosen = choosePriced(job.model, job.limits, (model) => this.#choose(model, job, shape))
    if (!chosen.ok) return chosen
    const targets = chosen.value
    return ok({
      bound: costBoundOf(targets, input, shape),
      estimatedTokens: () =>
        estimateTokens(input, { shape, contextLength: targets[0]?.endpoint.contextLength ?? null }),
      run: () => this.#run(job, shape, targets),
    })
  }

  #run(
    job: EmbeddingJob,
    shape: InputShape,
    targets: readonly EmbeddingTarget[],
  ): Promise<Outcome<EmbeddingsResult>> {
    const { model } = job
    const choices = targets.map((target) => ({ model, target }))
    return this.#attempts.run(job, choices, {
      endsAtOf: ({ provider }, startedAt) => startedAt + provider.timeoutMs,
      attempt: (tried) => this.#attempt(job, shape, tried),
      answered: (reading, tried) => this.#result(reading, tried, { job, shape }),
      isInnocent: ({ cause }) => cause === MISCOUNTED,
    })
  }

  /** Endpoints that the preferences leave, that are configured, and whose protocol supports the input. */
  #choose(
    model: CallableModel,
    { request, hops = 0 }: EmbeddingJob,
    shape: InputShape,
  ): Outcome<readonly EmbeddingTarget[]> {
    const routed = route(model, new RoutedEmbeddings(request), (endpoint) => this.#targets.healthOf(endpoint))
    if (!routed.ok) return routed
    const targets: EmbeddingTarget[] = []
    let [isSetUp, isCircular] = [false, false]
    for (const endpoint of routed.value) {
      const target = this.#targets.of(endpoint)
      if (target === null) continue
      isSetUp = true
      // In a cycle of providers each call would cause the next; private endpoints have the same bound.
      const isTooFar = hops > HOPS_MAX && endpoint.provider.protocol !== 'local'
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

  #attempt(
    job: EmbeddingJob,
    shape: InputShape,
    { target, endsAt: attemptEndsAt }: Try<EmbeddingProtocol>,
  ): Promise<Outcome<Reading>> {
    const endsAt = Math.min(attemptEndsAt, job.deadlineAt)
    const { request, deadlineAt, caller, call, requestId = null, hops = 0 } = job
    return target.protocol.embed({ request, shape, endsAt, deadlineAt, caller, requestId, hops, call })
  }

  #result(
    reading: Reading,
    { target, startedAt, trail }: Try<EmbeddingProtocol>,
    { job, shape }: { readonly job: EmbeddingJob; readonly shape: InputShape },
  ): EmbeddingsResult {
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
}

const FORMS: Readonly<Record<InputKind, string>> = {
  string: 'a string',
  strings: 'an array of strings',
  numbers: 'an array of token ids',
  lists: 'an array of arrays of token ids',
  objects: 'an array of objects with content parts',
}

/** The first modality that the model does not accept; null when it accepts all. */
function foreignTo(taken: readonly string[], media: ReadonlySet<string>): string | null {
  for (const modality of media) if (!taken.includes(modality)) return modality
  return null
}

const TOKENS_PER_PRICE = 1e6

class RoutedEmbeddings implements RoutedCall {
  readonly #request: EmbeddingsRequest

  constructor(request: EmbeddingsRequest) {
    this.#request = request
  }

  get preferences(): RoutedCall['preferences'] {
    return this.#request.provider ?? null
  }

  /** Sluice itself applies `encoding_format`. */
  parameters(): readonly string[] {
    return (['dimensions', 'input_type'] as const).filter((name) => this.#request[name] !== undefined)
  }

  costAt({ promptNanoPerMillion, requestNano }: Endpoint): number {
    const { input } = this.#request
    const tokens = estimateTokens(input, { shape: shapeOf(input), contextLength: null })
    return (tokens * promptNanoPerMillion) / TOKENS_PER_PRICE + requestNano
  }

  hasMedia(kind: 'image' | 'audio'): boolean {
    return mediaOf(this.#request.input).has(kind)
  }
}
