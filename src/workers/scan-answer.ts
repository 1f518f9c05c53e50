import { isUtf8 } from 'node:buffer'
import { USAGE_BYTES_MAX } from '../schemas/models/provider-limits.ts'
import type { ShortJobTypes, VectorEncoding } from '../server/ports/short-jobs.ts'
import {
  BACKSLASH,
  CLOSE_LIST,
  CLOSE_OBJECT,
  COLON,
  COMMA,
  isDigit,
  isSpace,
  OPEN_LIST,
  OPEN_OBJECT,
  QUOTE,
  type Span,
  ZERO,
} from '../schemas/values/json-bytes.ts'
import { endOfNumbers, endOfSpace, type NumberBytes } from './number-list.ts'
import { PlainNumbers } from './plain-numbers.ts'

type Scan = ShortJobTypes['scan_answer']

/** Places of the members of an embeddings answer. */
interface AnswerSpans {
  readonly data: Span
  readonly usage: Span | null
  /** Items of `data`. */
  readonly count: number
  /** Encoding of all vectors. */
  readonly encoding: VectorEncoding
}

/** Nesting below the answer itself, above which the scan gives up. Design §4. */
const DEPTH_MAX = 8

/**
 * Finds the vectors and the token figures of an answer in OpenAI's form, without parsing the vectors. Null
 * when a parser must decide: another form, or another encoding or number of vectors than requested.
 */
export function takeAnswer({ answer, encoding, count }: Scan['in']): Scan['out'] {
  const spans = scanAnswer(answer, count)
  if (spans === null || spans.encoding !== encoding || spans.count !== count) return null
  const usage = spans.usage === null ? {} : usageOf(answer, spans.usage)
  if (usage === null) return null
  const { prompt_tokens: promptTokens = null, total_tokens: totalTokens = null } = usage
  const { start, end } = spans.data
  return { start, end, promptTokens, totalTokens }
}

/**
 * One structural pass over an answer in OpenAI's form: it finds the places of the members, and checks that
 * the whole answer is valid JSON. Most of an answer is vectors: numbers are skipped four bytes at a time, and
 * the runtime decodes and encodes base64. The pass does not decide about unexpected content: null means that
 * a parser must. Design §4.
 * @param countMax items of `data`; the pass gives up at one more
 */
export function scanAnswer(answer: Uint8Array, countMax = Infinity): AnswerSpans | null {
  return new Scanner(bufferOf(answer), countMax).run()
}

/** The pass has failed: a required part is missing. */
const FAILED = -1

/** Numbers are finite: 64 digits and an exponent of two digits cannot exceed a double. */
const LITERAL = /^(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d{1,2})?)$/
/** Bytes of a literal that the pass checks; a parser checks longer ones. */
const LITERAL_BYTES_MAX = 64
/** Bytes of a string that are checked one by one before the search for its end. */
const SHORT_STRING_BYTES = 32
/** Bytes of a string that is not a vector; regular answers have no longer ones. */
const STRING_BYTES_MAX = 4_096
const FLOAT32_BYTES = 4

class Scanner {
  readonly #bytes: Buffer
  readonly #numbers: NumberBytes
  readonly #countMax: number
  #data: Span | null = null
  #usage: Span | null = null
  #count = 0
  #encoding: VectorEncoding | null = null

  constructor(bytes: Buffer, countMax: number) {
    this.#bytes = bytes
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
    this.#numbers = { bytes, view, plain: new PlainNumbers(bytes) }
    this.#countMax = countMax
  }

