import Type, { type Static, type TSchema } from 'typebox'
import { NAME_CHARS_MAX } from '../workspaces/workspace-limits.ts'
import { INSTANT_RULES } from '../values/instants.ts'
import { FailureWords } from '../failure-words.ts'
import {
  ASKED_MODELS_COMPARED_MAX,
  REQUESTS_EXPORT_MAX,
  REQUESTS_KEYS_NAMED_MAX,
  REQUESTS_KEY_PREFIX_MIN,
  REQUESTS_PAGE_DEFAULT,
  REQUESTS_PAGE_MAX,
} from './request-limits.ts'

const nullable = <T extends TSchema>(shape: T, description: string) =>
  Type.Union([shape, Type.Null()], { description })
const word = (title: string, description: string) =>
  Type.Optional(Type.String({ minLength: 1, pattern: '^[^\\u0000]+$', title, description }))
const instant = (description: string) => Type.Optional(Type.String({ title: INSTANT_RULES, description }))
const count = (description: string) => Type.Integer({ minimum: 0, description })
const milliseconds = (description: string) => nullable(Type.Number({ minimum: 0 }), description)

/** The forms of an answer: a page of JSON, or the same rows as a table or as one object a line. */
export const REQUEST_FORMATS = ['json', 'csv', 'ndjson'] as const
export type RequestFormat = (typeof REQUEST_FORMATS)[number]

export const ListRequestsQuery = Type.Object({
  workspace_id: word('UUID or slug of a workspace', 'Calls of keys of this workspace.'),
  key: Type.Optional(
    Type.String({
      pattern: `^[0-9a-f]{${REQUESTS_KEY_PREFIX_MIN},64}$`,
      title: `the hash of a key, or ${REQUESTS_KEY_PREFIX_MIN} or more characters of its begin`,
      description: 'Calls of this key, by its hash as `GET /keys` lists it, or by the begin of the hash.',
    }),
  ),
  key_name: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: NAME_CHARS_MAX,
      pattern: '^[^\\u0000]+$',
      title: 'the name of a key, or the first characters of it',
      description:
        'Calls of the keys of the organization whose name begins with this text; upper and lower case are the same. ' +
        `Deleted keys count too, up to ${REQUESTS_KEYS_NAMED_MAX} keys.`,
    }),
  ),
  request_id: word('id of a request', 'The call with this `x-request-id`.'),
  operation: word('id of an operation', 'Calls of this operation, such as `embeddings.create`.'),
  model: word('id of a model', 'Calls of this model, such as `openai/text-embedding-3-small`.'),
  model_prefix: word(
    'the first characters of the id of a model',
    'Calls of models whose id, or the part of it after the author, begins with this text: `openai/gpt` or `gpt`.',
  ),
  provider: word('slug of a provider', 'Calls that this provider answered, or was the last to fail.'),
  status: Type.Optional(
    Type.String({
      pattern: '^[1-5](\\d\\d|xx)$',
      title: 'a status such as 429, or a class of them such as 5xx',
      description: 'Calls that were answered with this status, or with one of this class.',
    }),
  ),
  error_type: word('name of an error', 'Calls that failed so: the `error_type` of their answer.'),
  failed: Type.Optional(
    Type.Boolean({ description: '`true`: calls that failed in any way; `false`: calls that did not.' }),
  ),
  left: Type.Optional(
    Type.Boolean({
      description: '`true`: calls whose client left before the end of the answer; `false`: the others.',
    }),
  ),
  from: instant('Calls that ended at this instant or later (ISO 8601 with its offset).'),
  to: instant('Calls that ended before this instant.'),
  min_duration_ms: Type.Optional(
    Type.Number({ minimum: 0, description: 'Calls that took so many milliseconds or more.' }),
  ),
  min_cost_usd: Type.Optional(
    Type.Number({ minimum: 0, maximum: 1_000_000, description: 'Calls that cost so many USD or more.' }),
  ),
  unauthenticated: Type.Optional(
    Type.Boolean({
      description:
        '`true`: calls without a valid key, which belong to no organization; for keys of the operator alone.',
    }),
  ),
  cursor: word('a cursor', 'The `next_cursor` of the page before.'),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: REQUESTS_PAGE_MAX,
      default: REQUESTS_PAGE_DEFAULT,
      description: 'Rows of the page at most.',
    }),
  ),
  format: Type.Optional(
    Type.Enum([...REQUEST_FORMATS], {
      default: 'json',
      description:
        'The form of the answer: a page of JSON, or its rows as a table or as one object a line. ' +
        'The cursor of the next page is in `x-sluice-next-cursor` then.',
    }),
  ),
  all: Type.Optional(
    Type.Boolean({
      description:
        '`true`, with `format=csv` or `format=ndjson`: all rows that the search finds in one streamed download, ' +
        `up to the newest ${REQUESTS_EXPORT_MAX}; without \`limit\` and \`cursor\`.`,
    }),
  ),
})
export type ListRequestsQuery = Static<typeof ListRequestsQuery>

const FailedAttempt = Type.Object({
  provider: Type.String({ description: 'Slug of the provider.' }),
  status: nullable(Type.Integer(), 'Its HTTP status; null: it did not answer.'),
  code: Type.String({
    description:
      "The provider's own code, else that of the connection or of the failure; `other`: one that Sluice does not know.",
  }),
  started_ms: Type.Number({ description: 'Milliseconds from the begin of the call.' }),
  duration_ms: Type.Number({ description: 'Milliseconds of the attempt.' }),
})

