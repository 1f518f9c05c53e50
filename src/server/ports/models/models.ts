import type { Outcome } from '../../../schemas/failures.ts'
import type { Model, ModelSort } from '../../../schemas/models/models.ts'
import type { Protocol, LeaveKind, ReasoningField, TextProtocol } from '../../../schemas/models/protocols.ts'
import type { EndpointPrices } from '../../../schemas/money/price-at.ts'
import type { Secret } from '../../../schemas/vault/secret.ts'
import type { FrameType, SubmitKind } from '../../../schemas/videos/video-models.ts'
import type { VideoPricing } from '../../../schemas/videos/video-prices.ts'
import type { Destination } from '../egress/egress.ts'
import type { EndpointPricing } from '../../../schemas/endpoints/private-endpoints.ts'

export interface Provider {
  readonly slug: string
  /** The display name: `OpenAI`. */
  readonly name: string
  readonly protocol: Protocol
  /** With the API's version, without a trailing slash: `https://api.openai.com/v1`, `…/v1beta`; empty for `local`. */
  readonly baseUrl: string
  /** Name of the environment variable with the provider's key; null = the provider needs none. */
  readonly apiKeyEnv: string | null
  /** Headers of embeddings and video jobs, in addition to the key; left out: none. */
  readonly headers?: readonly ProviderHeader[]
  readonly timeoutMs: number
  /**
   * Fields and values of `input_type` that the provider names differently: `{ "dimensions":
   * "output_dimension", "input_type=search_query": "query" }`.
   */
  readonly rename: Readonly<Record<string, string>>
  /** Settings of its video jobs; null: the protocol does not support video. */
  readonly video: ProviderVideo | null
  /** How its text models are called; left out: it has none. */
  readonly text?: ProviderText
  /** The origin of its base URL occurs in the shipped catalogue, so it is certainly not Sluice itself; left out: it does not occur there. */
  readonly hasShippedAddress?: true
  /** The tier that its account uses for calls that request none; left out: the usual tier. */
  readonly accountTier?: string
}

/** Defaults for endpoints that do not set their own values. */
export interface ProviderText {
  /** Empty: each endpoint sets its own, or generates no text. */
  readonly speaks: readonly TextProtocol[]
  /** True when it refuses unknown members. */
  readonly isStrict: boolean
  readonly onLeave: LeaveKind
  /** Milliseconds from an attempt's start to its first output. */
  readonly firstOutputMs: number
  /** Milliseconds between two events. */
  readonly stallMs: number
}

interface ProviderHeader {
  /** Lower case. */
  readonly name: string
  /** Value from the catalogue; empty when an environment variable holds it. */
  readonly value: string
  /** Name of the environment variable that holds the value; null: the catalogue holds it. */
  readonly env: string | null
}

export interface ProviderVideo {
  /** When it is unknown whether a submission arrived: whether to repeat it, to look it up first, or never to repeat it. */
  readonly submit: SubmitKind
  /** Header that carries the token of `submit: token`; null for the other kinds. */
  readonly tokenHeader: string | null
  /** Polls a second for the whole installation, not for one runner; may be below 1. */
  readonly pollsPerSecond: number
  /** Milliseconds from a job's submission to its first poll. */
  readonly pollFirstMs: number
  /** Milliseconds of the longest wait between two polls. */
  readonly pollMaxMs: number
  readonly submitTimeoutMs: number
  /** For `lookup`: milliseconds after a timeout in which the job may still be listed. Left out: VIDEO_LOOKUP_QUIET_MS. */
  readonly lookupQuietMs?: number
  /** Calls that one runner may have in progress at the provider. */
  readonly concurrency: number
  /** URLs of reference images are passed on as they are; if false, their bytes are fetched and sent. */
  readonly takesUrls: boolean
}

