import Type, { type Static } from 'typebox'
import {
  MODELS_NAMES_CHARS_MAX,
  MODELS_PAGE_DEFAULT,
  MODELS_PAGE_MAX,
  MODELS_WORDS_CHARS_MAX,
} from './model-limits.ts'
import { PriceModifiers, PricingOverrides } from './price-conditions.ts'

const nullable = <T extends Type.TSchema>(shape: T) => Type.Union([shape, Type.Null()])
const Decimal = Type.String({ pattern: '^\\d+(\\.\\d+)?$', description: 'USD as a decimal string.' })
const Count = Type.Integer({ minimum: 0 })

/** `prompt` and `completion` are per token, `request` per request, the other prices per the unit in their name. C14, */
export const Pricing = Type.Object(
  {
    prompt: Decimal,
    completion: Decimal,
    request: Type.Optional(Decimal),
    image: Type.Optional(Decimal),
    image_token: Type.Optional(Decimal),
    image_output: Type.Optional(Decimal),
    audio: Type.Optional(Decimal),
    audio_output: Type.Optional(Decimal),
    web_search: Type.Optional(Decimal),
    internal_reasoning: Type.Optional(Decimal),
    input_cache_read: Type.Optional(Decimal),
    input_cache_write: Type.Optional(Decimal),
    input_cache_write_1h: Type.Optional(Decimal),
    input_audio_cache: Type.Optional(Decimal),
    discount: Type.Optional(Type.Number()),
    overrides: Type.Optional(PricingOverrides),
  },
  {
    description:
      'Prices in USD: `prompt` and `completion` per token, `request` per request, other prices per the unit in their name.',
  },
)
export type Pricing = Static<typeof Pricing>

/** Prices that depend on the tier that an answer reports. */
const Extension = Type.Optional(
  Type.Object(
    { modifiers: PriceModifiers },
    {
      description:
        'Sluice extension: prices that depend on the tier, speed or region that the answer reports.',
    },
  ),
)

export const Architecture = Type.Object({
  modality: nullable(Type.String()),
  input_modalities: Type.Array(Type.String()),
  output_modalities: Type.Array(Type.String()),
  tokenizer: Type.Optional(Type.String()),
  instruct_type: Type.Optional(nullable(Type.String())),
})
export type Architecture = Static<typeof Architecture>

export const DefaultParameters = Type.Object({
  temperature: Type.Optional(nullable(Type.Number())),
  top_p: Type.Optional(nullable(Type.Number())),
  top_k: Type.Optional(nullable(Type.Number())),
  frequency_penalty: Type.Optional(nullable(Type.Number())),
  presence_penalty: Type.Optional(nullable(Type.Number())),
  repetition_penalty: Type.Optional(nullable(Type.Number())),
})

export const PerRequestLimits = Type.Object({ prompt_tokens: Count, completion_tokens: Count })

export const Reasoning = Type.Object({
  mandatory: Type.Boolean(),
  default_enabled: Type.Optional(Type.Boolean()),
  default_effort: Type.Optional(nullable(Type.String())),
  supported_efforts: Type.Optional(nullable(Type.Array(Type.String()))),
  supports_max_tokens: Type.Optional(Type.Boolean()),
})

/** Scores for the sort orders and the `min_…` filters of model lists. */
export const Benchmarks = Type.Object({
  intelligence_index: Type.Optional(Type.Number()),
  coding_index: Type.Optional(Type.Number()),
  agentic_index: Type.Optional(Type.Number()),
  tool_success_rate: Type.Optional(Type.Number()),
  design_arena_elo: Type.Optional(Type.Number()),
})

