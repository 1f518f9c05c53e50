import Type, { type Static, type TSchema } from 'typebox'
import { NAME_CHARS_MAX } from '../workspaces/workspace-limits.ts'
import { INSTANT_RULES } from '../values/instants.ts'
import { readableCount } from '../values/readable.ts'
import { FailureWords } from '../failure-words.ts'
import {
  ASKED_MODELS_COMPARED_MAX,
  REQUESTS_EXPORT_MAX,
  REQUESTS_EXPORT_MS_MAX,
  REQUESTS_KEYS_NAMED_MAX,
  REQUESTS_PAGE_DEFAULT,
  REQUESTS_PAGE_MAX,
} from './request-limits.ts'

/** The fewest characters of a key's hash in a filter. Decision. */
export const REQUESTS_KEY_PREFIX_MIN = 6

const nullable = <T extends TSchema>(shape: T, description: string) =>
  Type.Union([shape, Type.Null()], { description })
const word = (title: string, description: string) =>
  Type.Optional(Type.String({ minLength: 1, pattern: '^[^\\u0000]+$', title, description }))
const instant = (description: string) => Type.Optional(Type.String({ title: INSTANT_RULES, description }))
const count = (description: string) => Type.Integer({ minimum: 0, description })
const milliseconds = (description: string) => nullable(Type.Number({ minimum: 0 }), description)

/** Milliseconds in a minute. */
const MINUTE_MS = 60_000

/** The forms of an answer: a page of JSON, or the same rows as CSV or as one JSON object per line. */
export const REQUEST_FORMATS = ['json', 'csv', 'ndjson'] as const
export type RequestFormat = (typeof REQUEST_FORMATS)[number]

export const ListRequestsQuery = Type.Object({
  workspace_id: word(
    'UUID or slug of a workspace',
    'Id of a workspace; returns only calls made with its keys.',
  ),
  key: Type.Optional(
    Type.String({
      pattern: `^[0-9a-f]{${REQUESTS_KEY_PREFIX_MIN},64}$`,
      title: `the hash of a key, or at least its first ${REQUESTS_KEY_PREFIX_MIN} characters`,
      description: 'Hash of an API key, or the beginning of its hash.',
    }),
  ),
  key_name: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: NAME_CHARS_MAX,
      pattern: '^[^\\u0000]+$',
      title: 'the name of a key, or its first characters',
      description:
        'Beginning of the name of a key, case-insensitive. ' +
        `Matches at most ${readableCount(REQUESTS_KEYS_NAMED_MAX)} keys, including deleted ones.`,
    }),
  ),
  request_id: word('the id of a request', 'Id of the request, as in the header `x-request-id`.'),
  operation: word('the id of an operation', 'Id of the operation, such as `embeddings.create`.'),
  model: word('the id of a model', 'Id of the model, such as `openai/text-embedding-3-small`.'),
  model_prefix: word(
    'the first characters of a model id',
    'Beginning of a model id, with or without its author, such as `openai/gpt` or `gpt`.',
  ),
  provider: word(
    'the slug of a provider',
    'Slug of the provider that answered, or of the last provider that failed.',
  ),
  status: Type.Optional(
    Type.String({
      pattern: '^[1-5](\\d\\d|xx)$',
      title: 'a status such as 429, or a status class such as 5xx',
      description: 'HTTP status, or a class such as `4xx`.',
    }),
  ),
  error_type: word('the name of an error', 'Error type of the answer.'),
  failed: Type.Optional(
    Type.Boolean({ description: '`true` returns only failed calls, `false` only successful calls.' }),
  ),
  left: Type.Optional(
    Type.Boolean({
      description:
        '`true` returns only calls whose client disconnected before the end of the answer, `false` only all others.',
    }),
  ),
  from: instant('Returns only calls that ended at or after this time, in ISO 8601 with offset.'),
  to: instant('Returns only calls that ended before this time.'),
  min_duration_ms: Type.Optional(
    Type.Number({ minimum: 0, description: 'Minimum duration in milliseconds.' }),
  ),
  min_cost_usd: Type.Optional(
    Type.Number({ minimum: 0, maximum: 1_000_000, description: 'Minimum cost in USD.' }),
  ),
  unauthenticated: Type.Optional(
    Type.Boolean({
      description:
        '`true` returns only calls without a valid key, which do not belong to an organization. ' +
        "Only keys of the operator's organization may use `unauthenticated`.",
    }),
  ),
  cursor: word('a cursor', 'Value of `next_cursor` from the previous page.'),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: REQUESTS_PAGE_MAX,
      default: REQUESTS_PAGE_DEFAULT,
      description: 'Maximum number of rows on the page.',
    }),
  ),
  format: Type.Optional(
    Type.Enum([...REQUEST_FORMATS], {
      default: 'json',
      description:
        'Format of the answer: JSON, CSV, or one JSON object per line. ' +
        'With CSV and NDJSON, the cursor of the next page is in the header `x-sluice-next-cursor`.',
    }),
  ),
  all: Type.Optional(
    Type.Boolean({
      description:
        '`true` with `format=csv` or `format=ndjson` returns, in one streamed download, ' +
        `the newest ${readableCount(REQUESTS_EXPORT_MAX)} matching rows; not allowed with \`limit\` or \`cursor\`. ` +
        `A download is cut off after ${REQUESTS_EXPORT_MS_MAX / MINUTE_MS} minutes.`,
    }),
  ),
})
export type ListRequestsQuery = Static<typeof ListRequestsQuery>

