import Type, { type Static } from 'typebox'
import { PROVIDER_TIMEOUT_MS_MAX } from '../../schemas/models/provider-limits.ts'
import {
  Benchmarks,
  DefaultParameters,
  PerRequestLimits,
  Pricing,
  Reasoning,
  ToolChoice,
} from '../../schemas/models/models.ts'
import { ACCOUNT_TIERS, PriceModifiers, TIER_CHARS_MAX } from '../../schemas/models/price-conditions.ts'
import { QUANTIZATIONS } from '../../schemas/models/preferences.ts'
import { PROTOCOLS, LEAVE_KINDS, REASONING_FIELDS, TEXT_PROTOCOLS } from '../../schemas/models/protocols.ts'
import { EndpointVideoEntry, ModelVideoEntry, ProviderVideoEntry } from './video-format.ts'

/** Headers that the catalogue sets for a provider. Decision. */
export const PROVIDER_HEADERS_MAX = 16
/** Characters of the value of a header that the catalogue sets. Decision. */
export const PROVIDER_HEADER_CHARS_MAX = 4_096

/** The part of an id on either side of the slash; a colon is excluded, since it begins a variant's suffix. */
const NAME = '[A-Za-z0-9][A-Za-z0-9._-]*'
const closed = { additionalProperties: false, description: 'an object' } as const
const nullable = <T extends Type.TSchema>(shape: T) => {
  const shapeDescription: unknown = Reflect.get(shape, 'description')
  const description = `${typeof shapeDescription === 'string' ? shapeDescription : 'an object'}, or null`
  return Type.Union([shape, Type.Null()], { description })
}
const text = (description: string, pattern?: string) =>
  Type.String({ minLength: 1, description, ...(pattern === undefined ? {} : { pattern: `^${pattern}$` }) })
const list = <T extends Type.TSchema>(items: T, description: string) => Type.Array(items, { description })

const Name = text('a non-empty string')
const Tokens = Type.Integer({ minimum: 0, description: 'a whole number of tokens' })
const Flag = Type.Boolean({ description: 'true or false' })
const Names = list(Name, 'a list of strings')
const Quantizations = `one of ${QUANTIZATIONS.join(', ')}`
const Slug = text('a slug of lower-case letters, digits, `.`, `_` and `-`', '[a-z0-9][a-z0-9._-]*')
/** Marks an endpoint as free. An endpoint without this mark and without a price is unpriced, and limits refuse it. */
const Free = Type.Optional(Flag)
/** Every member is optional: an absent price is 0. */
const Prices = Type.Partial(Pricing, { ...closed, description: 'an object of decimal strings' })
/** Prices that depend on the tier that an answer reports. The modifiers of an endpoint replace those of its model or variant. */
const Modifiers = Type.Optional(PriceModifiers)

const Milliseconds = Type.Optional(
  Type.Integer({
    minimum: 1,
    maximum: PROVIDER_TIMEOUT_MS_MAX,
    description: `whole milliseconds, 1 to ${PROVIDER_TIMEOUT_MS_MAX}`,
  }),
)

/** Protocols that an endpoint speaks; an empty list excludes it from all text calls. */
const Speaks = Type.Optional(
  Type.Array(Type.Enum(TEXT_PROTOCOLS, { description: `one of ${TEXT_PROTOCOLS.join(', ')}` }), {
    uniqueItems: true,
    description: `a list of ${TEXT_PROTOCOLS.join(', ')}, each once`,
  }),
)

/** The member in which the endpoint accepts reasoning of earlier turns. */
const ReasoningFieldEntry = Type.Optional(
  Type.Enum(REASONING_FIELDS, { description: `one of ${REASONING_FIELDS.join(', ')}` }),
)

/** Members of a provider for text models. */
const TextMembers = {
  speaks: Speaks,
  /** The provider refuses members that it does not know. */
  strict: Type.Optional(Flag),
  /** What happens to the stream when the caller disconnects. */
  on_leave: Type.Optional(Type.Enum(LEAVE_KINDS, { description: `one of ${LEAVE_KINDS.join(', ')}` })),
  first_output_ms: Milliseconds,
  stall_ms: Milliseconds,
  /** The account's tier for calls that request none. */
  account_tier: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: TIER_CHARS_MAX,
      description: `one of ${ACCOUNT_TIERS.join(', ')}, or a tier of a modifier`,
    }),
  ),
}

const Variable = text('the name of an environment variable', '[A-Z_][A-Z0-9_]*')
const HeaderValue = Type.Union(
  [
    Type.String({
      minLength: 1,
      maxLength: PROVIDER_HEADER_CHARS_MAX,
      pattern: '^[\\x21-\\x7e]([\\x20-\\x7e]*[\\x21-\\x7e])?$',
    }),
    Type.Object({ env: Variable }, closed),
  ],
  { description: `1 to ${PROVIDER_HEADER_CHARS_MAX} visible ASCII characters, or \`{"env": "NAME"}\`` },
)

/** An upstream and its protocol. `local` needs no address; a provider without `api_key_env` needs no key. */
export const ProviderEntry = Type.Object(
  {
    slug: Slug,
    name: Type.Optional(Name),
    protocol: Type.Enum([...PROTOCOLS], {
      description: '`openai`, `cohere`, `google`, `anthropic` or `local`',
    }),
    base_url: Type.Optional(
      text(
        'an http or https URL without credentials, query or fragment',
        'https?://[^\\s/?#@]+(/[^\\s?#]*)?',
      ),
    ),
    api_key_env: Type.Optional(Variable),
    /** A value to send, or `{"env": "NAME"}` for a value that is read from an environment variable, like keys. */
    headers: Type.Optional(
      Type.Record(Type.String(), HeaderValue, {
        maxProperties: PROVIDER_HEADERS_MAX,
        description: 'an object of header values',
      }),
    ),
    timeout_ms: Milliseconds,
    /** The provider's names of fields, and of values such as `input_type=search_query`. */
    rename: Type.Optional(Type.Record(Type.String(), Name, { description: 'an object of field names' })),
    video: Type.Optional(ProviderVideoEntry),
    ...TextMembers,
  },
  closed,
)
export type ProviderEntry = Static<typeof ProviderEntry>

