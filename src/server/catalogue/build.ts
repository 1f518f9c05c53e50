import { UPSTREAM_TIMEOUT_MS_DEFAULT } from '../../schemas/models/provider-limits.ts'
import type { Model, Pricing } from '../../schemas/models/models.ts'
import { endpointPrices } from '../../schemas/money/read-prices.ts'
import type { VideoModel } from '../../schemas/videos/video-models.ts'
import type { Endpoint, ModelBodies, Provider, ResolvedModel, VideoFacts } from '../ports/models/models.ts'
import type { EndpointEntry, ModelEntry, ProviderEntry } from './format.ts'
import { buildProviderText, endpointText } from './build-text.ts'
import { buildProviderVideo, endpointPricing, FREE_VIDEO, makesVideo, videoFacts } from './build-video.ts'
import { allTermsOf, isFree, isUnpriced, type Terms } from './terms.ts'
import { bareModel, type Offer, type Shown, tagOf, wireEndpoints, wireModel, zdrEndpoints } from './wire.ts'

/** Prices of an endpoint that has none in the catalogue; replies always contain the four that §2.10 names. */
export const FREE: Pricing = { prompt: '0', completion: '0', request: '0', image: '0' }

/** A model with the resolved model for each of its ids: the model itself for the suffix '', and each variant for its suffix. */
export interface BuiltModel {
  readonly entry: ModelEntry
  readonly model: ResolvedModel
  readonly bySuffix: ReadonlyMap<string, ResolvedModel>
}

/** @param entry a checked entry @param shipped origins of the addresses of the shipped catalogue */
export function buildProvider(entry: ProviderEntry, shipped: ReadonlySet<string>): Provider {
  const origin = originOf(entry)
  return {
    slug: entry.slug,
    name: entry.name ?? entry.slug,
    protocol: entry.protocol,
    baseUrl: (entry.base_url ?? '').replace(/\/+$/, ''),
    apiKeyEnv: entry.api_key_env ?? null,
    headers: Object.entries(entry.headers ?? {}).map(([name, value]) => ({
      name: name.toLowerCase(),
      ...(typeof value === 'string' ? { value, env: null } : { value: '', env: value.env }),
    })),
    timeoutMs: entry.timeout_ms ?? UPSTREAM_TIMEOUT_MS_DEFAULT,
    rename: entry.rename ?? {},
    video: buildProviderVideo(entry.protocol, entry.video),
    text: buildProviderText(entry),
    ...(origin !== null && shipped.has(origin) && { hasShippedAddress: true }),
    ...(entry.account_tier !== undefined && { accountTier: entry.account_tier }),
  }
}

/** The origin of a provider's address; null for one without an address. */
export function originOf({ base_url: address = '' }: ProviderEntry): string | null {
  return URL.canParse(address) ? new URL(address).origin : null
}

/** @param entry a checked entry: its providers exist and its prices can be counted */
export function buildModel(entry: ModelEntry, providers: ReadonlyMap<string, Provider>): BuiltModel {
  const built = allTermsOf(entry).map((terms) => [terms.suffix, resolved(entry, terms, providers)] as const)
  const [[, model] = []] = built
  if (model === undefined) throw new Error('a model without any variant')
  return { entry, model, bySuffix: new Map(built) }
}

/** The model in the reply for an alias: the canonical model with `alias_target`. */
export function underAlias(model: ResolvedModel): ResolvedModel {
  const wire: Model = { ...model.wire, alias_target: { name: model.wire.name, slug: model.canonicalSlug } }
  return {
    ...model,
    wire,
    bodies: new RenderedBodies(wire, {
      endpoints: () => model.bodies.endpoints,
      zdr: () => model.bodies.zdr,
      video: () => model.bodies.video,
    }),
  }
}

function resolved(entry: ModelEntry, terms: Terms, providers: ReadonlyMap<string, Provider>): ResolvedModel {
  const { suffix, pricing } = terms
  const id = entry.id + suffix
  const offers = terms.endpoints.map((endpoint) => offerOf(endpoint, { entry, terms, providers }))
  const declared = pricing ?? terms.endpoints.find((endpoint) => endpoint.pricing !== undefined)?.pricing
  const shown: Shown = { id, entry, pricing: { ...FREE, ...declared }, offers }
  const wire = wireModel(shown)
  const video = videoFacts(entry)
  const endpoints = offers.map((offer) => endpointOf(entry, offer))
  return {
    id,
    canonicalSlug: wire.canonical_slug,
    isEmbedding: wire.architecture.output_modalities.includes('embeddings'),
    isWriter: wire.architecture.output_modalities.includes('text'),
    // A missing price is not the price 0.
    isUnpriced: endpoints.every((one) => one.isUnpriced),
    contextLength: wire.context_length,
    inputModalities: wire.architecture.input_modalities,
    ...declaredOf(entry),
    ...reasonsOf(entry),
    video,
    endpoints,
    wire,
    bodies: new RenderedBodies(wire, {
      endpoints: () => render(wireEndpoints(shown)),
      zdr: () => renderZdr(shown),
      video: () => video && render(wireVideoModel(wire, video, entry, terms.endpoints)),
    }),
  }
}

function declaredOf({ architecture }: ModelEntry): Pick<ResolvedModel, 'declared'> {
  const { input_modalities: inputs, output_modalities: outputs } = architecture ?? {}
  return inputs === undefined && outputs === undefined
    ? {}
    : { declared: { ...(inputs && { inputs }), ...(outputs && { outputs }) } }
}