export interface Endpoint {
  /** `<provider slug>/<upstream model>`, stable within the catalogue. */
  readonly tag: string
  readonly provider: Provider
  readonly upstreamModel: string
  /** Only for `priceAt` and related functions. The prices of an unpriced endpoint are meaningless. */
  readonly prices: EndpointPrices
  /** Neither a price nor `free`, or only one of prompt and completion: every limit against which its calls count refuses them. */
  readonly isUnpriced: boolean
  /** Filters of preferences compare these; null: the catalogue does not state the value, and no filter matches it. */
  readonly quantization: string | null
  readonly isZdr: boolean | null
  readonly mayTrain: boolean | null
  readonly isDistillable: boolean | null
  readonly contextLength: number | null
  /** Optional fields that it accepts (`dimensions`, `encoding_format`, `input_type`, `user`); empty: unknown, all are sent. */
  readonly supportedParameters: readonly string[]
  /** Null: it generates no video. Null for every private endpoint, even one with the slug of a video model. */
  readonly video: EndpointVideo | null
  /** Null: it generates no text. */
  readonly text: EndpointText | null
  /** False: a private endpoint that does not serve embeddings. Left out: the same as its model. */
  readonly embeds?: boolean
  /** Set for a workspace's own endpoint or own key; left out: the operator's key is used. */
  readonly ownWay?: OwnWay
}

export interface EndpointText extends ProviderText {
  /** Maximum tokens of one answer, above 0; null: the catalogue does not state it. */
  readonly maxCompletionTokens: number | null
  /** Name of the member in which a chat provider accepts earlier reasoning; absent: both names are sent until the provider refuses one. */
  readonly reasoningField?: ReasoningField
  /** The reasoning efforts that the model accepts; absent: the catalogue does not state them. */
  readonly efforts?: readonly string[]
}

interface EndpointVideo {
  /** Null: unpriced. */
  readonly pricing: VideoPricing | null
}

/** A null member: the catalogue does not state it, and any value is accepted. */
export interface VideoFacts {
  /** Whole seconds. */
  readonly durations: readonly number[] | null
  readonly resolutions: readonly string[] | null
  readonly aspectRatios: readonly string[] | null
  /** `<width>x<height>` in pixels. */
  readonly sizes: readonly string[] | null
  /** Null: the model accepts no frame images. */
  readonly frameImages: readonly FrameType[] | null
  /** Also the default of `generate_audio`, where null counts as false. */
  readonly generatesAudio: boolean | null
  readonly takesSeed: boolean | null
  /** Values of models that enlarge a video; null for all others. */
  readonly creativity: readonly number[] | null
  readonly upscaleFactor: { readonly min?: number; readonly max?: number } | null
  /** Names within the entry of `provider.options` that are forwarded; others are dropped. */
  readonly passthroughParameters: readonly string[]
  /** True when the model can generate from an image without a prompt. */
  readonly isPromptOptional: boolean
  readonly takesAudioReferences: boolean
  readonly takesVideoReferences: boolean
  readonly takesPreviousJob: boolean
  /** Values for members that a request leaves out, also used for its price; null: the provider decides. */
  readonly defaults: {
    readonly seconds: number
    readonly resolution: string | null
    readonly aspectRatio: string | null
  }
}

export interface OwnWay {
  /** Null: the provider of the catalogue, called with the workspace's own key. */
  readonly destination: Destination | null
  readonly secretName: string
  /** The most recently released credential, as long as no change of it is known; null: it must be released first. */
  readonly released: Secret | null
  /** Failures: secret_not_released (also for a value that is not allowed in a header), busy, store_unavailable. */
  release(to: ReleasedTo): Promise<Outcome<Secret>>
}

export interface ReleasedTo {
  /** Hash of the key. */
  readonly key: string
  readonly requestId: string | null
  readonly operation: string
}

