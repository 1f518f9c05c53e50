import { UPSTREAM_TIMEOUT_MS_DEFAULT } from '../../schemas/limits.ts'
import type { Model, Pricing } from '../../schemas/models.ts'
import type { Endpoint, ModelBodies, Provider, ResolvedModel } from '../ports/models.ts'
import type { EndpointEntry, ModelEntry, ProviderEntry } from './format.ts'
import { nano, nanoPerMillion } from './prices.ts'
import { type Offer, type Shown, tagOf, wireEndpoints, wireModel } from './wire.ts'

/** What a caller pays for what the catalogue puts no price on; the four that §2.10 names are always told. */
const FREE: Pricing = { prompt: '0', completion: '0', request: '0', image: '0' }

/** A model with all that answers for it: itself first, then its variants, each under its suffix ('' for none). */
export interface BuiltModel {
  readonly entry: ModelEntry
  readonly model: ResolvedModel
  readonly bySuffix: ReadonlyMap<string, ResolvedModel>
}

export function buildProvider(entry: ProviderEntry): Provider {
  return {
    slug: entry.slug,
    name: entry.name ?? entry.slug,
    protocol: entry.protocol,
    baseUrl: (entry.base_url ?? '').replace(/\/+$/, ''),
    apiKeyEnv: entry.api_key_env ?? null,
    timeoutMs: entry.timeout_ms ?? UPSTREAM_TIMEOUT_MS_DEFAULT,
    rename: entry.rename ?? {},
  }
}

/** @param entry checked: its providers exist and its prices can be counted */
export function buildModel(entry: ModelEntry, providers: ReadonlyMap<string, Provider>): BuiltModel {
  const model = resolved(entry, entry.id, { pricing: entry.pricing, endpoints: entry.endpoints ?? [] }, providers)
  const bySuffix = new Map([['', model]])
  for (const variant of entry.variants ?? []) {
    const { suffix, pricing, endpoints } = typeof variant === 'string' ? { suffix: variant } : variant
    // A variant's price is for all of its endpoints, unless it brings endpoints with prices of their own.
    const inherited = (entry.endpoints ?? []).map((endpoint) => (pricing === undefined ? endpoint : { ...endpoint, pricing }))
    const terms = { pricing: pricing ?? (endpoints === undefined ? entry.pricing : undefined), endpoints: endpoints ?? inherited }
    bySuffix.set(`:${suffix}`, resolved(entry, `${entry.id}:${suffix}`, terms, providers))
  }
  return { entry, model, bySuffix }
}

/** The same model as an alias answers it: the canonical one, and `alias_target`. C21. */
export function underAlias(model: ResolvedModel): ResolvedModel {
  const wire: Model = { ...model.wire, alias_target: { name: model.wire.name, slug: model.canonicalSlug } }
  return { ...model, wire, bodies: new RenderedBodies(wire, () => model.bodies.endpoints) }
}

interface Terms {
  readonly pricing: Partial<Pricing> | undefined
  readonly endpoints: readonly EndpointEntry[]
}

function resolved(entry: ModelEntry, id: string, terms: Terms, providers: ReadonlyMap<string, Provider>): ResolvedModel {
  const offers = terms.endpoints.map((endpoint) => offerOf(endpoint, terms.pricing, providers))
  const declared = terms.pricing ?? terms.endpoints.find((endpoint) => endpoint.pricing !== undefined)?.pricing
  const shown: Shown = { id, entry, pricing: { ...FREE, ...declared }, offers }
  const wire = wireModel(shown)
  return {
    id,
    canonicalSlug: wire.canonical_slug,
    isEmbedding: wire.architecture.output_modalities.includes('embeddings'),
    isUnpriced: declared === undefined,
    contextLength: wire.context_length,
    inputModalities: wire.architecture.input_modalities,
    endpoints: offers.map((offer) => endpointOf(entry, offer)),
    wire,
    bodies: new RenderedBodies(wire, () => render(wireEndpoints(shown))),
  }
}

function offerOf(entry: EndpointEntry, pricing: Terms['pricing'], providers: ReadonlyMap<string, Provider>): Offer {
  const provider = providers.get(entry.provider)
  if (provider === undefined) throw new Error(`catalogue: provider ${entry.provider} was not checked`)
  return { entry, provider, pricing: { ...FREE, ...(entry.pricing ?? pricing) } }
}

function endpointOf(model: ModelEntry, { entry, provider, pricing }: Offer): Endpoint {
  return {
    tag: tagOf(entry),
    provider,
    upstreamModel: entry.upstream_model,
    promptNanoPerMillion: counted(nanoPerMillion(pricing.prompt)),
    requestNano: counted(nano(pricing.request ?? '0')),
    quantization: entry.quantization ?? null,
    isZdr: entry.zdr ?? null,
    mayTrain: entry.may_train ?? null,
    isDistillable: entry.distillable ?? null,
    contextLength: entry.context_length ?? model.context_length ?? null,
    supportedParameters: entry.supported_parameters ?? model.supported_parameters ?? [],
  }
}

function counted(price: number | null): number {
  if (price === null) throw new Error('catalogue: a price was not checked')
  return price
}

/** Renders each body when it is first asked for and keeps it: a large catalogue boots fast, a read never serialises twice. */
class RenderedBodies implements ModelBodies {
  readonly #wire: Model
  readonly #renderEndpoints: () => Uint8Array
  #answer: Uint8Array | null = null
  #item: Uint8Array | null = null
  #endpoints: Uint8Array | null = null

  constructor(wire: Model, renderEndpoints: () => Uint8Array) {
    this.#wire = wire
    this.#renderEndpoints = renderEndpoints
  }

  get answer(): Uint8Array {
    return (this.#answer ??= render({ data: this.#wire }))
  }

  get item(): Uint8Array {
    return (this.#item ??= render(this.#wire))
  }

  get endpoints(): Uint8Array {
    return (this.#endpoints ??= this.#renderEndpoints())
  }
}

function render(value: object): Uint8Array {
  return Buffer.from(JSON.stringify(value))
}