function reasonsOf({ reasoning, supported_parameters = [] }: ModelEntry): Pick<ResolvedModel, 'reasons'> {
  if (reasoning === undefined)
    return supported_parameters.length === 0 ||
      supported_parameters.some((name) => name.includes('reasoning'))
      ? {}
      : { reasons: 'never' }
  const { mandatory, default_enabled: isUsual, default_effort: effort = null } = reasoning
  if (mandatory || isUsual === true) return { reasons: 'usually' }
  return isUsual === false || effort === null || effort === 'none' ? { reasons: 'when asked' } : {}
}

interface Whose {
  readonly entry: ModelEntry
  readonly terms: Terms
  readonly providers: ReadonlyMap<string, Provider>
}

function offerOf(entry: EndpointEntry, { entry: model, terms, providers }: Whose): Offer {
  const provider = providers.get(entry.provider)
  if (provider === undefined) throw new Error(`catalogue: provider ${entry.provider} was not checked`)
  const free = isFree(entry, terms)
  const declared = free ? undefined : (entry.pricing ?? terms.pricing)
  return {
    entry,
    provider,
    pricing: { ...FREE, ...declared },
    modifiers: free ? [] : (entry.modifiers ?? terms.modifiers ?? []),
    isFree: free,
    isUnpriced: isUnpriced(entry, terms, model),
  }
}

function endpointOf(model: ModelEntry, offer: Offer): Endpoint {
  const { entry, provider, pricing, modifiers, isFree, isUnpriced } = offer
  const video = makesVideo(model) ? { pricing: isFree ? FREE_VIDEO : endpointPricing(model, entry) } : null
  return {
    tag: tagOf(entry),
    provider,
    upstreamModel: entry.upstream_model,
    prices: endpointPrices({ pricing, modifiers, accountTier: provider.accountTier }),
    isUnpriced,
    quantization: entry.quantization ?? null,
    isZdr: entry.zdr ?? null,
    mayTrain: entry.may_train ?? null,
    isDistillable: entry.distillable ?? null,
    contextLength: entry.context_length ?? model.context_length ?? null,
    supportedParameters: entry.supported_parameters ?? model.supported_parameters ?? [],
    video,
    text: endpointText(model, offer),
  }
}

interface Renderers {
  readonly endpoints: () => Uint8Array
  readonly zdr: () => Uint8Array | null
  readonly video: () => Uint8Array | null
}

/** Renders a body once, at its first use, so that a large catalogue starts fast. */
export class RenderedBodies implements ModelBodies {
  readonly #wire: Model
  readonly #others: Renderers
  #answer: Uint8Array | null = null
  #item: Uint8Array | null = null
  #bare: Uint8Array | null = null
  #endpoints: Uint8Array | null = null
  #zdr: Uint8Array | null | undefined
  #video: Uint8Array | null | undefined

  constructor(wire: Model, others: Renderers) {
    this.#wire = wire
    this.#others = others
  }

  get answer(): Uint8Array {
    return (this.#answer ??= render({ data: this.#wire }))
  }

  get item(): Uint8Array {
    return (this.#item ??= render(this.#wire))
  }

  get bare(): Uint8Array {
    return (this.#bare ??= render(bareModel(this.#wire)))
  }

  get endpoints(): Uint8Array {
    return (this.#endpoints ??= this.#others.endpoints())
  }

  get zdr(): Uint8Array | null {
    return this.#zdr === undefined ? (this.#zdr = this.#others.zdr()) : this.#zdr
  }

  get video(): Uint8Array | null {
    return this.#video === undefined ? (this.#video = this.#others.video()) : this.#video
  }
}

/** The endpoints that declare zero data retention, joined by commas; null: none. */
export function renderZdr(shown: Shown): Uint8Array | null {
  const endpoints = zdrEndpoints(shown)
  return endpoints.length === 0 ? null : Buffer.from(endpoints.map((one) => JSON.stringify(one)).join(','))
}

export function render(value: object): Uint8Array {
  return Buffer.from(JSON.stringify(value))
}

/** Item of GET /videos/models. @param endpoints endpoints of the shown id; the first priced one gives the prices */
function wireVideoModel(
  wire: Model,
  facts: VideoFacts,
  { video }: ModelEntry,
  endpoints: readonly EndpointEntry[],
): VideoModel {
  const priced = endpoints.find((endpoint) => endpoint.video?.pricing_skus !== undefined)
  return {
    id: wire.id,
    canonical_slug: wire.canonical_slug,
    name: wire.name,
    created: wire.created,
    ...(wire.description === undefined ? {} : { description: wire.description }),
    ...(wire.hugging_face_id === undefined ? {} : { hugging_face_id: wire.hugging_face_id }),
    allowed_passthrough_parameters: [...facts.passthroughParameters],
    creativity: copied(facts.creativity),
    generate_audio: facts.generatesAudio,
    pricing_skus: video?.pricing_skus ?? priced?.video?.pricing_skus ?? null,
    seed: facts.takesSeed,
    supported_aspect_ratios: copied(facts.aspectRatios),
    supported_durations: copied(facts.durations),
    supported_frame_images: copied(facts.frameImages),
    supported_resolutions: copied(facts.resolutions),
    supported_sizes: copied(facts.sizes),
    upscale_factor: facts.upscaleFactor,
  }
}

function copied<T>(values: readonly T[] | null): T[] | null {
  return values === null ? null : [...values]
}