  run(): AnswerSpans | null {
    const start = this.#space(0)
    if (this.#bytes[start] !== OPEN_OBJECT) return null
    const end = this.#members(start, (keyStart, keyEnd, at) => this.#topMember(keyStart, keyEnd, at))
    if (end === FAILED || this.#space(end) !== this.#bytes.length) return null
    if (this.#data === null || this.#encoding === null) return null
    return { data: this.#data, usage: this.#usage, count: this.#count, encoding: this.#encoding }
  }

  /** An escaped key never gets here. The parser decides about repeated members. */
  #topMember(keyStart: number, keyEnd: number, at: number): number {
    if (keyEnd - keyStart === 4 && this.#is(keyStart, 'data'))
      return this.#data === null ? this.#dataMember(at) : FAILED
    const end = this.#value(at, 1)
    if (end === FAILED || keyEnd - keyStart !== 5 || !this.#is(keyStart, 'usage')) return end
    if (this.#usage !== null || this.#bytes[at] !== OPEN_OBJECT || end - at > USAGE_BYTES_MAX) return FAILED
    this.#usage = { start: at, end }
    return end
  }

  #dataMember(at: number): number {
    if (this.#bytes[at] !== OPEN_LIST) return FAILED
    const end = this.#list(at, (item) => this.#item(item))
    if (end !== FAILED) this.#data = { start: at, end }
    return end
  }

  /**
   * An item must name itself an embedding, be at the place of its index, and have one vector in the form of
   * all others: callers read it unchanged. §2.5
   */
  #item(at: number): number {
    const index = this.#count++
    if (this.#bytes[at] !== OPEN_OBJECT || index >= this.#countMax) return FAILED
    let hasVector = false
    let hasObject = false
    let hasIndex = false
    const end = this.#members(at, (keyStart, keyEnd, valueAt) => {
      switch (keyEnd - keyStart) {
        case 5:
          if (!this.#is(keyStart, 'index')) break
          hasIndex = true
          return this.#index(valueAt, index)
        case 6:
          if (!this.#is(keyStart, 'object')) break
          hasObject = true
          return this.#is(valueAt, '"embedding"') ? valueAt + 11 : FAILED
        case 9:
          if (!this.#is(keyStart, 'embedding')) break
          if (hasVector) return FAILED
          hasVector = true
          return this.#vector(valueAt)
      }
      return this.#value(valueAt, 3)
    })
    return hasVector && hasObject && hasIndex ? end : FAILED
  }

  /** The digits of a whole number, as JSON writes it; the caller checks the bytes after them. */
  #index(at: number, wanted: number): number {
    let value = 0
    let end = at
    for (let byte = this.#bytes[end]; isDigit(byte) && value <= wanted; byte = this.#bytes[++end])
      value = value * 10 + (byte - ZERO)
    const isPlain = end === at + 1 || (end > at && this.#bytes[at] !== ZERO)
    return isPlain && value === wanted ? end : FAILED
  }

  #vector(at: number): number {
    const encoding = this.#bytes[at] === QUOTE ? 'base64' : 'float'
    if (this.#encoding !== null && this.#encoding !== encoding) return FAILED
    this.#encoding = encoding
    if (encoding === 'base64') return this.#base64(at)
    return this.#bytes[at] === OPEN_LIST ? endOfNumbers(this.#numbers, at + 1) : FAILED
  }

  #value(at: number, depth: number): number {
    if (depth > DEPTH_MAX) return FAILED
    switch (this.#bytes[at]) {
      case QUOTE:
        return this.#string(at)
      case OPEN_OBJECT:
        return this.#members(at, (_start, _end, valueAt) => this.#value(valueAt, depth + 1))
      case OPEN_LIST:
        return this.#list(at, (itemAt) => this.#value(itemAt, depth + 1))
      default:
        return this.#literal(at)
    }
  }

  /** Walks an object; `member` gets the key without its quotes and returns where the value ends. */
  #members(open: number, member: (keyStart: number, keyEnd: number, valueAt: number) => number): number {
    const bytes = this.#bytes
    let at = this.#space(open + 1)
    if (bytes[at] === CLOSE_OBJECT) return at + 1
    for (;;) {
      if (bytes[at] !== QUOTE) return FAILED
      const afterKey = this.#string(at)
      if (afterKey === FAILED || this.#hasBackslash(at, afterKey)) return FAILED
      const colon = this.#space(afterKey)
      if (bytes[colon] !== COLON) return FAILED
      const end = member(at + 1, afterKey - 1, this.#space(colon + 1))
      if (end === FAILED) return FAILED
      at = this.#space(end)
      if (bytes[at] === CLOSE_OBJECT) return at + 1
      if (bytes[at] !== COMMA) return FAILED
      at = this.#space(at + 1)
    }
  }

  #list(open: number, item: (at: number) => number): number {
    const bytes = this.#bytes
    let at = this.#space(open + 1)
    if (bytes[at] === CLOSE_LIST) return at + 1
    for (;;) {
      const end = item(at)
      if (end === FAILED) return FAILED
      at = this.#space(end)
      if (bytes[at] === CLOSE_LIST) return at + 1
      if (bytes[at] !== COMMA) return FAILED
      at = this.#space(at + 1)
    }
  }

  /**
   * Whole finite float32 numbers in the canonical form of base64: decoding and encoding again gives the same
   * text.
   */
  #base64(open: number): number {
    const close = this.#bytes.indexOf(QUOTE, open + 1)
    if (close === -1) return FAILED
    const text = this.#bytes.toString('latin1', open + 1, close)
    const floats = Buffer.from(text, 'base64')
    if (floats.length === 0 || floats.length % FLOAT32_BYTES !== 0) return FAILED
    return areFinite(floats) && floats.toString('base64') === text ? close + 1 : FAILED
  }

  #string(open: number): number {
    const bytes = this.#bytes
    // Keys and most values are short and plain: for them a call of `indexOf` costs more than a loop.
    const nearEnd = open + SHORT_STRING_BYTES
    for (let at = open + 1; at < nearEnd; at++) {
      const byte = bytes[at]
      if (byte === QUOTE) return at + 1
      if (byte === undefined || byte < 0x20) return FAILED
      if (byte === BACKSLASH || byte > 0x7f) break
    }
    return this.#otherString(open)
  }

  /** The runtime checks escapes, control characters and UTF-8. */
  #otherString(open: number): number {
    const bytes = this.#bytes
    let quote = bytes.indexOf(QUOTE, open + 1)
    while (quote !== -1 && quote - open <= STRING_BYTES_MAX) {
      let at = quote - 1
      while (bytes[at] === BACKSLASH) at--
      // An even number of backslashes escapes itself, not the quote.
      if ((quote - 1 - at) % 2 === 0) return isString(bytes.subarray(open, quote + 1)) ? quote + 1 : FAILED
      quote = bytes.indexOf(QUOTE, quote + 1)
    }
    return FAILED
  }

  #literal(at: number): number {
    const limit = Math.min(at + LITERAL_BYTES_MAX, this.#bytes.length)
    let end = at
    while (end < limit && !isDelimiter(this.#bytes[end])) end++
    // One digit, as in every index below ten.
    if (end === at + 1 && isDigit(this.#bytes[at])) return end
    return LITERAL.test(this.#bytes.toString('latin1', at, end)) ? end : FAILED
  }

  #hasBackslash(start: number, end: number): boolean {
    for (let at = start; at < end; at++) if (this.#bytes[at] === BACKSLASH) return true
    return false
  }

  #is(at: number, text: string): boolean {
    for (let nth = 0; nth < text.length; nth++)
      if (this.#bytes[at + nth] !== text.charCodeAt(nth)) return false
    return true
  }

  #space(at: number): number {
    return endOfSpace(this.#bytes, at)
  }
}

interface Usage {
  readonly prompt_tokens?: number
  readonly total_tokens?: number
}

/** Null when the figures are not numbers: then a parser must check the whole answer. */
function usageOf(answer: Uint8Array, { start, end }: Span): Usage | null {
  const usage = JSON.parse(bufferOf(answer).toString('utf8', start, end)) as Record<string, unknown>
  return isNumberOrAbsent(usage['prompt_tokens']) && isNumberOrAbsent(usage['total_tokens']) ? usage : null
}

function isNumberOrAbsent(value: unknown): boolean {
  return value === undefined || typeof value === 'number'
}

function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
}

function isString(bytes: Buffer): boolean {
  if (!isUtf8(bytes)) return false
  try {
    return typeof JSON.parse(bytes.toString('utf8')) === 'string'
  } catch {
    return false
  }
}

/** Little-endian: an exponent of ones is NaN or Infinity. */
function areFinite(floats: Uint8Array): boolean {
  for (let at = FLOAT32_BYTES - 1; at < floats.length; at += FLOAT32_BYTES) {
    if (((floats[at] ?? 0) & 0x7f) === 0x7f && (floats[at - 1] ?? 0) > 0x7f) return false
  }
  return true
}

function isDelimiter(byte: number | undefined): boolean {
  return byte === COMMA || byte === CLOSE_OBJECT || byte === CLOSE_LIST || isSpace(byte)
}