const FailedAttempt = Type.Object({
  provider: Type.String({ description: 'Slug of the provider.' }),
  status: nullable(Type.Integer(), 'HTTP status of the provider; null when it did not answer.'),
  code: Type.String({
    description: 'Error code of the provider, the connection or Sluice; `other` when unknown.',
  }),
  started_ms: Type.Number({
    description: 'Milliseconds from the start of the call to the start of the attempt.',
  }),
  duration_ms: Type.Number({ description: 'Duration of the attempt in milliseconds.' }),
})

const Reason = Type.Object(
  {
    message: nullable(
      Type.String(),
      'Error message of the answer; null if it contained text from the caller or the provider.',
    ),
    issues: Type.Array(
      Type.Object({
        path: Type.String({
          description: 'JSON Pointer to the invalid field; `*` replaces each name that is not in the schema.',
        }),
        expected: nullable(Type.String(), 'Allowed values; null if they would repeat text from the request.'),
      }),
      { description: 'Invalid inputs, without their values.' },
    ),
    facts: Type.Record(Type.String(), Type.Union([Type.String(), Type.Number()]), {
      description:
        'Facts by name: limits, amounts in USD, token counts and kinds, such as `limit`, `spend`, `max_cost`, ' +
        "`affordable_output_tokens`, the provider's `status`, " +
        'the kind of a failed `connection`, the `nearest` model names and the `variables` that a provider needs.',
    }),
  },
  { description: 'Details of the error, without content, keys, or text from the caller or the provider.' },
)

export const LIMIT_OWNERS = ['organization', 'workspace', 'key'] as const

