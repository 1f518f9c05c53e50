import type { Outcome } from '../../../schemas/failures.ts'
import type { Model, ModelSort } from '../../../schemas/models/models.ts'
import type { Protocol } from '../../../schemas/models/protocols.ts'
import type { Secret } from '../../../schemas/vault/secret.ts'
import type { FrameType, SubmitKind } from '../../../schemas/videos/video-models.ts'
import type { VideoPricing } from '../../../schemas/videos/video-prices.ts'
import type { Destination } from '../egress/egress.ts'

export interface Provider {
  readonly slug: string
  /** What people call it: `OpenAI`. */
  readonly name: string
  readonly protocol: Protocol
  /**
   * With the API's version and without a trailing slash: `https://api.openai.com/v1`,
   * `https://api.cohere.com/v2`, `…/v1beta`; empty for `local`.
   */
  readonly baseUrl: string
  /** Name of the environment variable of its key; null = the provider needs none. */
  readonly apiKeyEnv: string | null
  /** Sent with embeddings and video jobs, beside the key; left out: none. */
  readonly headers?: readonly ProviderHeader[]
  readonly timeoutMs: number
  /**
   * Request fields that this provider spells differently, and values of `input_type` after a `=`:
   * `{ "dimensions": "output_dimension", "input_type=search_query": "query" }`.
   */
  readonly rename: Readonly<Record<string, string>>
  /** How its video jobs are run; null: its protocol has no calls for video. */
  readonly video: ProviderVideo | null
}

/** A header of every call of a provider. */
export interface ProviderHeader {
  /** Lower case. */
  readonly name: string
  /** As the catalogue says it; empty where a variable does. */
  readonly value: string
  /** Name of the environment variable that holds the value; null: the catalogue does. */
  readonly env: string | null
}

/** How the jobs of a provider are submitted and polled. Design §7. */
export interface ProviderVideo {
  /**
   * What may be done when nobody knows whether a submission arrived: repeat it, look for it first, or never
   * repeat it.
   */
  readonly submit: SubmitKind
  /** Header that carries the token of `submit: token`; null for the others. */
  readonly tokenHeader: string | null
  /** Polls that the whole installation may make, not one runner; may be below 1. */
  readonly pollsPerSecond: number
  /** Of a job's first poll after its submission, and the longest wait between two. */
  readonly pollFirstMs: number
  readonly pollMaxMs: number
  readonly submitTimeoutMs: number
  /**
   * Of `lookup`: milliseconds after a submission's time-out in which its job may still turn up in the list.
   * Left out: VIDEO_LOOKUP_QUIET_MS.
   */
  readonly lookupQuietMs?: number
  /** Calls that one runner has under way at it. */
  readonly concurrency: number
  /** URLs of reference images are passed on as they are; else their bytes are fetched and sent. */
  readonly takesUrls: boolean
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
  /** Neither a price nor `free` is declared for it: no limit that counts its calls lets them pass. C40. */
  readonly isUnpriced: boolean
  /**
   * Facts that preferences filter on; null = the catalogue does not say, and a filter matches nothing (C21).
   */
  readonly quantization: string | null
  readonly isZdr: boolean | null
  readonly mayTrain: boolean | null
  readonly isDistillable: boolean | null
  readonly contextLength: number | null
  /**
   * Optional request fields that the endpoint takes (`dimensions`, `encoding_format`, `input_type`, `user`);
   * empty = not known, all are sent.
   */
  readonly supportedParameters: readonly string[]
  /** Null: it makes no video; so is every private endpoint, also one under the slug of a video model. */
  readonly video: EndpointVideo | null
  /**
   * Of a workspace's own endpoint, and of one that is called under its own key. Left out where the operator's
   * is used.
   */
  readonly ownWay?: OwnWay
}

export interface EndpointVideo {
  /** Null: unpriced. */
  readonly pricing: VideoPricing | null
}

/** What a video model takes. A null member: the catalogue does not say, any value is taken. §2.3, B2.1. */
export interface VideoFacts {
  /** Whole seconds. */
  readonly durations: readonly number[] | null
  readonly resolutions: readonly string[] | null
  readonly aspectRatios: readonly string[] | null
  /** `<width>x<height>` in pixels. */
  readonly sizes: readonly string[] | null
  /** Null: no frame image is taken. */
  readonly frameImages: readonly FrameType[] | null
  /** Also the default of `generate_audio`; null stands for false there. */
  readonly generatesAudio: boolean | null
  readonly takesSeed: boolean | null
  /** Of models that enlarge a video; null for all others. */
  readonly creativity: readonly number[] | null
  readonly upscaleFactor: { readonly min?: number; readonly max?: number } | null
  /** Names within the entry of `provider.options` that are forwarded; others are dropped. */
  readonly passthroughParameters: readonly string[]
  /** It generates from an image alone. */
  readonly isPromptOptional: boolean
  readonly takesAudioReferences: boolean
  readonly takesVideoReferences: boolean
  readonly takesPreviousJob: boolean
  /** What a request that does not say gets, and pays; null: the provider decides. */
  readonly defaults: {
    readonly seconds: number
    readonly resolution: string | null
    readonly aspectRatio: string | null
  }
}

