import Type, { type Static } from 'typebox'
import { SECRET_NAME_CHARS_MAX } from '../vault/vault-limits.ts'
import { nanoPerMillion } from '../money/prices.ts'
import { SECRET_NAME_PATTERN, SECRET_NAME_RULES } from '../vault/vault.ts'

/** Characters of a private endpoint's slug, and of each of its model ids. Decision. */
export const ENDPOINT_TEXT_CHARS_MAX = 256
/** Characters of a private endpoint's `base_url`. Decision. */
export const BASE_URL_CHARS_MAX = 2_048

const nullable = <T extends Type.TSchema>(shape: T) => Type.Union([shape, Type.Null()])

export const ENDPOINT_STATUSES = ['draft', 'active', 'disabled'] as const
export type EndpointStatus = (typeof ENDPOINT_STATUSES)[number]
export const ENDPOINT_REGIONS = ['global', 'europe', 'us'] as const
export type EndpointRegion = (typeof ENDPOINT_REGIONS)[number]

/** Forms of calls that an endpoint may serve: embeddings, and the dialects of text models. */
export const ENDPOINT_FORMS = ['embeddings', 'chat', 'responses', 'messages'] as const
export type EndpointForm = (typeof ENDPOINT_FORMS)[number]

/** Slugs for any server that speaks OpenAI's protocol. */
export const COMPATIBLE_SLUGS: readonly string[] = ['openai-compatible', 'custom']
/** Slugs of clouds that locate an endpoint without its `base_url`. */
const PLACELESS_SLUGS: readonly string[] = ['azure', 'bedrock', 'vertex']

/** Reasons of a failed check. B2.6 lists further reasons, which other calls report by their status. */
export const CHECK_REASONS = [
  'workspace_not_found',
  'provider_not_found',
  'invalid_base_url',
  'no_byok_key',
  'key_decryption_failed',
  'endpoint_limit_reached',
  'upstream_error',
  'model_not_found',
  'invalid_response',
  'invalid_stream',
  'missing_usage',
  'model_mismatch',
] as const
export type CheckReason = (typeof CHECK_REASONS)[number]

/** Names of checks, in their order. Checks without a result are left out. */
export const CHECK_NAMES = [
  'workspace_ok',
  'provider_ok',
  'base_url_ok',
  'limit_ok',
  'credential_ok',
  'auth_ok',
  'response_ok',
  'stream_ok',
  'model_ok',
  'usage_ok',
] as const
export type CheckName = (typeof CHECK_NAMES)[number]

/** HTTP error statuses. */
const ERRORS = { minimum: 400, maximum: 599 }

const Check = Type.Object({
  name: Type.Enum(CHECK_NAMES),
  passed: Type.Boolean(),
  reason: Type.Optional(Type.Enum(CHECK_REASONS)),
  form: Type.Optional(
    Type.Enum(ENDPOINT_FORMS, {
      description: 'Sluice extension: API format of a failed check, if several formats were tested.',
    }),
  ),
  actual_model: Type.Optional(Type.String({ description: "Model name in the server's answer." })),
  upstream_status: Type.Optional(Type.Integer(ERRORS)),
  upstream_message: Type.Optional(
    Type.String({ description: "The server's error message, without credentials and addresses." }),
  ),
})
export type EndpointCheck = Static<typeof Check>

const DECIMAL = '^\\d+(\\.\\d+)?$'
const PRICE_WORDS = 'a decimal string such as "0.00000002"'
const Price = Type.String({
  pattern: DECIMAL,
  title: PRICE_WORDS,
  description: 'USD per token as a decimal string.',
})
const CachePrice = Type.String({
  pattern: DECIMAL,
  title: PRICE_WORDS,
  description: 'Sluice extension: USD per token as a decimal string; defaults to the prompt price.',
})
/** Unknown members are refused: an unknown price would seem to be charged but would not be. */
export const EndpointPricing = Type.Object(
  {
    prompt: Price,
    completion: Price,
    input_cache_read: Type.Optional(CachePrice),
    input_cache_write: Type.Optional(CachePrice),
  },
  { additionalProperties: false },
)
export type EndpointPricing = Static<typeof EndpointPricing>
const ENDPOINT_PRICES = ['prompt', 'completion', 'input_cache_read', 'input_cache_write'] as const