export const RequestShape = Type.Object({
  id: Type.String({ description: 'Id of the row; several calls may share a `request_id`.' }),
  request_id: Type.String({ description: 'Id of the request, as in the header `x-request-id`.' }),
  started_at: Type.String({ format: 'date-time', description: 'When the call began.' }),
  ended_at: Type.String({
    format: 'date-time',
    description: 'When the last byte was written or the client disconnected.',
  }),
  operation: Type.String({ description: 'Id of the operation; `unrouted` for a path that does not exist.' }),
  status: nullable(
    Type.Integer({ minimum: 0 }),
    'HTTP status of the answer; 0 when none was sent, null when unknown.',
  ),
  error_type: nullable(Type.String(), 'Error type; null when the call succeeded.'),
  reason: Type.Union([Reason, Type.Null()], {
    description: 'Details of the error beyond its `error_type`; null when there are none.',
  }),
  docs_url: nullable(Type.String(), 'Path of the page about this error.'),
  limit: nullable(
    Type.String(),
    'Limit that refused the call: its owner and interval, such as `key monthly`.',
  ),
  workspace_id: nullable(
    Type.String({ format: 'uuid' }),
    'Id of the workspace; null for keys of the organization and calls without a valid key.',
  ),
  key: nullable(Type.String(), 'Hash of the API key.'),
  key_name: nullable(Type.String(), 'Name of the key.'),
  model: nullable(
    Type.String(),
    'Id of the model. For `model_unknown`, the requested name if it looks like a model id.',
  ),
  provider: nullable(
    Type.String(),
    'Slug of the provider that answered, or of the last provider that failed.',
  ),
  attempts: count('Number of endpoints that were tried.'),
  failed_attempts: Type.Array(FailedAttempt, { description: 'Failed attempts, in order.' }),
  duration_ms: milliseconds('Duration of the call in milliseconds; null when unknown.'),
  parts: Type.Object(
    {
      auth_ms: milliseconds('Time to check the key and its access.'),
      limits_ms: milliseconds('Time spent in rate limiting.'),
      validation_ms: milliseconds('Time to receive and validate the body.'),
      hold_ms: milliseconds('Time to reserve the maximum cost of the call.'),
      provider_ms: milliseconds('Duration of the attempt that answered.'),
      first_byte_ms: milliseconds('Time from the start of the call to the first output.'),
    },
    { description: 'Parts of the duration in milliseconds; null for parts that the call did not reach.' },
  ),
  tokens: Type.Object(
    {
      input: nullable(Type.Integer({ minimum: 0 }), 'Tokens in the prompt.'),
      output: nullable(Type.Integer({ minimum: 0 }), 'Output tokens.'),
      cached: nullable(Type.Integer({ minimum: 0 }), "Prompt tokens read from the provider's cache."),
    },
    { description: 'Token counts; null when no model was called or none were reported.' },
  ),
  cost_usd: nullable(Type.Number({ minimum: 0 }), 'USD charged; null when the call cost nothing.'),
  charged_to: Type.Array(Type.Enum([...LIMIT_OWNERS]), {
    description: 'Owners of the spending limits that the call counts against.',
  }),
  is_byok: Type.Boolean({ description: "True when the workspace's own provider key was used." }),
  is_estimated: Type.Boolean({ description: 'True when Sluice estimated the token counts.' }),
  is_unpriced: Type.Boolean({ description: 'True when the endpoint has no price and nothing was charged.' }),
  is_client_gone: Type.Boolean({
    description: 'True when the client disconnected before the end of the answer.',
  }),
  request_bytes: nullable(
    Type.Integer({ minimum: 0 }),
    'Size of the request body in bytes; null for a chunked request.',
  ),
  reply_bytes: nullable(Type.Integer({ minimum: 0 }), "Number of bytes of the answer's body that were sent."),
  weight: Type.Integer({
    minimum: 1,
    description:
      'Number of calls that the row represents; above 1 when Sluice keeps only a sample of many similar refusals or reads.',
  }),
  is_recovered: Type.Boolean({
    description:
      'True when the row was rebuilt from the ledger because the process was killed or the disk was full.',
  }),
})
export type RequestShape = Static<typeof RequestShape>

export const RequestListAnswer = Type.Object({
  data: Type.Array(RequestShape, {
    description:
      'Calls, sorted by end time, newest first. A page may be short or empty even if more pages follow.',
  }),
  has_more: Type.Boolean({ description: 'True when another page follows.' }),
  next_cursor: nullable(Type.String(), 'Value of `cursor` for the next page.'),
  errors: Type.Record(Type.String(), FailureWords, {
    description: 'Cause and fix of each error type in these rows.',
  }),
  nearest_models: Type.Record(Type.String(), Type.Array(Type.String()), {
    description: `Suggested model ids for up to ${ASKED_MODELS_COMPARED_MAX} misspelt models in these rows.`,
  }),
})