const Reason = Type.Object(
  {
    message: nullable(
      Type.String(),
      'The message of the answer, where it has the words and numbers of Sluice alone; null: it had others.',
    ),
    issues: Type.Array(
      Type.Object({
        path: Type.String({
          description: 'JSON pointer to the input; `*` stands for each name that no schema has.',
        }),
        expected: nullable(Type.String(), "What was expected; null: it has the caller's words."),
      }),
      { description: 'Inputs that were wrong, without their values.' },
    ),
    facts: Type.Record(Type.String(), Type.Union([Type.String(), Type.Number()]), {
      description:
        'Limits, amounts in USD, tokens and kinds by their names, such as `limit`, `spend`, `max_cost`, ' +
        "`affordable_output_tokens`, the provider's `status` and the kind of a failed `connection`.",
    }),
  },
  { description: 'Why the call failed, without content, keys and words of a caller or a provider.' },
)

export const LIMIT_OWNERS = ['organization', 'workspace', 'key'] as const

export const RequestShape = Type.Object({
  id: Type.String({ description: 'Of the row; several calls may share a `request_id`.' }),
  request_id: Type.String({ description: 'The `x-request-id` of the call.' }),
  started_at: Type.String({ format: 'date-time', description: 'When the call began.' }),
  ended_at: Type.String({
    format: 'date-time',
    description: 'When its last byte was written, or its client left.',
  }),
  operation: Type.String({ description: 'Id of the operation; `unrouted`: a path that does not exist.' }),
  status: nullable(Type.Integer({ minimum: 0 }), 'Of the answer; 0: none was sent; null: not known.'),
  error_type: nullable(Type.String(), 'Why the call failed; null: it did not.'),
  reason: Type.Union([Reason, Type.Null()], {
    description: 'Why the call failed beyond its `error_type`; null: nothing more is known.',
  }),
  docs_url: nullable(Type.String(), 'The page about this error, on both ports.'),
  limit: nullable(
    Type.String(),
    'What refused the call: the owner of a limit and its interval, `key monthly`.',
  ),
  workspace_id: nullable(
    Type.String({ format: 'uuid' }),
    'Null: a key of the organization, or no valid key.',
  ),
  key: nullable(Type.String(), 'Hash of the key.'),
  key_name: nullable(Type.String(), 'Name of the key.'),
  model: nullable(
    Type.String(),
    'Id of the model. Of `model_unknown` the name that the call asked for, where it is like that of a model.',
  ),
  provider: nullable(Type.String(), 'Slug of the provider that answered, or was the last to fail.'),
  attempts: count('Endpoints that were tried.'),
  failed_attempts: Type.Array(FailedAttempt, { description: 'Those that failed, in their order.' }),
  duration_ms: milliseconds('Of the whole call; null: not known.'),
  parts: Type.Object(
    {
      auth_ms: milliseconds('Until the key was known, with what it may see.'),
      limits_ms: milliseconds('Until the limit of requests let the call in.'),
      validation_ms: milliseconds('Until the body had arrived and was checked.'),
      hold_ms: milliseconds('Until the most that the call may cost was reserved.'),
      provider_ms: milliseconds('Of the attempt that answered.'),
      first_byte_ms: milliseconds('From the begin of the call until the first output of the model.'),
    },
    { description: 'Parts of the duration; null: the call did not come so far, or has no such part.' },
  ),
  tokens: Type.Object(
    {
      input: nullable(Type.Integer({ minimum: 0 }), 'Of the prompt.'),
      output: nullable(Type.Integer({ minimum: 0 }), 'Of the answer.'),
      cached: nullable(
        Type.Integer({ minimum: 0 }),
        'Of the prompt, those that a cache of the provider had.',
      ),
    },
    { description: 'Null: no model was asked, or it told none.' },
  ),
  cost_usd: nullable(Type.Number({ minimum: 0 }), 'What was charged; null: the call cost nothing.'),
  charged_to: Type.Array(Type.Enum([...LIMIT_OWNERS]), {
    description: 'Owners of the limits of money that the call counts against.',
  }),
  is_byok: Type.Boolean({ description: 'Called with a provider key of the workspace.' }),
  is_estimated: Type.Boolean({ description: "The tokens are Sluice's own count." }),
  is_unpriced: Type.Boolean({ description: 'The endpoint has no price, and nothing was charged.' }),
  is_client_gone: Type.Boolean({ description: 'The client left before the end of the answer.' }),
  request_bytes: nullable(Type.Integer({ minimum: 0 }), 'Of the body; null: it came in chunks.'),
  reply_bytes: nullable(Type.Integer({ minimum: 0 }), 'Of the body of the answer, as far as it was written.'),
  weight: Type.Integer({
    minimum: 1,
    description: 'Calls that the row stands for: of many equal refusals and reads only a share is kept.',
  }),
  is_recovered: Type.Boolean({
    description:
      'The log had lost the call, as its process was killed or the disk was full; the row has what the ledger tells.',
  }),
})
export type RequestShape = Static<typeof RequestShape>

export const RequestListAnswer = Type.Object({
  data: Type.Array(RequestShape, {
    description:
      'Newest end first. A page of a search that finds little may be short or empty though there are more.',
  }),
  has_more: Type.Boolean({ description: 'Another page follows.' }),
  next_cursor: nullable(Type.String(), '`cursor` of the next page.'),
  errors: Type.Record(Type.String(), FailureWords, {
    description:
      'What the `error_type`s of these rows mean for the operator, and what helps, by their names.',
  }),
  nearest_models: Type.Record(Type.String(), Type.Array(Type.String()), {
    description: `Of up to ${ASKED_MODELS_COMPARED_MAX} misspelt models of these rows, the models that they may stand for.`,
  }),
})