/** A model at a provider. Members that an endpoint omits come from its model. */
export const EndpointEntry = Type.Object(
  {
    provider: Slug,
    upstream_model: Name,
    pricing: Type.Optional(Prices),
    modifiers: Modifiers,
    free: Free,
    context_length: Type.Optional(nullable(Tokens)),
    max_completion_tokens: Type.Optional(nullable(Tokens)),
    max_prompt_tokens: Type.Optional(nullable(Tokens)),
    quantization: Type.Optional(Type.Enum(QUANTIZATIONS, { description: Quantizations })),
    supported_parameters: Type.Optional(Names),
    supports_implicit_caching: Type.Optional(Flag),
    supports_tool_choice: Type.Optional(ToolChoice),
    // Declarations of the provider: an absent member does not mean false, and no filter on it matches.
    zdr: Type.Optional(Flag),
    may_train: Type.Optional(Flag),
    distillable: Type.Optional(Flag),
    regions: Type.Optional(Names),
    video: Type.Optional(EndpointVideoEntry),
    /** Only if it differs from its provider. */
    speaks: Speaks,
    reasoning_field: ReasoningFieldEntry,
  },
  closed,
)
export type EndpointEntry = Static<typeof EndpointEntry>

const Suffix = text('a suffix of lower-case letters, digits and `-`, without the colon', '[a-z0-9][a-z0-9-]*')
const Endpoints = list(EndpointEntry, 'a list of endpoints')
/** A variant of a model. A variant without endpoints has those of its model, at the variant's price if it has one. */
const VariantEntry = Type.Object(
  {
    suffix: Suffix,
    pricing: Type.Optional(Prices),
    modifiers: Modifiers,
    free: Free,
    endpoints: Type.Optional(Endpoints),
  },
  closed,
)
const Variant = Type.Union([Suffix, VariantEntry], { description: 'a suffix, or an object with a suffix' })

/** A model: the fields of §2.10 under their wire names, and further members for routes and lists. */
export const ModelEntry = Type.Object(
  {
    id: text('`author/slug`, without a variant suffix', `${NAME}/${NAME}`),
    canonical_slug: Type.Optional(text('`author/slug`, without a variant suffix', `${NAME}/${NAME}`)),
    name: Name,
    description: Type.Optional(Name),
    aliases: Type.Optional(
      list(
        text('`author/slug` or `slug`, without a variant suffix', `(${NAME}/)?${NAME}`),
        'a list of aliases',
      ),
    ),
    variants: Type.Optional(list(Variant, 'a list of variants')),
    // People can compare a date with an announcement; the wire format needs seconds.
    created: Type.Optional(
      Type.Union(
        [
          Type.Integer({ minimum: 0 }),
          Type.String({ pattern: '^\\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\\d|3[01])$' }),
        ],
        { description: 'Unix time in whole seconds, or a date like `2024-01-25`' },
      ),
    ),
    context_length: Type.Optional(nullable(Tokens)),
    architecture: Type.Optional(
      Type.Object(
        {
          modality: Type.Optional(nullable(Name)),
          input_modalities: Type.Optional(Names),
          output_modalities: Type.Optional(Names),
          tokenizer: Type.Optional(Name),
          instruct_type: Type.Optional(nullable(Name)),
        },
        closed,
      ),
    ),
    /** Prices of all endpoints without their own; `free` works in the same way. */
    pricing: Type.Optional(Prices),
    modifiers: Modifiers,
    free: Free,
    top_provider: Type.Optional(
      Type.Object(
        {
          is_moderated: Type.Optional(Flag),
          context_length: Type.Optional(nullable(Tokens)),
          max_completion_tokens: Type.Optional(nullable(Tokens)),
        },
        closed,
      ),
    ),
    supported_parameters: Type.Optional(Names),
    supported_voices: Type.Optional(nullable(Names)),
    default_parameters: Type.Optional(nullable(DefaultParameters)),
    per_request_limits: Type.Optional(nullable(PerRequestLimits)),
    hugging_face_id: Type.Optional(nullable(Name)),
    expiration_date: Type.Optional(nullable(Name)),
    knowledge_cutoff: Type.Optional(nullable(Name)),
    benchmarks: Type.Optional(Benchmarks),
    reasoning: Type.Optional(Reasoning),
    categories: Type.Optional(Names),
    /** Video facts of a model whose output is video. */
    video: Type.Optional(ModelVideoEntry),
    endpoints: Type.Optional(Endpoints),
  },
  closed,
)
export type ModelEntry = Static<typeof ModelEntry>

/** A catalogue file, as operators write it. Every member of a model but `id` and `name` has a default. */
export const CatalogueFile = Type.Object(
  {
    /** True: the file replaces the whole shipped catalogue instead of extending it. */
    replace: Type.Optional(Flag),
    providers: Type.Optional(list(ProviderEntry, 'a list of providers')),
    models: Type.Optional(list(ModelEntry, 'a list of models')),
  },
  closed,
)
export type CatalogueFile = Static<typeof CatalogueFile>
