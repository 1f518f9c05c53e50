import { objectOf } from '../../schemas/values/members.ts'
import { modelRefusal, type ModelRefusal } from './refusals.ts'

/** The reason in a provider's error body, cleaned for callers. */
export interface Reason {
  /** One line without links, keys and long quotations; null when the body has no readable reason. */
  readonly text: string | null
  /** The provider's own code; null when the body has none in the form of a code. */
  readonly code: string | null
  /** The member of the request that the provider blames, in its own words; null when it names none. */
  readonly param: string | null
  /** True when the body blames the credential: Gemini does so with status 400. */
  readonly isCredential: boolean
  /** Why another model may accept the request that this one refuses; null when the body names no such reason. */
  readonly refusal: ModelRefusal | null
  /** Seconds to wait by Google's `RetryInfo`; null: the error has none. */
  readonly retryAfterS: number | null
}

const CHARS_MAX = 300
/** Characters that are parsed for the reason; the rest would only block the event loop. */
const READ_CHARS_MAX = 1_000
/** Characters of a quotation above which it is removed. */
const QUOTED_CHARS_MAX = 40
/** Characters of a key's part that is redacted: shorter parts occur in many words. */
const PART_CHARS_MIN = 8
/** A code has no dots, so that a host name is not a code. */
const CODE = /^\w[\w-]{0,63}$/
/** Codes of providers that blame the credential. */
const CREDENTIAL_CODES = new Set(['API_KEY_INVALID', 'API_KEY_EXPIRED', 'invalid_api_key'])

/** A path of members and indices, such as `messages[0].content`. */
const PARAM = /^[\w$[\].-]{1,128}$/
/** A name that looks like a key, or is as long as one and has digits. */
const KEY_NAME = /^(?:sk|pk)[-_]|^AIza|(?=[^.[\]]*\d)[^.[\]]{24,}/

const NOTHING: Reason = {
  text: null,
  code: null,
  param: null,
  isCredential: false,
  refusal: null,
  retryAfterS: null,
}

/** Texts that only Sluice and the provider may know. */
export interface RedactedTexts {
  /** The credential; the empty string without one. Redacted wherever it occurs. */
  readonly credential: string
  /** Values of other headers that come from variables; redacted wherever they occur. */
  readonly others?: readonly string[]
  /** The name of the provider's host in lower case. Redacted as a word. */
  readonly host: string
}

/** Reads `{error:{message,code}}` of OpenAI and Google, `{message}` of Cohere and Mistral, `{detail}` of Voyage. */
export function readReason(body: Uint8Array, redacted: RedactedTexts): Reason {
  const parsed = parse(body)
  if (parsed === null) return NOTHING
  const error = objectOf(parsed['error']) ?? parsed
  const texts = [error['message'], parsed['message'], parsed['detail'], parsed['error']]
  const text = texts.find((value) => typeof value === 'string')
  const detailed = detailReasons(error['details'])
  const codes = [...detailed, error['code'], error['status'], error['type']]
  const code = codes.find((value) => isCode(value, redacted)) as string | undefined
  const isCredential = code !== undefined && CREDENTIAL_CODES.has(code)
  return {
    text: typeof text === 'string' ? clean(text, redacted) : null,
    code: code ?? null,
    param: paramIn(error, parsed).find((path) => isParam(path, redacted)) ?? null,
    isCredential,
    refusal: modelRefusal(
      [...codes, errorType(error)],
      typeof text === 'string' ? text.slice(0, READ_CHARS_MAX) : '',
    ),
    retryAfterS: retryDelayIn(error['details']),
  }
}

/** Words by which providers name a failure, and the HTTP status that corresponds to it. */
const STATUSES: readonly (readonly [RegExp, number])[] = [
  [/rate.?limit|too_many_requests|overloaded|resource_exhausted|quota/i, 429],
  [/invalid_request|context_length|invalid_argument|content_(?:policy|filter)|unprocessable/i, 400],
  [/authentication|permission|unauthori[sz]ed|forbidden|invalid_api_key|billing|payment/i, 401],
]

/**
 * The HTTP status that corresponds to an error in a stream: a number among its members, or the status of its type and
 * codes. Null when none is known.
 */
export function readStatus(event: Uint8Array): number | null {
  const parsed = parse(event)
  if (parsed === null) return null
  const error = objectOf(parsed['error']) ?? parsed
  const candidates = [error, parsed].flatMap((from) => [
    from['status_code'],
    from['http_code'],
    from['status'],
    from['code'],
    from['type'],
  ])
  const words = candidates
    .filter((value) => typeof value === 'string' || typeof value === 'number')
    .map(String)
  const status = words.find((word) => /^[45]\d\d$/.test(word))
  if (status !== undefined) return Number(status)
  const codes = words.filter((word) => CODE.test(word)).join(' ')
  return STATUSES.find(([pattern]) => pattern.test(codes))?.[1] ?? null
}

/**
 * Cleans a provider's text. Providers quote the request, name their hosts and sometimes print a part of the
 * key. Every pattern takes linear time: no pattern can start again within the text that it has matched.
 */
