import type { TSchema } from 'typebox'
import { API_PREFIX, GUIDES_PATH } from '../../../schemas/api-prefix.ts'
import { BODIES } from '../../../schemas/bodies.ts'
import { AccountErrorEnvelope, ErrorEnvelope } from '../../../schemas/envelope.ts'
import { FAILURES, statusOf, type FailureName } from '../../../schemas/failures.ts'
import { scopesText } from '../../../schemas/keys/scopes.ts'
import {
  FILE_EXPIRES_S_MAX,
  FILE_EXPIRES_S_MIN,
  PURPOSE_CHARS_MAX,
} from '../../../schemas/files/file-limits.ts'
import { FILENAME_RULES } from '../../../schemas/files/filenames.ts'
import { IDEMPOTENCY_HEADERS } from '../../../schemas/idempotency.ts'
import { IDEMPOTENCY_KEY_CHARS_MAX } from '../../../schemas/limits/idempotency-limits.ts'
import { SESSION_ID_CHARS_MAX } from '../../../schemas/limits/limits.ts'
import { isRateLimited, prefixOf, type AnyOperation } from '../../operations/define.ts'
import { SCIM_CONTENT_TYPE, ScimError } from '../../../schemas/scim/scim-errors.ts'
import {
  UPLOAD_FAILURES,
  FORM_FAILURES,
  STAGE_FAILURES,
  BODY_FAILURES,
  IDEMPOTENCY_FAILURES,
} from './openapi-failures.ts'
import { parameterDescription } from './openapi-parameters.ts'
import { TAGS, type TagText } from '../../operations/tags.ts'
import { WEBHOOK_SCHEMAS, WEBHOOKS } from './openapi-webhooks.ts'
import { listedBy, statusLine } from '../reply/reply.ts'
import { METHODS_OF_ANY } from '../call/route-table.ts'

/** Version of the interface, not of the product. §9. */
const INTERFACE_VERSION = '1.0.0'
const UNAUTHORIZED: number = FAILURES.credentials_missing.status[0]
const PARTIAL_CONTENT = 206
const NOT_MODIFIED = 304
const RATE_LIMITED: number = FAILURES.rate_limited.status[0]
/** Statuses whose replies name the time of a retry. */
const RETRIED: readonly number[] = [FAILURES.rate_limited.status[0], FAILURES.busy.status[0]]

type Json = Readonly<Record<string, unknown>>

/** The OpenAPI 3.1 document, derived from the operations alone. */
export function openApiOf(operations: readonly AnyOperation[]): Json {
  const schemas: Record<string, unknown> = {
    Error: ErrorEnvelope,
    AccountError: AccountErrorEnvelope,
    ...WEBHOOK_SCHEMAS,
  }
  if (operations.some(({ area }) => area === 'scim')) schemas['ScimError'] = ScimError
  const paths: Record<string, Record<string, unknown>> = {}
  for (const operation of operations) {
    const prefix = prefixOf(operation)
    const path = (paths[operation.path] ??=
      prefix === API_PREFIX ? {} : { servers: [{ url: prefix === '' ? '/' : prefix }] })
    const described = operationOf(operation, schemas)
    if (operation.method !== 'any') path[operation.method] = described
    // OpenAPI has no word for all methods: each method has the same text with an id of its own.
    else for (const method of METHODS_OF_ANY) path[method] = ofAny(operation, method, described)
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Sluice',
      version: INTERFACE_VERSION,
      summary: 'A self-hosted AI gateway.',
      description:
        '`HEAD` is served wherever `GET` is, with the same headers and no body. An optional member of a JSON body may be ' +
        '`null`, which is the same as leaving it out wherever its schema gives null no meaning of its own.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: API_PREFIX }],
    security: [{ bearer: [] }],
    tags: tagsOf(operations),
    paths,
    webhooks: WEBHOOKS,
    components: {
      schemas,
      securitySchemes: { bearer: SECURITY, 'x-sluice-key': KEY_HEADER },
      headers: COMMON_HEADERS,
    },
  }
}

const SECURITY: Json = { type: 'http', scheme: 'bearer', description: 'An API key of this installation.' }