const Form = Type.Enum(ENDPOINT_FORMS)
const FORMS_RANGE = { minItems: 1, maxItems: ENDPOINT_FORMS.length, uniqueItems: true } as const
const Forms = nullable(
  Type.Array(Form, {
    ...FORMS_RANGE,
    description:
      'Sluice extension: API formats that the server must support. By default, validation covers every API format of the protocol.',
  }),
)

const Region = nullable(Type.Enum(ENDPOINT_REGIONS))
/** The store's texts may contain any character but U+0000. */
const Text = (description?: string) =>
  Type.String({
    minLength: 1,
    maxLength: ENDPOINT_TEXT_CHARS_MAX,
    pattern: '^[^\\u0000]*$',
    title: `a string of 1 to ${ENDPOINT_TEXT_CHARS_MAX} characters without U+0000`,
    ...(description !== undefined && { description }),
  })
const BaseUrl = Type.String({
  minLength: 1,
  maxLength: BASE_URL_CHARS_MAX,
  description:
    'HTTPS URL of the server. A trailing `/` or `/chat/completions` is removed, and the host is stored in lower case.',
})
const SecretName = nullable(
  Type.String({
    pattern: SECRET_NAME_PATTERN,
    maxLength: SECRET_NAME_CHARS_MAX,
    title: SECRET_NAME_RULES,
    description:
      'Sluice extension: name of the workspace secret that authenticates to the server; the secret must be bound to the host of `base_url`.',
  }),
)
const WorkspaceId = Type.String({ format: 'uuid' })

export const CreateEndpointBody = Type.Object({
  model_permaslug: Type.String({
    minLength: 1,
    maxLength: ENDPOINT_TEXT_CHARS_MAX,
    pattern: '^[\\w.-]+/[\\w.-]+$',
    title: `an author/slug of at most ${ENDPOINT_TEXT_CHARS_MAX} letters, digits, dots, hyphens and underscores`,
    description: 'The canonical slug of a model, or a new `author/slug`.',
  }),
  provider_slug: Text(
    'Slug of a provider in the catalogue, or `openai-compatible`; the slug determines the protocol.',
  ),
  upstream_model_id: Text(),
  base_url: Type.Optional(nullable(BaseUrl)),
  declared_region: Type.Optional(Region),
  declared_zdr: Type.Optional(nullable(Type.Boolean())),
  pricing: Type.Optional(EndpointPricing),
  secret_name: Type.Optional(SecretName),
  forms: Type.Optional(Forms),
  activate: Type.Optional(Type.Object({ workspace_id: WorkspaceId })),
})
export type CreateEndpointBody = Static<typeof CreateEndpointBody>

/** Body of PATCH /private-endpoints/{id}: omitted fields keep their value. */
export const UpdateEndpointBody = Type.Object({
  upstream_model_id: Text(),
  base_url: Type.Optional(BaseUrl),
  declared_region: Type.Optional(Region),
  declared_zdr: Type.Optional(nullable(Type.Boolean())),
  pricing: Type.Optional(EndpointPricing),
  secret_name: Type.Optional(SecretName),
  forms: Type.Optional(Forms),
})
export type UpdateEndpointBody = Static<typeof UpdateEndpointBody>

export const ValidateEndpointBody = Type.Object({
  workspace_id: WorkspaceId,
  forms: Type.Optional(
    nullable(
      Type.Array(Form, {
        ...FORMS_RANGE,
        description:
          'Sluice extension: API formats that must pass in this validation, instead of the `forms` of the draft.',
      }),
    ),
  ),
})
export type ValidateEndpointBody = Static<typeof ValidateEndpointBody>

export const SetEndpointPricingBody = Type.Object({ pricing: EndpointPricing })
export type SetEndpointPricingBody = Static<typeof SetEndpointPricingBody>

/** An invalid id is answered like an unknown one. */
export const EndpointParams = Type.Object({ id: Type.String({ minLength: 1 }) })
export const DeleteEndpointQuery = Type.Object({
  draft_only: Type.Optional(
    Type.Boolean({ description: 'Set to true to delete the endpoint only if it was never activated.' }),
  ),
})

