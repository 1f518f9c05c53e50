import type { Json } from './openapi-json.ts'

export const COMMON_HEADERS: Json = {
  AcceptRanges: { description: 'Byte ranges can be requested with `Range`.', schema: { const: 'bytes' } },
  CacheControl: { description: 'Shared caches must not store the answer.', schema: { const: 'private' } },
  ContentDisposition: {
    description: 'Marks the answer as a download; contains the filename without folders.',
    schema: { type: 'string' },
  },
  ContentTypeOptions: {
    description: 'Browsers must not guess another media type.',
    schema: { const: 'nosniff' },
  },
  ContentRange: {
    description: 'Byte range in this answer and full size of the content.',
    schema: { type: 'string' },
  },
  Error: {
    description: 'Error type; present only when Sluice itself answered instead of the destination.',
    schema: { type: 'string' },
  },
  ETag: { description: 'Strong entity tag, for `If-Range` and `If-None-Match`.', schema: { type: 'string' } },
  RequestId: {
    description: 'Id of the request: generated, or sent by the caller.',
    schema: { type: 'string' },
  },
  RetryAfter: {
    description: 'Seconds to wait before trying again.',
    schema: { type: 'integer', minimum: 1 },
  },
  ShouldRetry: {
    description: 'False when a retry cannot succeed unless something changes first.',
    schema: { const: 'false' },
  },
}

/** The header from which clients of Anthropic take the id. D20. */
export const ANTHROPIC_HEADERS: Json = { 'request-id': { $ref: '#/components/headers/RequestId' } }

export const LIST_HEADERS = {
  'content-encoding': '`gzip` for lists of 64 KiB and more, when `accept-encoding` allows it.',
  vary: '`accept-encoding`, because lists may be compressed.',
}

/** C25. */
export const IGNORED_HEADERS = {
  'x-sluice-ignored': 'Unknown fields of the body, comma-separated; at most 20.',
}

/** Headers of every answer to a key with a limit, for limited operations. C11. */
export const LIMIT_HEADERS: Json = Object.fromEntries(
  Object.entries({
    'RateLimit-Policy': [
      'string',
      'Limit of the key: `q` requests in a window of `w` seconds, of which `burst` may arrive at once.',
    ],
    RateLimit: [
      'string',
      'Number `r` of requests left, and seconds `t` until the full burst or, after a refusal, one request is available.',
    ],
    'X-RateLimit-Limit': ['integer', 'Requests per minute.'],
    'X-RateLimit-Remaining': ['integer', 'Number of requests left; the lowest known value.'],
    'X-RateLimit-Reset': ['integer', 'When the full burst is available again, as Unix time in milliseconds.'],
    'X-RateLimit-Limit-Tokens': ['integer', 'Tokens per minute, for model calls with a token limit.'],
    'X-RateLimit-Remaining-Tokens': ['integer', 'Tokens left when the call was admitted.'],
    'X-RateLimit-Reset-Tokens': [
      'integer',
      'Unix time in milliseconds when all tokens are available again or, after a refusal, the tokens that the call needs.',
    ],
  }).map(([name, [type, description]]) => [name, { description, schema: { type } }]),
)

export const WHOLE_HEADERS: Json = {
  'accept-ranges': { $ref: '#/components/headers/AcceptRanges' },
  etag: { $ref: '#/components/headers/ETag' },
  'cache-control': { $ref: '#/components/headers/CacheControl' },
}

/** Headers of answers with bytes. */
export const DOWNLOAD_HEADERS: Json = {
  'content-disposition': { $ref: '#/components/headers/ContentDisposition' },
  'x-content-type-options': { $ref: '#/components/headers/ContentTypeOptions' },
}

export function remarksOf(headers: Readonly<Record<string, string>> = {}): Json {
  return Object.fromEntries(
    Object.entries(headers).map(([name, description]) => [name, { description, schema: { type: 'string' } }]),
  )
}