/** How an endpoint is reached with a credential of the caller's workspace. */
export interface OwnWay {
  /**
   * Of a private endpoint: where the gate leads. Null: the provider of the catalogue, under the workspace's
   * own key.
   */
  readonly destination: Destination | null
  readonly secretName: string
  /**
   * The credential that was released last, while nothing says that it may have changed; null: it has to be
   * released.
   */
  readonly released: Secret | null
  /**
   * Failures: secret_not_released (also one that no header can carry), busy, store_unavailable. @param caller
   * hash of the key
   */
  release(caller: string, requestId: string | null): Promise<Outcome<Secret>>
}

/** Wire bodies of a model as UTF-8 JSON, rendered once per boot: a read costs no serialising. */
export interface ModelBodies {
  /** `{"data":…}` of GET /model/{author}/{slug}. */
  readonly answer: Uint8Array
  /** The bare object, as lists hold it. */
  readonly item: Uint8Array
  /** The bare object with what OpenAI's clients look for: GET /models/{model}. */
  readonly bare: Uint8Array
  /** `{"data":…}` of GET /models/{author}/{slug}/endpoints. */
  readonly endpoints: Uint8Array
  /** The bare object of GET /videos/models; null when it makes no video. */
  readonly video: Uint8Array | null
}

/** What a call needs to know of a model. */
export interface CallableModel {
  /** With the variant's suffix; what replies say. */
  readonly id: string
  readonly isEmbedding: boolean
  /** None of its endpoints has a price. */
  readonly isUnpriced: boolean
  readonly inputModalities: readonly string[]
  /** Null: it makes no video. */
  readonly video: VideoFacts | null
  readonly endpoints: readonly Endpoint[]
}

/** A model of the catalogue as a caller asked for it: an alias is resolved, a variant applied. C21. */
export interface ResolvedModel extends CallableModel {
  readonly canonicalSlug: string
  readonly contextLength: number | null
  /** Wire form of GET /model/{author}/{slug}. */
  readonly wire: Model
  readonly bodies: ModelBodies
}

/** What a model list asks for; an undefined member filters nothing. B2.3. */
export interface ModelFilter {
  /** Lower-case words that all occur in id, name or description. */
  readonly words?: readonly string[] | undefined
  readonly categories?: readonly string[] | undefined
  readonly architectures?: readonly string[] | undefined
  readonly regions?: readonly string[] | undefined
  /** All of them are taken as input. */
  readonly inputModalities?: readonly string[] | undefined
  /** Any of them is given as output. */
  readonly outputModalities?: readonly string[] | undefined
  readonly supportedParameters?: readonly string[] | undefined
  readonly authors?: readonly string[] | undefined
  readonly providers?: readonly string[] | undefined
  readonly contextMin?: number | undefined
  readonly isDistillable?: boolean | undefined
  readonly isZdr?: boolean | undefined
  /** Prices in USD per million tokens. */
  readonly promptPriceMin?: number | undefined
  readonly promptPriceMax?: number | undefined
  readonly completionPriceMin?: number | undefined
  readonly completionPriceMax?: number | undefined
  readonly ageDaysMin?: number | undefined
  readonly ageDaysMax?: number | undefined
  readonly intelligenceMin?: number | undefined
  readonly codingMin?: number | undefined
  readonly agenticMin?: number | undefined
  readonly toolSuccessMin?: number | undefined
  readonly sort?: ModelSort | undefined
}

export interface ModelCatalogue {
  /** @param id `author/slug`, `author/slug:variant`, or an alias; already percent-decoded; case is ignored */
  resolve(id: string): ResolvedModel | null
  /** Canonical models in the order of the catalogue, variants not listed apart. */
  readonly models: readonly ResolvedModel[]
  readonly providers: readonly Provider[]
  /** Those of `models` that match, in the order of the catalogue or of `filter.sort`. */
  select(filter: ModelFilter): readonly ResolvedModel[]
}