/** A model in replies. Optional members are absent, never null; nullable members are never absent. §2.10, */
export const Model = Type.Object({
  id: Type.String({ description: 'Id of the model, with the requested variant.' }),
  canonical_slug: Type.String(),
  name: Type.String(),
  description: Type.Optional(Type.String()),
  created: Type.Integer({ description: 'Unix time of the release, in seconds; 0 when unknown.' }),
  context_length: nullable(Count),
  architecture: Architecture,
  pricing: Pricing,
  x: Extension,
  top_provider: Type.Object({
    is_moderated: Type.Boolean(),
    context_length: Type.Optional(nullable(Count)),
    max_completion_tokens: Type.Optional(nullable(Count)),
  }),
  supported_parameters: Type.Array(Type.String()),
  supported_voices: nullable(Type.Array(Type.String())),
  default_parameters: nullable(DefaultParameters),
  per_request_limits: nullable(PerRequestLimits),
  hugging_face_id: Type.Optional(nullable(Type.String())),
  expiration_date: nullable(Type.String()),
  knowledge_cutoff: nullable(Type.String()),
  links: Type.Object({ details: Type.String({ description: 'Path of the list of endpoints.' }) }),
  alias_target: Type.Optional(Type.Object({ name: Type.String(), slug: Type.String() })),
  benchmarks: Type.Optional(Benchmarks),
  reasoning: Type.Optional(Reasoning),
})
export type Model = Static<typeof Model>

const Percentiles = nullable(
  Type.Object({ p50: Type.Number(), p75: Type.Number(), p90: Type.Number(), p99: Type.Number() }),
)

export const ToolChoice = Type.Object({
  auto: Type.Boolean(),
  function: Type.Boolean(),
  none: Type.Boolean(),
  required: Type.Boolean(),
})

export const ModelEndpoint = Type.Object({
  name: Type.String(),
  model_id: Type.String(),
  model_name: Type.String(),
  provider_name: Type.String(),
  tag: Type.String(),
  context_length: Type.Integer({
    minimum: 0,
    description: 'Maximum number of tokens in prompt and output together; 0 when unknown.',
  }),
  quantization: nullable(Type.String()),
  max_completion_tokens: nullable(Count),
  max_prompt_tokens: nullable(Count),
  pricing: Pricing,
  x: Extension,
  supported_parameters: Type.Array(Type.String()),
  supports_implicit_caching: Type.Boolean(),
  supports_tool_choice: ToolChoice,
  uptime_last_5m: nullable(Type.Number()),
  uptime_last_30m: nullable(Type.Number()),
  uptime_last_1d: nullable(Type.Number()),
  latency_last_30m: Percentiles,
  throughput_last_30m: Percentiles,
  status: Type.Optional(Type.Integer()),
})
export type ModelEndpoint = Static<typeof ModelEndpoint>

/** Answer of GET /model/{author}/{slug}. §4.11. */
export const ModelAnswer = Type.Object({ data: Model })

/** Answer of GET /models/{model}: the model without an envelope, as OpenAI's clients expect it. Sluice's extension. */
export const BareModel = Type.Object({
  ...Model.properties,
  object: Type.Literal('model'),
  owned_by: Type.String({ description: 'Author of the model.' }),
})

export const ModelEndpointsAnswer = Type.Object({
  data: Type.Object({
    id: Type.String(),
    name: Type.String(),
    created: Type.Integer(),
    description: Type.String(),
    architecture: Type.Object({
      ...Architecture.properties,
      tokenizer: nullable(Type.String({ description: 'Family of the tokenizer; null when unknown.' })),
    }),
    endpoints: Type.Array(ModelEndpoint),
  }),
})

export const ZdrEndpointsAnswer = Type.Object({ data: Type.Array(ModelEndpoint) })

/** Answer of the model lists. B2.3, B3.1: clients refuse a list without `links` or `total_count`. */
export const ModelListAnswer = Type.Object({
  data: Type.Array(Model),
  links: Type.Object({ next: nullable(Type.String({ description: 'Path of the next page.' })) }),
  total_count: Type.Integer({ minimum: 0, description: 'Number of models that match, on all pages.' }),
})

export const ModelCountAnswer = Type.Object({ data: Type.Object({ count: Count }) })