const KEY_HEADER: Json = {
  type: 'apiKey',
  in: 'header',
  name: 'x-sluice-key',
  description: 'The same, where `Authorization` is for somebody else.',
}

/** Methods that are described without a request body. */
const BODILESS: readonly string[] = ['get', 'head', 'options', 'delete']

function ofAny(operation: AnyOperation, method: string, described: Json): Json {
  const { requestBody, ...rest } = described
  return {
    ...rest,
    operationId: `${operation.id}.${method}`,
    ...(!BODILESS.includes(method) && { requestBody }),
  }
}

const COMMON_HEADERS: Json = {
  AcceptRanges: { description: 'Parts can be asked for by `Range`.', schema: { const: 'bytes' } },
  CacheControl: { description: 'No shared cache keeps it.', schema: { const: 'private' } },
  ContentDisposition: {
    description: 'A download, under the name of the file without its folders.',
    schema: { type: 'string' },
  },
  ContentTypeOptions: {
    description: 'Browsers show it as what it says it is.',
    schema: { const: 'nosniff' },
  },
  ContentRange: { description: 'Which bytes these are, of how many.', schema: { type: 'string' } },
  Error: {
    description: 'The error type: this answer is ours, and not that of whom the request is for.',
    schema: { type: 'string' },
  },
  ETag: { description: 'Strong; for `If-Range` and `If-None-Match`.', schema: { type: 'string' } },
  RequestId: {
    description: 'The id of this call, or the one that the caller sent.',
    schema: { type: 'string' },
  },
  RetryAfter: {
    description: 'Seconds to wait before trying again.',
    schema: { type: 'integer', minimum: 1 },
  },
  ShouldRetry: {
    description: 'False when the same call cannot succeed before something changes.',
    schema: { const: 'false' },
  },
}

const LIST_HEADERS = {
  'content-encoding': '`gzip`, of a list of 64 KiB and more to a caller whose `accept-encoding` names it.',
  vary: '`accept-encoding`: a list may come compressed.',
}

/** Request headers of every download, in their order. RFC 9110 §13, §14. */
const CONTENT_HEADERS = ['range', 'if-range', 'if-none-match'] as const

const UPLOADS: Readonly<Record<'form' | 'raw' | 'whole', Json>> = {
  form: {
    'multipart/form-data': {
      schema: {
        type: 'object',
        required: ['file'],
        properties: {
          file: {
            type: 'string',
            format: 'binary',
            description: `The file, with its name: ${FILENAME_RULES}.`,
          },
          purpose: {
            type: 'string',
            maxLength: PURPOSE_CHARS_MAX,
            description: "As OpenAI's clients send it; kept for their shape.",
          },
          'expires_after[anchor]': { const: 'created_at', description: 'Needed with the seconds.' },
          'expires_after[seconds]': {
            type: 'integer',
            minimum: FILE_EXPIRES_S_MIN,
            maximum: FILE_EXPIRES_S_MAX,
            description:
              'The file is removed so long after its creation; Anthropic, as a provider, knows no such end.',
          },
        },
      },
    },
  },
  raw: { 'application/octet-stream': { schema: { type: 'string', format: 'binary' } } },
  whole: { '*/*': { schema: { type: 'string', format: 'binary' } } },
}

const HEADER_SHAPES: Readonly<Record<string, Json>> = {
  'x-sluice-substitute': {
    const: 'body',
    description: 'Placeholders in the body, of up to 64 KiB, are replaced too.',
  },
  range: { type: 'string', description: 'One range of bytes, `bytes=0-99`; several are ignored.' },
  'if-range': { type: 'string', description: 'An `ETag`: the range holds only for that content.' },
  'if-match': { type: 'string', description: 'An `ETag`: 412 when the resource is another version by now.' },
  'if-none-match': { type: 'string', description: 'An `ETag`: 304 when the content is still that one.' },
  'anthropic-version': { type: 'string', description: "Answers in Anthropic's shape of a file." },
  'anthropic-beta': { type: 'string', description: 'The same.' },
  'user-agent': {
    type: 'string',
    description: "One that begins with `OpenAI/` gets OpenAI's shape of a file.",
  },
  'x-stainless-lang': {
    type: 'string',
    description: "As any header that begins with `x-stainless-`: OpenAI's shape of a file.",
  },
  'idempotency-key': {
    type: 'string',
    minLength: 1,
    maxLength: IDEMPOTENCY_KEY_CHARS_MAX,
    description: 'A repetition within a day gets the first answer again.',
  },
  'x-sluice-hops': {
    type: 'string',
    description: 'How many gateways the call came through; written by Sluice.',
  },
  'x-session-id': {
    type: 'string',
    maxLength: SESSION_ID_CHARS_MAX,
    description: 'Groups calls; `session_id` of the body wins.',
  },
}

