/** The headers of an answer that Sluice uses; an absent header is the empty string, null or -1. */
export interface AnswerHeaders {
  /** Bytes; -1: not stated by the answer. */
  readonly contentLength: number
  /** Lower case. */
  readonly contentEncoding: string
  readonly retryAfter: string | null
}

const LENGTH = 'content-length'
const ENCODING = 'content-encoding'
const RETRY_AFTER = 'retry-after'

/** Reads the headers from undici's raw list (name, value, …): checking the length of a name first excludes nearly all other headers. */
export function readHeaders(raw: readonly Uint8Array[]): AnswerHeaders {
  let contentLength = -1
  let contentEncoding = ''
  let retryAfter: string | null = null
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const name = raw[at]
    const value = raw[at + 1]
    if (name === undefined || value === undefined) break
    if (name.length === LENGTH.length && isNamed(name, LENGTH)) contentLength = lengthOf(latin1(value))
    else if (name.length === ENCODING.length && isNamed(name, ENCODING))
      contentEncoding = latin1(value).trim().toLowerCase()
    else if (name.length === RETRY_AFTER.length && isNamed(name, RETRY_AFTER)) retryAfter = latin1(value)
  }
  return { contentLength, contentEncoding, retryAfter }
}

/**
 * @param headers as `flatHeaders` gives them
 * @param name lower case
 * @returns the header's first value, null when the answer has none
 */
export function headerOf(headers: readonly string[], name: string): string | null {
  for (let at = 0; at + 1 < headers.length; at += 2) if (headers[at] === name) return headers[at + 1] ?? null
  return null
}

/** All headers as received, as a flat list with names in lower case. */
export function flatHeaders(raw: readonly Uint8Array[]): readonly string[] {
  return raw.map((bytes, nth) => (nth % 2 === 0 ? latin1(bytes).toLowerCase() : latin1(bytes)))
}

function isNamed(name: Uint8Array, expected: string): boolean {
  return latin1(name).toLowerCase() === expected
}

/** The parser has already refused all other forms. */
function lengthOf(text: string): number {
  const length = Number(text)
  return Number.isSafeInteger(length) && length >= 0 ? length : -1
}

function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1')
}
