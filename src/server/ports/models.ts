import type { Model } from '../../schemas/models.ts'

export type Protocol = 'openai' | 'cohere' | 'google' | 'anthropic' | 'local'

export interface Provider {
  readonly slug: string
  readonly protocol: Protocol
  /** Without a trailing slash; empty for `local`. */
  readonly baseUrl: string
  /** Name of the environment variable of its key; null = the provider needs none. */
  readonly apiKeyEnv: string | null
  readonly timeoutMs: number
  /** Request fields that this provider spells differently: `{ dimensions: 'output_dimension' }`. */
  readonly rename: Readonly<Record<string, string>>
}

export interface Endpoint {
  /** Stable name within the catalogue: `<provider slug>/<upstream model>`. */
  readonly tag: string
  readonly provider: Provider
  readonly upstreamModel: string
  /** Whole nano-USD per million tokens of the prompt, so that the smallest price is a whole number. C14. */
  readonly promptNanoPerMillion: number
  /** Nano-USD per request. */
  readonly requestNano: number
  /** Facts that preferences filter on; absent = the catalogue does not say, and then a filter matches nothing (C21). */
  readonly quantization: string | null
  readonly isZdr: boolean | null
  readonly mayTrain: boolean | null
  readonly isDistillable: boolean | null
  readonly contextLength: number | null
  readonly supportedParameters: readonly string[]
}

/** A model as a caller asked for it: an alias is resolved, a variant applied. C21. */
export interface ResolvedModel {
  /** With the variant's suffix; what replies say. */
  readonly id: string
  readonly canonicalSlug: string
  readonly isEmbedding: boolean
  readonly isUnpriced: boolean
  readonly contextLength: number | null
  readonly inputModalities: readonly string[]
  readonly endpoints: readonly Endpoint[]
  /** Wire form of GET /model/{author}/{slug}. */
  readonly wire: Model
}

export interface ModelCatalogue {
  /** @param id `author/slug`, `author/slug:variant`, or an alias; already percent-decoded */
  resolve(id: string): ResolvedModel | null
  /** Canonical models in the order of the catalogue, variants not listed apart. */
  readonly models: readonly ResolvedModel[]
  readonly providers: readonly Provider[]
}
