import type { InputKind } from '../../schemas/embeddings/embeddings.ts'
import { fail, ok, type Outcome } from '../../schemas/failures.ts'
import { TOKENS_PER_PRICE } from '../../schemas/money/costs.ts'
import { priceAt, type ResolvedPrice } from '../../schemas/money/price-at.ts'
import { HOPS_MAX } from '../../schemas/models/provider-limits.ts'
import { endpointUnconfigured } from '../../schemas/models/unconfigured.ts'
import type { EmbeddingJob, Embedder, EmbeddingsRequest } from '../ports/embeddings/embeddings.ts'
import type { ModelReply, PaymentPorts } from '../ports/model-calls.ts'
import type { CallableModel, Endpoint } from '../ports/models/models.ts'
import type { BreakerReading, Log, Meters } from '../ports/observe.ts'
import { Attempts } from '../upstream/routing/attempts.ts'
import { route, type RoutedCall } from '../upstream/routing/route.ts'
import { TargetTable } from '../upstream/routing/targets.ts'
import { mediaOf, shapeOf, type InputShape } from '../upstream/embeddings/input-shape.ts'
import { endpointOpener, type OpenEndpointDeps } from '../upstream/embeddings/open-endpoint.ts'
import { callNano } from '../upstream/embeddings/bounds.ts'
import { EmbeddingCall, type EmbeddingTarget, type SharedByCalls } from './embedding-call.ts'
import type { EmbeddingProtocol } from '../upstream/embeddings/protocol.ts'
import { estimateTokens } from '../upstream/embeddings/usage.ts'
import { NO_TIERS } from '../../schemas/models/price-conditions.ts'
import { choosePriced } from '../upstream/cost-bound.ts'

interface EmbedderOptions extends OpenEndpointDeps {
  readonly log: Log
  readonly meters: Pick<Meters, 'upstream'>
  /** Milliseconds of the same clock as the deadlines. */
  readonly now: () => number
  /** Unix milliseconds; absent: of the wall clock. */
  readonly unixNow?: () => number
  /** A number from 0 to 1. */
  readonly random: () => number
}

/** The embedder of a front: endpoints by preferences and health, attempts inside the call's deadline. Design §10. */
export function createEmbedder(
  options: EmbedderOptions,
): Embedder & { breakers(): readonly BreakerReading[] } {
  return new RoutingEmbedder(options)
}

/** Never changed: the first target creates a new list. */
const NO_TARGETS: EmbeddingTarget[] = []

class RoutingEmbedder implements Embedder {
  readonly #targets: TargetTable<EmbeddingProtocol>
  readonly #shared: SharedByCalls

  constructor(options: EmbedderOptions) {
    const { log, meters, now, random, unixNow = Date.now } = options
    this.#targets = new TargetTable({ open: endpointOpener(options), random })
    const attempts = new Attempts({ targets: this.#targets, log, meters, now })
    this.#shared = { attempts, meters, now, unixNow }
  }

  breakers(): readonly BreakerReading[] {
    return this.#targets.breakers(this.#shared.now())
  }

  answer(job: EmbeddingJob, ports: PaymentPorts): Outcome<ModelReply> | Promise<Outcome<ModelReply>> {
    const shape = shapeOf(job.request.input)
    const chosen = choosePriced(job.model, job.limits, (model) => this.#choose(model, job, shape))
    if (!chosen.ok) return chosen
    return new EmbeddingCall({ job, shape, targets: chosen.value, shared: this.#shared, ports }).pay()
  }

  /** Endpoints that the preferences permit, that are configured, and whose protocol supports the input. */
  #choose(
    model: CallableModel,
    { request, hops }: EmbeddingJob,
    shape: InputShape,
  ): Outcome<readonly EmbeddingTarget[]> {
    const routed = route(model, new RoutedEmbeddings(request, this.#shared.unixNow()), (endpoint) =>
      this.#targets.healthOf(endpoint),
    )
    if (!routed.ok) return routed
    let targets: EmbeddingTarget[] = NO_TARGETS
    let [isSetUp, isCircular] = [false, false]
    for (const endpoint of routed.value) {
      const target = this.#targets.of(endpoint)
      if (target === null) continue
      isSetUp = true
      // If providers form a cycle, each call would cause another; private endpoints have the same limit.
      const isTooFar = hops > HOPS_MAX && endpoint.provider.protocol !== 'local'
      isCircular ||= isTooFar
      if (isTooFar) continue
      if (!target.protocol.takes(shape)) continue
      // A push onto an empty list would reserve room for seventeen.
      if (targets === NO_TARGETS) targets = [target]
      else targets.push(target)
    }
    if (!isSetUp) return endpointUnconfigured(model)
    if (isCircular && targets.length === 0) return fail('hops_exceeded', { fields: { hops } })
    const foreign = shape.kind === 'objects' ? foreignTo(model.inputModalities, mediaOf(request.input)) : null
    if (foreign !== null)
      return fail('input_unsupported', {
        detail: `The model does not support ${foreign}; it supports ${model.inputModalities.join(', ')}.`,
      })
    return targets.length === 0
      ? fail('input_unsupported', { detail: this.#formsOf(routed.value) })
      : ok(targets)
  }

  /** The kinds of input that at least one of the endpoints accepts. */
  #formsOf(endpoints: readonly Endpoint[]): string {
    const protocols = endpoints.flatMap((endpoint) => this.#targets.of(endpoint)?.protocol ?? [])
    // The keys of `FORMS` are the kinds.
    const kinds = Object.keys(FORMS) as InputKind[]
    const taken = kinds.filter((kind) =>
      protocols.some((protocol) => protocol.takes({ kind, count: 1, pictures: 0 })),
    )
    return `The model supports: ${taken.map((kind) => FORMS[kind]).join(', ')}.`
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

class RoutedEmbeddings implements RoutedCall {
  readonly #request: EmbeddingsRequest
  readonly #at: number

  /** @param at Unix milliseconds */
  constructor(request: EmbeddingsRequest, at: number) {
    this.#request = request
    this.#at = at
  }

  get preferences(): RoutedCall['preferences'] {
    return this.#request.provider ?? null
  }

  /** Sluice itself applies `encoding_format`. */
  parameters(): readonly string[] {
    return (['dimensions', 'input_type'] as const).filter((name) => this.#request[name] !== undefined)
  }

  costAt(endpoint: Endpoint): number {
    const price = this.priceAt(endpoint)
    const other = callNano(price, shapeOf(this.#request.input))
    return (this.#promptTokens() * price.promptNanoPerMillion) / TOKENS_PER_PRICE + other
  }

  /** The price now, for the estimated number of tokens. */
  priceAt(endpoint: Endpoint): ResolvedPrice {
    if (endpoint.prices.conditions === null) return endpoint.prices
    return priceAt(endpoint, { promptTokens: this.#promptTokens(), at: this.#at, reported: NO_TIERS })
  }

  #promptTokens(): number {
    const { input } = this.#request
    return estimateTokens(input, { shape: shapeOf(input), contextLength: null })
  }

  hasMedia(kind: 'image' | 'audio'): boolean {
    return mediaOf(this.#request.input).has(kind)
  }
}