/** Wire bodies of a model as UTF-8 JSON, serialized once at the start, so that a read serializes nothing. */
export interface ModelBodies {
  /** `{"data":…}` of GET /model/{author}/{slug}. */
  readonly answer: Uint8Array
  /** The bare object, as it occurs in lists. */
  readonly item: Uint8Array
  /** The bare object with the fields that OpenAI's clients expect: GET /models/{model}. */
  readonly bare: Uint8Array
  /** `{"data":…}` of GET /models/{author}/{slug}/endpoints. */
  readonly endpoints: Uint8Array
  /** Endpoints that declare zero data retention, for GET /endpoints/zdr, joined by commas; null: there are none. */
  readonly zdr: Uint8Array | null
  /** The bare object of GET /videos/models; null when the model generates no video. */
  readonly video: Uint8Array | null
}

interface DeclaredModalities {
  readonly inputs?: readonly string[]
  readonly outputs?: readonly string[]
}

export interface CallableModel {
  /** Id including the suffix of the variant, as replies show it. */
  readonly id: string
  readonly isEmbedding: boolean
  readonly isWriter: boolean
  /** True when none of its endpoints has a price. */
  readonly isUnpriced: boolean
  readonly inputModalities: readonly string[]
  /** What the catalogue declares for a text model; an absent list means unknown. */
  readonly declared?: DeclaredModalities
  /** When the model reasons: unless the request turns it off, or only when the request asks for it; absent: not known. */
  readonly reasons?: 'usually' | 'when asked' | 'never'
  /** Null: the model generates no video. */
  readonly video: VideoFacts | null
  readonly endpoints: readonly Endpoint[]
}

/** A model after its alias was resolved and its variant applied. */
export interface ResolvedModel extends CallableModel {
  readonly canonicalSlug: string
  readonly contextLength: number | null
  /** Wire form of GET /model/{author}/{slug}. */
  readonly wire: Model
  readonly bodies: ModelBodies
}

/** An undefined member filters nothing. */
export interface ModelFilter {
  /** Lower-case words that all occur in id, name or description. */
  readonly words?: readonly string[] | undefined
  readonly categories?: readonly string[] | undefined
  readonly architectures?: readonly string[] | undefined
  readonly regions?: readonly string[] | undefined
  /** The model accepts all of them as input. */
  readonly inputModalities?: readonly string[] | undefined
  /** The model outputs at least one of them. */
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
  /** Canonical models in the order of the catalogue, without variants. */
  readonly models: readonly ResolvedModel[]
  /** Ids of models by their aliases, without variants. */
  readonly aliases: ReadonlyMap<string, string>
  readonly providers: readonly Provider[]
  /** The entries of `models` that match, in the order of the catalogue or of `filter.sort`. */
  select(filter: ModelFilter): readonly ResolvedModel[]
}

export interface OwnEndpoint {
  readonly endpoint: Endpoint
  /** Null: its calls are free. */
  readonly pricing: EndpointPricing | null
  /** Null: not declared. */
  readonly region: string | null
}

export interface OwnModel {
  readonly slug: string
  /** Of its first endpoint. */
  readonly createdAt: Date
  /** Over these endpoints alone. */
  readonly callable: CallableModel
  /** In the order in which they are tried. */
  readonly endpoints: readonly OwnEndpoint[]
  /** The model of the catalogue with the same slug; null: only the workspace has it. */
  readonly known: ResolvedModel | null
}

export interface OwnListing {
  /** Finds a model by its slug or by the id of the catalogue's model; null: the workspace has no endpoint for it. */
  resolve(id: string): ResolvedModel | null
  /**
   * Adds the matching models that only the workspace has: first, or in the order of `filter.sort`. @param
   * found models of the catalogue for the same filter
   */
  among(found: readonly ResolvedModel[], filter: ModelFilter): readonly ResolvedModel[]
  /** Models with zero data retention, those with endpoints of the workspace first. @param found such models of the catalogue */
  withoutRetention(found: readonly ResolvedModel[]): readonly ResolvedModel[]
}
