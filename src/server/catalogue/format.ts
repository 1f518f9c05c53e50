import Type, { type Static } from 'typebox'
import { PROVIDER_TIMEOUT_MS_MAX } from '../../schemas/limits.ts'
import { Benchmarks, DefaultParameters, PerRequestLimits, Pricing, Reasoning, ToolChoice } from '../../schemas/models.ts'
import { QUANTIZATIONS } from '../../schemas/preferences.ts'

const NAME = '[A-Za-z0-9][A-Za-z0-9._-]*'
const nullable = <T extends Type.TSchema>(shape: T) =>
  Type.Union([shape, Type.Null()], { description: `${String(Reflect.get(shape, 'description'))}, or null` })
const text = (description: string, pattern?: string) =>
  Type.String({ minLength: 1, description, ...(pattern === undefined ? {} : { pattern: `^${pattern}$` }) })
const list = <T extends Type.TSchema>(items: T, description: string) => Type.Array(items, { description })

const Name = text('a non-empty string')
const Tokens = Type.Integer({ minimum: 0, description: 'a whole number of tokens' })
const Flag = Type.Boolean({ description: 'true or false' })
const Names = list(Name, 'a list of strings')
const Slug = text('a slug of lower-case letters, digits, `.`, `_` and `-`', '[a-z0-9][a-z0-9._-]*')
/** Every member is optional: what is absent costs nothing. */
const Prices = Type.Partial(Pricing, { additionalProperties: false, description: 'an object of decimal strings' })

export const ProviderEntry = Type.Object({
  slug: Slug,
  name: Type.Optional(Name),
  protocol: Type.Enum(['openai', 'cohere', 'google', 'anthropic', 'local'], {
    description: '`openai`, `cohere`, `google`, `anthropic` or `local`',
  }),
  base_url: Type.Optional(text('an http or https URL without credentials, query or fragment',
    'https?://[^\\s/?#@]+(/[^\\s?#]*)?')),
  api_key_env: Type.Optional(text('the name of an environment variable', '[A-Z_][A-Z0-9_]*')),
  timeout_ms: Type.Optional(Type.Integer({
    minimum: 1,
    maximum: PROVIDER_TIMEOUT_MS_MAX,
    description: `whole milliseconds, 1 to ${PROVIDER_TIMEOUT_MS_MAX}`,
  })),
  rename: Type.Optional(Type.Record(Type.String(), Name, { description: 'an object of field names' })),
}, { additionalProperties: false, description: 'an object' })
export type ProviderEntry = Static<typeof ProviderEntry>

export const EndpointEntry = Type.Object({
  provider: Slug,
  upstream_model: Name,
  pricing: Type.Optional(Prices),
  context_length: Type.Optional(nullable(Tokens)),
  max_completion_tokens: Type.Optional(nullable(Tokens)),
  max_prompt_tokens: Type.Optional(nullable(Tokens)),
  quantization: Type.Optional(Type.Enum(QUANTIZATIONS, { description: `one of ${QUANTIZATIONS.join(', ')}` })),
  supported_parameters: Type.Optional(Names),
  supports_implicit_caching: Type.Optional(Flag),
  supports_tool_choice: Type.Optional(ToolChoice),
  zdr: Type.Optional(Flag),
  may_train: Type.Optional(Flag),
  distillable: Type.Optional(Flag),
  regions: Type.Optional(Names),
}, { additionalProperties: false, description: 'an object' })
export type EndpointEntry = Static<typeof EndpointEntry>

const Suffix = text('a suffix of lower-case letters, digits and `-`, without the colon', '[a-z0-9][a-z0-9-]*')
const Endpoints = list(EndpointEntry, 'a list of endpoints')
const VariantEntry = Type.Object({
  suffix: Suffix,
  pricing: Type.Optional(Prices),
  endpoints: Type.Optional(Endpoints),
}, { additionalProperties: false, description: 'an object' })

export const ModelEntry = Type.Object({
  id: text('`author/slug`, without a variant suffix', `${NAME}/${NAME}`),
  canonical_slug: Type.Optional(text('`author/slug`, without a variant suffix', `${NAME}/${NAME}`)),
  name: Name,
  description: Type.Optional(Name),
  aliases: Type.Optional(list(text('`author/slug` or `slug`, without a variant suffix', `(${NAME}/)?${NAME}`),
    'a list of aliases')),
  variants: Type.Optional(list(Type.Union([Suffix, VariantEntry], { description: 'a suffix, or an object with one' }),
    'a list of variants')),
  created: Type.Optional(Type.Union([
    Type.Integer({ minimum: 0 }),
    Type.String({ pattern: '^\\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\\d|3[01])$' }),
  ], { description: 'Unix time in whole seconds, or a date like `2024-01-25`' })),
  context_length: Type.Optional(nullable(Tokens)),
  architecture: Type.Optional(Type.Object({
    modality: Type.Optional(nullable(Name)),
    input_modalities: Type.Optional(Names),
    output_modalities: Type.Optional(Names),
    tokenizer: Type.Optional(Name),
    instruct_type: Type.Optional(nullable(Name)),
  }, { additionalProperties: false, description: 'an object' })),
  pricing: Type.Optional(Prices),
  top_provider: Type.Optional(Type.Object({
    is_moderated: Type.Optional(Flag),
    context_length: Type.Optional(nullable(Tokens)),
    max_completion_tokens: Type.Optional(nullable(Tokens)),
  }, { additionalProperties: false, description: 'an object' })),
  supported_parameters: Type.Optional(Names),
  supported_voices: Type.Optional(nullable(Names)),
  default_parameters: Type.Optional(Type.Union([DefaultParameters, Type.Null()], { description: 'an object, or null' })),
  per_request_limits: Type.Optional(Type.Union([PerRequestLimits, Type.Null()], { description: 'an object, or null' })),
  hugging_face_id: Type.Optional(nullable(Name)),
  expiration_date: Type.Optional(nullable(Name)),
  knowledge_cutoff: Type.Optional(nullable(Name)),
  benchmarks: Type.Optional(Benchmarks),
  reasoning: Type.Optional(Reasoning),
  categories: Type.Optional(Names),
  endpoints: Type.Optional(Endpoints),
}, { additionalProperties: false, description: 'an object' })
export type ModelEntry = Static<typeof ModelEntry>

/** A catalogue file, as operators write it. Every member of a model but `id` and `name` has a default. */
export const CatalogueFile = Type.Object({
  /** True: what ships with the product is left out whole instead of being extended. */
  replace: Type.Optional(Flag),
  providers: Type.Optional(list(ProviderEntry, 'a list of providers')),
  models: Type.Optional(list(ModelEntry, 'a list of models')),
}, { additionalProperties: false, description: 'an object' })
export type CatalogueFile = Static<typeof CatalogueFile>