function clean(text: string, redacted: RedactedTexts): string | null {
  const line = cut(redact(text, secretsOf(redacted)).replace(/[\p{C}\s]+/gu, ' '))
    .replace(/"[^"]+"|'[^']+'|`[^`]+`/g, (quoted) => (quoted.length > QUOTED_CHARS_MAX ? '[…]' : quoted))
    .replace(/\bbearer \S+/gi, '[…]')
    .replace(/\S+/g, (word) => (word.includes('://') ? '[link]' : word))
    .replace(/[^\s"'`<>()[\]{},;=|]+/g, (word) => cleanWord(word, redacted.host))
    .trim()
  if (line === '') return null
  // Half a surrogate pair is not a character, and the store would refuse it.
  return line.length > CHARS_MAX ? `${line.slice(0, CHARS_MAX).replace(/[\ud800-\udbff]$/, '')}…` : line
}

function secretsOf({ credential, others = [] }: RedactedTexts): readonly string[] {
  return [credential, ...others].filter((secret) => secret !== '')
}

function redact(text: string, secrets: readonly string[]): string {
  return secrets.reduce((redacted, secret) => redacted.replaceAll(secret, '[…]'), text)
}

/** Shortens a text at a word: half a key in the cut word would still be a part of a key. */
function cut(text: string): string {
  return text.length <= READ_CHARS_MAX ? text : text.slice(0, text.lastIndexOf(' ', READ_CHARS_MAX) + 1)
}

function cleanWord(word: string, host: string): string {
  const end = endOfSentence(word)
  const bare = word.slice(0, end)
  if (isAddress(bare, host)) return `[link]${word.slice(end)}`
  return isKey(bare) ? `[…]${word.slice(end)}` : word
}

/** Index at which the final punctuation of a sentence begins. */
function endOfSentence(word: string): number {
  let end = word.length
  while (end > 0 && '.:!?'.includes(word.charAt(end - 1))) end--
  return end
}

const KEY = /[\w*.+-]{24,}|^(?:sk|pk|key|pa)[-_*]|\*{2}|^AIza/

function isKey(word: string): boolean {
  return KEY.test(word)
}

const IPV4 = /\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}/
const IPV6 = /^[\da-f]*:[\da-f]*:[\da-f:.]*(?:%\w+)?(?:\/\d+)?$/i
const HOST_AND_PORT = /:\d{1,5}(?:\/|$)/
/** Names with dots whose last part could belong to a host: `e.g` and `4.1` do not match. */
const HOST = /^[\p{L}\d_-]+(?:\.[\p{L}\d_-]+)*\.\p{L}[\p{L}\d-]+$/u

function isAddress(word: string, host: string): boolean {
  if (word.includes('@')) return true
  if (IPV4.test(word) || IPV6.test(word) || HOST_AND_PORT.test(word)) return true
  return word.split(/[/:]/).some((part) => isHost(part.toLowerCase(), host))
}

function isHost(part: string, host: string): boolean {
  return part === host || part === 'localhost' || HOST.test(part)
}

function isCode(value: unknown, redacted: RedactedTexts): boolean {
  if (typeof value !== 'string' || !CODE.test(value) || value.toLowerCase() === redacted.host) return false
  const isOfSecret = secretsOf(redacted).some(
    (secret) => value.includes(secret) || (value.length >= PART_CHARS_MIN && secret.includes(value)),
  )
  return !isOfSecret && !/^(?:sk|pk|AIza)/.test(value)
}

function isParam(path: string, redacted: RedactedTexts): boolean {
  if (!PARAM.test(path) || KEY_NAME.test(path) || path.toLowerCase().includes(redacted.host)) return false
  return !secretsOf(redacted).some(
    (secret) => path.includes(secret) || (path.length >= PART_CHARS_MIN && secret.includes(path)),
  )
}

/** `param` of OpenAI, violations of Google, and places of FastAPI, which Mistral and others use. */
function paramIn(error: Record<string, unknown>, parsed: Record<string, unknown>): readonly string[] {
  const details = [
    error['details'],
    error['detail'],
    parsed['detail'],
    objectOf(parsed['message'])?.['detail'],
  ]
  const named = details.flatMap((list) =>
    Array.isArray(list) ? (list as readonly unknown[]).map(objectOf).flatMap(pathsOf) : [],
  )
  return [error['param'], ...named].filter((path) => typeof path === 'string' && path !== '') as string[]
}

/** First elements of FastAPI places, which name the part of the HTTP request. */
const REQUEST_PARTS: ReadonlySet<unknown> = new Set(['body', 'query', 'path', 'header'])

function pathsOf(detail: Record<string, unknown> | null): readonly unknown[] {
  const { loc, fieldViolations } = detail ?? {}
  if (Array.isArray(fieldViolations))
    return (fieldViolations as readonly unknown[]).map((one) => objectOf(one)?.['field'])
  if (!Array.isArray(loc)) return []
  const names: readonly unknown[] = REQUEST_PARTS.has(loc[0]) ? loc.slice(1) : loc
  return [names.reduce<string>(stepped, '')]
}

function stepped(path: string, step: unknown): string {
  if (typeof step === 'number') return `${path}[${step}]`
  return path === '' ? String(step) : `${path}.${String(step)}`
}

/** The text code that OpenRouter sends in addition to its numeric code. */
function errorType({ metadata }: Readonly<Record<string, unknown>>): unknown {
  return objectOf(metadata)?.['error_type']
}

function detailReasons(details: unknown): readonly unknown[] {
  return Array.isArray(details) ? details.map((detail) => objectOf(detail)?.['reason']) : []
}

/** A duration of Protocol Buffers, such as `34.07s`. */
const DURATION = /^(\d{1,9}(?:\.\d{1,9})?)s$/

function retryDelayIn(details: unknown): number | null {
  for (const detail of Array.isArray(details) ? (details as readonly unknown[]) : []) {
    const delay = objectOf(detail)?.['retryDelay']
    const [, seconds] = (typeof delay === 'string' ? DURATION.exec(delay) : null) ?? []
    if (seconds !== undefined) return Math.ceil(Number(seconds))
  }
  return null
}

function parse(body: Uint8Array): Record<string, unknown> | null {
  try {
    return objectOf(JSON.parse(Buffer.from(body.buffer, body.byteOffset, body.length).toString('utf8')))
  } catch {
    return null
  }
}
