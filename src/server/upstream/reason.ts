/** What a provider's error body says, cleaned for a caller's eyes. */
export interface Reason {
  /** One line without links, keys and long quotations; null when the body says nothing that we can read. */
  readonly text: string | null
  /** The provider's own code; null when it has none that is a code. */
  readonly code: string | null
  /** True when the body names our credential as the cause: Gemini says so with status 400. */
  readonly isCredential: boolean
}

const CHARS_MAX = 300
const QUOTED_CHARS_MAX = 40
const CODE = /^[\w.-]{1,64}$/
const CREDENTIAL_CODES = new Set(['API_KEY_INVALID', 'API_KEY_EXPIRED', 'invalid_api_key'])

const NOTHING: Reason = { text: null, code: null, isCredential: false }

/** Reads `{error:{message,code}}` of OpenAI and Google, `{message}` of Cohere and Mistral, `{detail}` of Voyage. */
export function readReason(body: Uint8Array): Reason {
  const parsed = parse(body)
  if (parsed === null) return NOTHING
  const error = objectOf(parsed['error']) ?? parsed
  const texts = [error['message'], parsed['message'], parsed['detail'], parsed['error']]
  const text = texts.find((value) => typeof value === 'string')
  const detailed = detailReasons(error['details'])
  const code = [...detailed, error['code'], error['status'], error['type']].find(isCode) ?? null
  const isCredential = code !== null && CREDENTIAL_CODES.has(code)
  return { text: typeof text === 'string' ? clean(text) : null, code, isCredential }
}

/** Providers quote what they were sent, name their hosts and sometimes print a part of the key. C13, C23. */
function clean(text: string): string | null {
  const line = text
    .replace(/[\p{C}\s]+/gu, ' ')
    .replace(/\b[a-z][a-z0-9+.-]*:\/\/\S+/gi, '[link]')
    .replace(/\b(?:[a-z0-9-]+\.)+(?:com|net|org|ai|io|dev|cloud|internal|local)\b\S*/gi, '[link]')
    .replace(/(["'`])(?:(?!\1).)+\1/g, (quoted) => (quoted.length > QUOTED_CHARS_MAX ? '[…]' : quoted))
    .replace(/[\w*.-]{24,}/g, '[…]')
    .replace(/\b(?:sk|pk|key|pa|AIza)[-_*][\w*-]+/g, '[…]')
    .trim()
  if (line === '') return null
  return line.length > CHARS_MAX ? `${line.slice(0, CHARS_MAX)}…` : line
}

function isCode(value: unknown): value is string {
  return typeof value === 'string' && CODE.test(value)
}

function detailReasons(details: unknown): readonly unknown[] {
  return Array.isArray(details) ? details.map((detail) => objectOf(detail)?.['reason']) : []
}

function parse(body: Uint8Array): Record<string, unknown> | null {
  try {
    return objectOf(JSON.parse(Buffer.from(body.buffer, body.byteOffset, body.length).toString('utf8')))
  } catch {
    return null
  }
}

function objectOf(value: unknown): Record<string, unknown> | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : null
}
