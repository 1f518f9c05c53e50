import type { Json } from './openapi-json.ts'

export const COMMON_HEADERS: Json = {
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

/** The header from which clients of Anthropic take the id. D20. */
export const ANTHROPIC_HEADERS: Json = { 'request-id': { $ref: '#/components/headers/RequestId' } }

export const LIST_HEADERS = {
  'content-encoding': '`gzip`, of a list of 64 KiB and more to a caller whose `accept-encoding` names it.',
  vary: '`accept-encoding`: a list may come compressed.',
}

/** C25. */
export const IGNORED_HEADERS = {
  'x-sluice-ignored': 'Members of the body that nothing reads, with commas between; the first 20.',
}

/** Headers of every answer to a key with a limit, for limited operations. C11. */
export const LIMIT_HEADERS: Json = Object.fromEntries(
  Object.entries({
    'RateLimit-Policy': [
      'string',
      'The limit `q` of requests in a window of `w` seconds, of which `burst` may come at once; for keys that have a limit.',
    ],
    RateLimit: [
      'string',
      'Requests left `r`, and `t` seconds until the burst is whole or, on a refusal, one is free.',
    ],
    'X-RateLimit-Limit': ['integer', 'Requests a minute.'],
    'X-RateLimit-Remaining': ['integer', 'Requests left; the lowest figure known.'],
    'X-RateLimit-Reset': ['integer', 'When the burst is whole, in milliseconds since the epoch.'],
    'X-RateLimit-Limit-Tokens': [
      'integer',
      'Tokens a minute; of calls to models, where they have such a limit.',
    ],
    'X-RateLimit-Remaining-Tokens': ['integer', 'Tokens left when the call was let in.'],
    'X-RateLimit-Reset-Tokens': [
      'integer',
      'When all tokens are free or, on a refusal, those of the call: in milliseconds since the epoch.',
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