/** Headers of every answer to a key with a limit, for limited operations. C11. */
const LIMIT_HEADERS: Json = Object.fromEntries(
  Object.entries({
    'RateLimit-Policy': [
      'string',
      'The limit `q` of requests in a window of `w` seconds; for keys that have a limit.',
    ],
    RateLimit: [
      'string',
      'Requests left `r`, and `t` seconds until the burst is whole or, on a refusal, one is free.',
    ],
    'X-RateLimit-Limit': ['integer', 'Requests a minute.'],
    'X-RateLimit-Remaining': ['integer', 'Requests left; the lowest figure known.'],
    'X-RateLimit-Reset': ['integer', 'When the burst is whole, in milliseconds since the epoch.'],
  }).map(([name, [type, description]]) => [name, { description, schema: { type } }]),
)

function remarksOf(headers: Readonly<Record<string, string>> = {}): Json {
  return Object.fromEntries(
    Object.entries(headers).map(([name, description]) => [name, { description, schema: { type: 'string' } }]),
  )
}

/** Operations of tests may have tags without a text. */
const TAG_TEXTS: Readonly<Record<string, TagText>> = TAGS

function tagsOf(operations: readonly AnyOperation[]): readonly Json[] {
  const names = new Set(operations.map((operation) => operation.tag))
  return [...names].map((name) => {
    const tag = TAG_TEXTS[name]
    if (tag === undefined) return { name, description: name }
    return {
      name,
      description: tag.text,
      externalDocs: { description: 'Guide', url: `${GUIDES_PATH}/${tag.guide}` },
    }
  })
}

function operationOf(operation: AnyOperation, schemas: Record<string, unknown>): Json {
  const { input, success } = operation
  const name = pascal(operation.id)
  if (success.body !== null) schemas[`${name}Answer`] = success.body
  if (input.body !== undefined) schemas[`${name}Body`] = BODIES[input.body].schema
  const parameters = parametersOf(operation)
  return {
    operationId: operation.id,
    tags: [operation.tag],
    summary: operation.summary,
    description:
      `${operation.description === undefined ? '' : `${operation.description} `}Needs a key of kind ${operation.access.keys.join(' or ')}.` +
      gatesOf(operation)
        .map(({ text }) => ` ${text}`)
        .join(''),
    ...(operation.access.keyScopes !== undefined && { 'x-sluice-scopes': operation.access.keyScopes }),
    ...(parameters.length > 0 && { parameters }),
    ...(input.body !== undefined && {
      requestBody: {
        required: true,
        content: Object.fromEntries(
          bodyTypesOf(operation).map((type) => [
            type,
            { schema: reference(`${name}Body`), ...exampleOf(operation.example.body) },
          ]),
        ),
      },
    }),
    ...(input.upload !== undefined && {
      requestBody: { required: input.upload !== 'whole', content: UPLOADS[input.upload] },
    }),
    ...(operation.access.header !== undefined && { security: [{ [operation.access.header]: [] }] }),
    responses: {
      [success.status]: {
        description: statusLine(success.status).slice(4),
        headers: {
          [success.isRelayed === true ? 'x-sluice-request-id' : 'x-request-id']: {
            $ref: '#/components/headers/RequestId',
          },
          ...(isRateLimited(operation) && LIMIT_HEADERS),
          ...(success.content !== undefined && { ...WHOLE_HEADERS, ...DOWNLOAD_HEADERS }),
          ...remarksOf({
            ...success.headers,
            ...(success.isList === true && LIST_HEADERS),
            ...(isRepeatable(operation) && IDEMPOTENCY_HEADERS),
          }),
        },
        ...(success.body !== null && {
          content: { [typeOf(operation)]: { schema: reference(`${name}Answer`) } },
        }),
      },
      ...(success.isConditional === true && { [NOT_MODIFIED]: UNMODIFIED }),
      ...(success.content !== undefined && partialAnswers(success.content, `${name}Answer`)),
      ...failuresOf(operation),
    },
  }
}

