import { API_PREFIX, GUIDES_PATH } from '../../../schemas/api-prefix.ts'
import { BODIES, type BodyForm, type BodyName } from '../../../schemas/bodies.ts'
import { AccountErrorEnvelope, ErrorEnvelope, TypedErrorEnvelope } from '../../../schemas/envelope.ts'
import { MessageErrorEnvelope } from '../../../schemas/inference/message-errors.ts'
import { IDEMPOTENCY_HEADERS } from '../../../schemas/idempotency.ts'
import { isClosed } from '../../../schemas/other-members.ts'
import { SCIM_CONTENT_TYPE, ScimError } from '../../../schemas/scim/scim-errors.ts'
import { fieldRows } from '../../../dialects/table/field-rows.ts'
import { DIALECTS, type Dialect } from '../../../schemas/inference/text-request.ts'
import {
  FILE_EXPIRES_S_MAX,
  FILE_EXPIRES_S_MIN,
  PURPOSE_CHARS_MAX,
} from '../../../schemas/files/file-limits.ts'
import { FILENAME_RULES } from '../../../schemas/files/filenames.ts'
import { FAILURES } from '../../../schemas/failures.ts'
import { VideoEvent } from '../../../schemas/videos/videos.ts'
import { isRateLimited, prefixOf, type AnyOperation } from '../../operations/define.ts'
import { TAGS, type TagText } from '../../operations/tags.ts'
import { METHODS_OF_ANY } from '../call/route-table.ts'
import { statusLine } from '../reply/reply.ts'
import { exampleAnswers, withExample, type ExampleAnswers } from './answers.ts'
import { failuresOf, gatesOf } from './openapi-failures.ts'
import {
  ANTHROPIC_HEADERS,
  COMMON_HEADERS,
  DOWNLOAD_HEADERS,
  IGNORED_HEADERS,
  LIMIT_HEADERS,
  LIST_HEADERS,
  remarksOf,
  WHOLE_HEADERS,
} from './openapi-headers.ts'
import { described } from './members/described.ts'
import type { Place } from './members/texts.ts'
import { exampleOf, type Json, reference } from './openapi-json.ts'
import { isRepeatable, parametersOf } from './openapi-parameters.ts'
import { TEXT_PROTOCOLS, type TextProtocol } from '../../../schemas/models/protocols.ts'

/** Version of the interface, not of the product. §9. */
const INTERFACE_VERSION = '1.0.0'
const PARTIAL_CONTENT = 206
const NOT_MODIFIED = 304

/** The OpenAPI 3.1 document, derived from the operations alone. @param answers examples of their answers */
export function openApiOf(
  operations: readonly AnyOperation[],
  answers: ExampleAnswers = exampleAnswers(),
): Json {
  const schemas = commonSchemas()
  if (operations.some(({ area }) => area === 'scim'))
    schemas['ScimError'] = described(ScimError, { subject: 'scim', operation: 'ScimError', side: 'answer' })
  const paths: Record<string, Record<string, unknown>> = {}
  for (const operation of operations) {
    const prefix = prefixOf(operation)
    const path = (paths[operation.path] ??=
      prefix === API_PREFIX ? {} : { servers: [{ url: prefix === '' ? '/' : prefix }] })
    const bare = operationOf(operation, schemas)
    const documented = { ...bare, responses: withExample(bare.responses, answers[operation.id]) }
    if (operation.method !== 'any') path[operation.method] = documented
    // OpenAPI cannot express all methods at once: each method has the same text with its own id.
    else for (const method of METHODS_OF_ANY) path[method] = ofAny(operation, method, documented)
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Sluice',
      version: INTERFACE_VERSION,
      summary: 'A self-hosted AI gateway.',
      description:
        '`HEAD` is served wherever `GET` is, with the same headers and no body. Optional fields of a JSON body may be ' +
        '`null`, which means the same as omitting them unless the schema gives null another meaning.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: API_PREFIX }],
    security: [{ bearer: [] }],
    tags: tagsOf(operations),
    paths,
    webhooks: WEBHOOKS,
    components: {
      schemas,
      securitySchemes: { bearer: SECURITY, 'x-sluice-key': KEY_HEADER, 'x-api-key': ANTHROPIC_KEY_HEADER },
      headers: COMMON_HEADERS,
    },
  }
}

const SECURITY: Json = { type: 'http', scheme: 'bearer', description: 'An API key of this installation.' }