const summary = {
  id: Type.String({ format: 'uuid' }),
  status: Type.Enum(ENDPOINT_STATUSES),
  model_permaslug: Type.String(),
  model_name: nullable(Type.String()),
  model_slug: nullable(Type.String({ description: 'Model id that callers send.' })),
  provider_name: Type.String(),
  created_at: Type.String({ format: 'date-time' }),
  declared_region: Region,
  declared_zdr: nullable(Type.Boolean()),
}

export const EndpointSummary = Type.Object(summary)
export type EndpointSummary = Static<typeof EndpointSummary>
export const WholeEndpoint = Type.Object({
  ...summary,
  base_url: nullable(Type.String()),
  provider_slug: nullable(Type.String()),
  upstream_model_id: Type.String(),
  pricing: EndpointPricing,
  secret_name: nullable(Type.String()),
  workspace_id: nullable(
    Type.String({
      format: 'uuid',
      description: 'Sluice extension: workspace of the last successful validation.',
    }),
  ),
  forms: Forms,
  speaks: Type.Array(Form, {
    description:
      'Sluice extension: API formats found by the last successful validation; Sluice uses only these formats.',
  }),
})
export type WholeEndpoint = Static<typeof WholeEndpoint>

export const EndpointSummaryAnswer = Type.Object({ data: EndpointSummary })
export const EndpointListAnswer = Type.Object({ data: Type.Array(EndpointSummary) })
export const WholeEndpointAnswer = Type.Object({ data: WholeEndpoint })
export const EndpointDeletedAnswer = Type.Object({
  data: Type.Object({ id: Type.String({ format: 'uuid' }) }),
})
const FormFinding = Type.Object({
  form: Form,
  passed: Type.Boolean(),
  checks: Type.Array(Check, {
    description: 'Checks of this API format; empty if the format was not tested.',
  }),
  is_unprobed: Type.Optional(
    Type.Literal(true, {
      description:
        'True when the node had no capacity to test this format; in that case, validate the endpoint again.',
    }),
  ),
})
export type FormFinding = Static<typeof FormFinding>
export const EndpointValidationAnswer = Type.Object({
  data: Type.Object({
    passed: Type.Boolean(),
    checks: Type.Array(Check),
    forms: Type.Array(FormFinding, { description: 'Sluice extension: result for each API format.' }),
  }),
})

export interface EndpointPlace {
  /** The URL as stored. */
  readonly url: string
  /** Lower case, without a trailing dot. */
  readonly host: string
  /** Null: the default port of HTTPS. */
  readonly port: number | null
  /** Without a trailing slash. */
  readonly path: string
}

const CHAT = '/chat/completions'

/** Normalizes a `base_url`; null for an invalid one: a scheme other than HTTPS, credentials, a query or a fragment. */
export function placeOf(baseUrl: string): EndpointPlace | null {
  if (!URL.canParse(baseUrl)) return null
  const url = new URL(baseUrl)
  // An empty query or fragment (a lone `?` or `#`) is not visible in the parsed URL.
  if (url.protocol !== 'https:' || url.username !== '' || url.password !== '' || /[?#]/.test(baseUrl))
    return null
  const host = url.hostname.replace(/\.$/, '')
  if (host === '') return null
  let path = url.pathname.replace(/\/$/, '')
  if (path.endsWith(CHAT)) path = path.slice(0, -CHAT.length)
  const port = url.port === '' ? null : Number(url.port)
  return { url: `https://${host}${port === null ? '' : `:${port}`}${path}`, host, port, path }
}

/** Whether an endpoint of this provider may omit its `base_url`. */
export function mayBePlaceless(providerSlug: string): boolean {
  return PLACELESS_SLUGS.includes(providerSlug)
}

/** Names of prices that are not whole nano-USD per million tokens. */
export function uncountable(pricing: EndpointPricing): readonly (keyof EndpointPricing)[] {
  return ENDPOINT_PRICES.filter((name) => {
    const price = pricing[name]
    return price !== undefined && nanoPerMillion(price) === null
  })
}