function typeOf({ area, success: { content, isRelayed } }: AnyOperation): string {
  if (area === 'scim') return SCIM_CONTENT_TYPE
  return isRelayed === true ? '*/*' : (content ?? 'application/json')
}

/** Media types of a JSON body; both types for SCIM, since identity providers send either. RFC 7644 §3.1. */
function bodyTypesOf({ area }: AnyOperation): readonly string[] {
  return area === 'scim' ? [SCIM_CONTENT_TYPE, 'application/json'] : ['application/json']
}

const UNMODIFIED: Json = {
  description: 'Not Modified',
  headers: {
    'x-request-id': { $ref: '#/components/headers/RequestId' },
    etag: { description: 'Of what the caller has.', schema: { type: 'string' } },
  },
}

const WHOLE_HEADERS: Json = {
  'accept-ranges': { $ref: '#/components/headers/AcceptRanges' },
  etag: { $ref: '#/components/headers/ETag' },
  'cache-control': { $ref: '#/components/headers/CacheControl' },
}
/** Headers of answers with bytes. */
const DOWNLOAD_HEADERS: Json = {
  'content-disposition': { $ref: '#/components/headers/ContentDisposition' },
  'x-content-type-options': { $ref: '#/components/headers/ContentTypeOptions' },
}

/** Answers that conditions and ranges add to a download. C2. */
function partialAnswers(mediaType: string, schemaName: string): Json {
  const requestId = { 'x-request-id': { $ref: '#/components/headers/RequestId' } }
  return {
    [PARTIAL_CONTENT]: {
      description: statusLine(PARTIAL_CONTENT).slice(4),
      headers: {
        ...requestId,
        ...WHOLE_HEADERS,
        ...DOWNLOAD_HEADERS,
        'content-range': { $ref: '#/components/headers/ContentRange' },
      },
      content: { [mediaType]: { schema: reference(schemaName) } },
    },
    [NOT_MODIFIED]: {
      description: statusLine(NOT_MODIFIED).slice(4),
      headers: { ...requestId, ...WHOLE_HEADERS },
    },
  }
}

/** Whether the operation takes an `Idempotency-Key`. C16. */
function isRepeatable({ idempotent }: AnyOperation): boolean {
  return idempotent !== undefined && idempotent !== 'refused'
}

function parametersOf(operation: AnyOperation): readonly Json[] {
  const { input, success, example } = operation
  const keyed = isRepeatable(operation) ? ['idempotency-key'] : []
  const taken = [
    ...(input.headers ?? []),
    ...keyed,
    ...(success.content === undefined ? [] : CONTENT_HEADERS),
  ]
  const examples = { ...(example.params as object | undefined), ...(example.query as object | undefined) }
  return [
    ...parametersIn('path', input.params, examples),
    ...parametersIn('query', input.query, examples),
    ...taken.map((name) => {
      const schema = HEADER_SHAPES[name] ?? { type: 'string' }
      return { name, in: 'header', required: false, ...parameterDescription(name, schema), schema }
    }),
  ]
}

function parametersIn(place: 'path' | 'query', schema: TSchema | undefined, examples: Json): readonly Json[] {
  // The type of the definitions guarantees that the inputs of a URL are objects.
  const { properties = {}, required = [] } = (schema ?? {}) as {
    properties?: Record<string, TSchema>
    required?: string[]
  }
  return Object.entries(properties).map(([name, member]) => ({
    name,
    in: place,
    required: place === 'path' || required.includes(name),
    ...parameterDescription(name, member),
    schema: member,
    ...exampleOf(examples[name]),
  }))
}