const KEY_HEADER: Json = {
  type: 'apiKey',
  in: 'header',
  name: 'x-sluice-key',
  description:
    'An API key of this installation, for requests whose `Authorization` header belongs to the destination.',
}

const ANTHROPIC_KEY_HEADER: Json = {
  type: 'apiKey',
  in: 'header',
  name: 'x-api-key',
  description:
    'An API key of this installation, in the header that Anthropic clients use; `Authorization` takes precedence.',
}

/** Methods that are described without a request body. */
const BODILESS: readonly string[] = ['get', 'head', 'options', 'delete']

function ofAny(operation: AnyOperation, method: string, documented: Json): Json {
  const { requestBody, ...rest } = documented
  return {
    ...rest,
    operationId: `${operation.id}.${method}`,
    ...(!BODILESS.includes(method) && { requestBody }),
  }
}

/** Typed loosely: operations in tests may have tags without a text. */
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

/** Schemas that do not belong to a single operation: errors and webhooks. */
function commonSchemas(): Record<string, unknown> {
  const errors = {
    Error: ErrorEnvelope,
    AccountError: AccountErrorEnvelope,
    TypedError: TypedErrorEnvelope,
    MessageError: MessageErrorEnvelope,
  }
  const placed = (subject: 'error' | 'webhook', schemas: Json): readonly (readonly [string, unknown])[] =>
    Object.entries(schemas).map(([name, schema]) => [
      name,
      described(schema, { subject, operation: name, side: 'answer' }),
    ])
  return Object.fromEntries([...placed('error', errors), ...placed('webhook', WEBHOOK_SCHEMAS)])
}

function operationOf(
  operation: AnyOperation,
  schemas: Record<string, unknown>,
): Json & { readonly responses: Json } {
  const { id, input, success, tag } = operation
  const name = pascal(id)
  const ofAnswer: Place = { subject: tag, operation: id, side: 'answer' }
  if (success.body !== null) schemas[`${name}Answer`] = described(success.body, ofAnswer)
  if (success.events !== undefined) schemas[`${name}Event`] = described(success.events, ofAnswer)
  if (input.body !== undefined)
    schemas[`${name}Body`] = described(BODIES[input.body].schema, { ...ofAnswer, side: 'body' })
  const parameters = parametersOf(operation)
  return {
    operationId: operation.id,
    tags: [operation.tag],
    summary: operation.summary,
    description: descriptionOf(operation),
    ...(operation.access.keyScopes !== undefined && { 'x-sluice-scopes': operation.access.keyScopes }),
    ...translationOf(input.body),
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
    ...(operation.access.takesAnthropicKey === true && { security: [{ bearer: [] }, { 'x-api-key': [] }] }),
    responses: {
      [success.status]: {
        description: statusLine(success.status).slice(4),
        headers: {
          [success.isRelayed === true ? 'x-sluice-request-id' : 'x-request-id']: {
            $ref: '#/components/headers/RequestId',
          },
          ...(operation.isAnthropic === true && ANTHROPIC_HEADERS),
          ...(isRateLimited(operation) && LIMIT_HEADERS),
          ...(success.content !== undefined && { ...WHOLE_HEADERS, ...DOWNLOAD_HEADERS }),
          ...remarksOf({
            ...success.headers,
            ...(ignoresMembers(operation) && IGNORED_HEADERS),
            ...(success.isList === true && LIST_HEADERS),
            ...(isRepeatable(operation) && IDEMPOTENCY_HEADERS),
          }),
        },
        ...(success.body !== null && {
          content: {
            [typeOf(operation)]: { schema: reference(`${name}Answer`) },
            ...(success.events !== undefined && {
              'text/event-stream': { schema: reference(`${name}Event`) },
            }),
          },
        }),
      },
      ...(success.isConditional === true && { [NOT_MODIFIED]: UNMODIFIED }),
      ...(success.content !== undefined && partialAnswers(success.content, `${name}Answer`)),
      ...failuresOf(operation),
    },
  }
}

/** Formats `inference, intern or management` as the pages do. */
const KINDS = new Intl.ListFormat('en-GB', { type: 'disjunction' })

function descriptionOf(operation: AnyOperation): string {
  const { description = '', access } = operation
  const kinds = KINDS.format(access.keys).replace('scim', 'SCIM')
  const needs = `Requires ${/^i/.test(kinds) ? 'an' : 'a'} ${kinds} key.`
  return [description, needs, ...gatesOf(operation).map(({ text }) => text)]
    .filter((text) => text !== '')
    .join(' ')
}