/** Path of one model. §4.11; `slug` may end in `:` and a variant suffix. */
export const ModelParams = Type.Object({
  author: Type.String({ minLength: 1 }),
  slug: Type.String({ minLength: 1 }),
})
export type ModelParams = Static<typeof ModelParams>

/** Path of GET /models/{model}: a whole id in one segment with its slash percent-encoded, or an alias without a slash. */
export const BareModelParams = Type.Object({ model: Type.String({ minLength: 1 }) })
export type BareModelParams = Static<typeof BareModelParams>

const Csv = (description: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength: MODELS_NAMES_CHARS_MAX, description }))
const Bound = (description: string) => Type.Optional(Type.Number({ minimum: 0, description }))

const page = {
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: MODELS_PAGE_MAX,
      description: `Page size; ${MODELS_PAGE_DEFAULT} when only \`offset\` is given, all models when neither \`limit\` nor \`offset\` is given.`,
    }),
  ),
  offset: Type.Optional(Count),
}
const outputModalities = Csv(
  'Comma-separated output types, any of which may match; `all` for every model. Default `text`.',
)

export const MODEL_SORTS = [
  'most-popular',
  'newest',
  'top-weekly',
  'pricing-low-to-high',
  'pricing-high-to-low',
  'context-high-to-low',
  'throughput-high-to-low',
  'latency-low-to-high',
  'intelligence-high-to-low',
  'coding-high-to-low',
  'agentic-high-to-low',
  'design-arena-elo-high-to-low',
] as const

export const PageQuery = Type.Object(page)
export const CountModelsQuery = Type.Object({ output_modalities: outputModalities })
export const UserModelsQuery = Type.Object({ ...page, output_modalities: outputModalities })

/** Query of GET /models. B2.3; a filter on data that the catalogue lacks matches nothing. */
export const ListModelsQuery = Type.Object({
  ...page,
  q: Type.Optional(
    Type.String({
      maxLength: MODELS_WORDS_CHARS_MAX,
      description: 'Search words, all of which must occur in the id, name or description.',
    }),
  ),
  category: Csv('Comma-separated categories, any of which may match.'),
  sort: Type.Optional(Type.Enum(MODEL_SORTS)),
  arch: Csv('Comma-separated tokenizer families; case-insensitive.'),
  context: Type.Optional(Type.Integer({ minimum: 0, description: 'Minimum context length, in tokens.' })),
  distillable: Type.Optional(
    Type.Boolean({
      description:
        'Returns models with an endpoint whose output may (`true`) or must not (`false`) be used for training.',
    }),
  ),
  zdr: Type.Optional(
    Type.Boolean({
      description:
        'Returns models with an endpoint that declares zero data retention (`true`), or declares that it has none (`false`).',
    }),
  ),
  region: Csv('Comma-separated regions of endpoints.'),
  input_modalities: Csv('Comma-separated input types, all of which are required; `all` for every model.'),
  output_modalities: outputModalities,
  supported_parameters: Csv('Comma-separated parameters, all of which must be supported.'),
  model_authors: Csv('Comma-separated authors.'),
  providers: Csv('Comma-separated provider slugs, any of which may serve the model.'),
  min_price: Bound('Lowest price in USD per million prompt tokens.'),
  max_price: Bound('Highest price in USD per million prompt tokens.'),
  min_output_price: Bound('Lowest price in USD per million output tokens.'),
  max_output_price: Bound('Highest price in USD per million output tokens.'),
  min_age_days: Bound('Minimum days since release.'),
  max_age_days: Bound('Maximum days since release.'),
  min_intelligence_index: Type.Optional(Type.Number()),
  min_coding_index: Type.Optional(Type.Number()),
  min_agentic_index: Type.Optional(Type.Number()),
  min_tool_success_rate: Type.Optional(Type.Number()),
})
export type ListModelsQuery = Static<typeof ListModelsQuery>
export type ModelSort = (typeof MODEL_SORTS)[number]