/**
 * Every listed status, 401 for every operation, and 400 for operations with a query (C2); each names its
 * error types.
 */
function failuresOf(operation: AnyOperation): Json {
  const names = [
    ...STAGE_FAILURES,
    ...gatesOf(operation).map(({ failure }) => failure),
    ...operation.failures,
  ]
  if (operation.input.body !== undefined) names.push(...BODY_FAILURES)
  if (isRepeatable(operation)) names.push(...IDEMPOTENCY_FAILURES)
  if (operation.idempotent === 'refused') names.push('header_invalid')
  if (operation.success.content !== undefined) names.push('range_unsatisfiable')
  if (operation.input.upload === 'whole') names.push('body_slow', 'body_invalid')
  else if (operation.input.upload !== undefined) names.push(...UPLOAD_FAILURES)
  if (operation.input.upload === 'form') names.push(...FORM_FAILURES)
  if (operation.input.query !== undefined) names.push('query_invalid')
  if (operation.input.params !== undefined) names.push('params_invalid')
  if (isRateLimited(operation)) names.push('rate_limited')
  const ofQuery = operation.input.query === undefined ? [] : FAILURES.query_invalid.status
  const statuses = [...new Set([...listedBy(operation), UNAUTHORIZED, ...ofQuery])].sort(
    (one, other) => one - other,
  )
  return Object.fromEntries(
    statuses.map((status) => {
      const types = [...new Set(names)].filter((name) => statusOf(name, listedBy(operation)) === status)
      return [status, failureOf(status, types, operation)]
    }),
  )
}

interface Gate {
  readonly failure: FailureName
  readonly text: string
}

/** The conditions on a workspace and on the hostname, beside the kind of the key. */
function gatesOf({ access }: AnyOperation): readonly Gate[] {
  const gates: Gate[] = []
  const { keyScopes = [] } = access
  if (keyScopes.length > 0)
    gates.push({
      failure: 'scope_missing',
      text: `An inference or intern key that has \`scopes\` needs ${scopesText(keyScopes)}.`,
    })
  if (access.isOfProgramme === true)
    gates.push({ failure: 'programme_closed', text: 'The workspace must be in the programme.' })
  if (access.refusesRegional === true)
    gates.push({ failure: 'regional_refused', text: 'Regional hostnames do not serve it.' })
  if (access.writesVault === true)
    gates.push({ failure: 'vault_writes_disabled', text: "The workspace's vault writes must be enabled." })
  return gates
}

function failureOf(status: number, types: readonly FailureName[], operation: AnyOperation): Json {
  const { success } = operation
  const phrase = statusLine(status).slice(4)
  return {
    description: types.length === 0 ? phrase : `${phrase}: ${types.map((type) => `\`${type}\``).join(', ')}`,
    headers: {
      'x-request-id': { $ref: '#/components/headers/RequestId' },
      ...(success.isRelayed === true && { 'x-sluice-error': { $ref: '#/components/headers/Error' } }),
      ...(types.some((name) => FAILURES[name].retry === 'no') && {
        'x-should-retry': { $ref: '#/components/headers/ShouldRetry' },
      }),
      ...(types.includes('range_unsatisfiable') && {
        'content-range': { $ref: '#/components/headers/ContentRange' },
      }),
      ...(status === RATE_LIMITED && LIMIT_HEADERS),
      ...(RETRIED.includes(status) && { 'retry-after': { $ref: '#/components/headers/RetryAfter' } }),
    },
    content: errorContent(operation),
  }
}

function errorContent({ area, tellsAccount }: AnyOperation): Json {
  if (area === 'scim') return { [SCIM_CONTENT_TYPE]: { schema: reference('ScimError') } }
  return { 'application/json': { schema: reference(tellsAccount === true ? 'AccountError' : 'Error') } }
}

function exampleOf(value: unknown): Json {
  return value === undefined ? {} : { example: value }
}

function reference(name: string): Json {
  return { $ref: `#/components/schemas/${name}` }
}

function pascal(id: string): string {
  return id
    .split(/[._-]/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('')
}