/** True when the body may have members that Sluice does not read and names in a header; calls to models use another header. */
function ignoresMembers({ input: { body }, area, tag }: AnyOperation): boolean {
  if (body === undefined || area === 'scim' || tag === 'embeddings') return false
  const { schema, isDigested, keepsOthers }: BodyForm = BODIES[body]
  return isDigested !== true && keepsOthers !== true && !isClosed(schema)
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
    etag: { description: 'Entity tag of the version that the caller has.', schema: { type: 'string' } },
  },
}

/** Answers to a download with conditions or ranges. */
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

function pascal(id: string): string {
  return id
    .split(/[._-]/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('')
}

/**
 * How each field of a request is treated when the provider uses another dialect: `dropped`, `refused`, or the
 * paths that it is mapped to, by the provider's dialect.
 */
function translationOf(body: BodyName | undefined): Json {
  const dialect = DIALECTS.find((one) => one === body)
  return dialect === undefined ? {} : { 'x-sluice-translation': translationsOf(dialect) }
}

function translationsOf(dialect: Dialect): Json {
  const fields: Record<string, Partial<Record<TextProtocol, unknown>>> = {}
  for (const protocol of TEXT_PROTOCOLS)
    if (protocol !== dialect)
      for (const row of fieldRows(dialect, { protocol, isStrict: false }))
        if (row.class !== 'ours') (fields[row.field] ??= {})[protocol] = row.to ?? row.class
  return fields
}

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
            description: "Purpose in OpenAI's format; Sluice only stores and returns the value.",
          },
          'expires_after[anchor]': {
            const: 'created_at',
            description: 'Start of the lifetime; required with `expires_after[seconds]`.',
          },
          'expires_after[seconds]': {
            type: 'integer',
            minimum: FILE_EXPIRES_S_MIN,
            maximum: FILE_EXPIRES_S_MAX,
            description: 'Number of seconds after creation at which the file is deleted.',
          },
        },
      },
    },
  },
  raw: { 'application/octet-stream': { schema: { type: 'string', format: 'binary' } } },
  whole: { '*/*': { schema: { type: 'string', format: 'binary' } } },
}

const GONE: number = FAILURES.video_expired.status[0]

const header = (name: string, description: string): Json => ({
  name,
  in: 'header',
  required: true,
  description,
  schema: { type: 'string' },
})

const WEBHOOK_SCHEMAS: Json = { VideoEvent }

/** The requests that Sluice sends by itself. */
export const WEBHOOKS: Json = {
  'video.generation': {
    post: {
      operationId: 'video.generation',
      tags: ['videos'],
      summary: 'A video generation job has ended',
      description:
        'Sluice sends the webhook to the `callback_url` of the job or, without one, to the `default_callback_url` of the workspace. Every delivery attempt ' +
        'has the same id and the same body. Verify one of the two signature headers, and reject attempts whose time ' +
        'differs by more than 300 seconds from your clock. While the secret is being rotated, each format has two signatures.',
      // Sluice proves its identity; the receiver's key is not involved.
      security: [],
      parameters: [
        header(
          'x-sluice-signature',
          '`t=<Unix seconds>,v1=<hex>`: HMAC-SHA-256 of `<t>,<body>` with the text of the secret as the key.',
        ),
        header('x-sluice-idempotency-key', 'Idempotency key `<job id>-<status>`, the same on every attempt.'),
        header('webhook-id', 'Standard Webhooks: id of the webhook, the same on every attempt.'),
        header('webhook-timestamp', 'Standard Webhooks: Unix time of this attempt, in seconds.'),
        header(
          'webhook-signature',
          'Standard Webhooks: one or more signatures `v1,<base64>`, separated by spaces.',
        ),
      ],
      requestBody: {
        required: true,
        content: { 'application/json': { schema: { $ref: '#/components/schemas/VideoEvent' } } },
      },
      responses: {
        '2XX': { description: 'Delivered.' },
        [GONE]: { description: `${statusLine(GONE).slice(4)}: no more webhooks are sent to this URL.` },
        default: {
          description:
            'The attempt failed; a redirect also counts as a failure. Sluice makes at most eight attempts.',
        },
      },
    },
  },
}
