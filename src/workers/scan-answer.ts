import { isUtf8 } from 'node:buffer'
import { USAGE_BYTES_MAX } from '../schemas/models/provider-limits.ts'
import type { ShortJobTypes, VectorEncoding } from '../server/ports/short-jobs.ts'
import {
  BACKSLASH,
  CLOSE_LIST,
  CLOSE_OBJECT,
  COLON,
  COMMA,
  isAt,
  isDigit,
  isSpace,
  OPEN_LIST,
  OPEN_OBJECT,
  QUOTE,
  SPACE,
  type Span,
  ZERO,
} from '../schemas/values/json-bytes.ts'
import { endOfBase64 } from './base64-vector.ts'
import { endOfNumbers, endOfSpace, NumberBytes } from './number-list.ts'

type Scan = ShortJobTypes['scan_answer']

/** Places of the members of an embeddings answer. */
interface AnswerSpans {
  readonly data: Span
  readonly usage: Span | null
  /** Token figures of `usage`; null when a parser has to read them. */
  readonly figures: Figures | null
  /** Items of `data`. */
  readonly count: number
  readonly encoding: VectorEncoding
}

interface Figures {
  readonly promptTokens: number | null
  readonly totalTokens: number | null
}

/** Nesting below the answer itself, above which the scan gives up. Design §4. */
const DEPTH_MAX = 8

/**
 * Finds the vectors and the token figures of an answer in OpenAI's form, without parsing the vectors. Null when a
 * parser must decide: the form differs, or the encoding or number of vectors differs from the requested one.
 */
export function takeAnswer({ answer, encoding, count }: Scan['in']): Scan['out'] {
  const spans = scanAnswer(answer, count)
  if (spans === null || spans.encoding !== encoding || spans.count !== count) return null
  const figures = spans.figures ?? parsedFigures(answer, spans.usage)
  if (figures === null) return null
  const { start, end } = spans.data
  return { start, end, promptTokens: figures.promptTokens, totalTokens: figures.totalTokens }
}

/**
 * One structural pass over an answer in OpenAI's form: it finds the places of the members, and checks that the whole
 * answer is valid JSON. Most of an answer is vectors: plain numbers and base64 are read 16 bytes at once
 * (`scan-code.wat`). The pass does not decide about unexpected content: null means that a parser must. Design §4.
 * @param countMax items of `data`; the pass gives up at one more
 */
export function scanAnswer(answer: Uint8Array, countMax = Infinity): AnswerSpans | null {
  return new Scanner(bufferOf(answer), countMax).run()
}

/** The pass has failed: a required part is missing. */
const FAILED = -1
/** The string is not short and plain. */
const OTHER = -2

/** Numbers are finite: 64 digits and an exponent of two digits cannot exceed a double. */
const LITERAL = /^(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d{1,2})?)$/
/** Bytes of a literal that the pass checks; a parser checks longer ones. */
const LITERAL_BYTES_MAX = 64
/** Digits of a whole number that a double can represent exactly in any case. */
const WHOLE_DIGITS_MAX = 15
/** Bytes of a string that are checked one by one before the search for its end. */
const SHORT_STRING_BYTES = 32
/** Bytes of a string that is not a vector; regular answers have no longer ones. */
const STRING_BYTES_MAX = 4_096

/** The role of an object in an answer, which determines how its members are read. */
type Kind = 'answer' | 'item' | 'usage' | 'other'

const DATA = Buffer.from('data')
const USAGE = Buffer.from('usage')
const INDEX = Buffer.from('index')
const OBJECT = Buffer.from('object')
const EMBEDDING = Buffer.from('embedding')
const EMBEDDING_VALUE = Buffer.from('"embedding"')
const PROMPT_TOKENS = Buffer.from('prompt_tokens')
const TOTAL_TOKENS = Buffer.from('total_tokens')

/** Compares names as bytes, and uses methods instead of closures, so that a small answer costs little more than one pass. */
class Scanner {
  readonly #bytes: Buffer
  readonly #numbers: NumberBytes
  readonly #countMax: number
  #data: Span | null = null
  #usage: Span | null = null
  #count = 0
  #encoding: VectorEncoding | null = null
  /** Whether the current item has a vector. */
  #hasVector = false
  #hasObject = false
  #hasIndex = false
  #whole = 0
  #promptTokens: number | null = null
  #totalTokens: number | null = null
  /** Whether a figure is not just digits. */
  #hasOddFigure = false

  constructor(bytes: Buffer, countMax: number) {
    this.#bytes = bytes
    this.#numbers = new NumberBytes(bytes)
    this.#countMax = countMax
  }

  run(): AnswerSpans | null {
    const start = this.#space(0)
    if (this.#bytes[start] !== OPEN_OBJECT) return null
    const end = this.#object(start, 'answer', 1)
    if (end === FAILED || this.#space(end) !== this.#bytes.length) return null
    if (this.#data === null || this.#encoding === null) return null
    const figures = { promptTokens: this.#promptTokens, totalTokens: this.#totalTokens }
    return {
      data: this.#data,
      usage: this.#usage,
      figures: this.#hasOddFigure ? null : figures,
      count: this.#count,
      encoding: this.#encoding,
    }
  }

  /** Escaped keys are handled before this. A parser decides about repeated members. */
  #answerMember(keyStart: number, keyEnd: number, at: number): number {
    switch (keyEnd - keyStart) {
      case 4:
        if (!isAt(this.#bytes, keyStart, DATA)) break
        return this.#data === null ? this.#dataMember(at) : FAILED
      case 5:
        if (!isAt(this.#bytes, keyStart, USAGE)) break
        return this.#usage === null ? this.#usageMember(at) : FAILED
    }
    return this.#value(at, 1)
  }

  #dataMember(at: number): number {
    const end = this.#bytes[at] === OPEN_LIST ? this.#list(at, 'items', 1) : FAILED
    if (end !== FAILED) this.#data = { start: at, end }
    return end
  }

  #usageMember(at: number): number {
    const end = this.#bytes[at] === OPEN_OBJECT ? this.#object(at, 'usage', 2) : FAILED
    if (end === FAILED || end - at > USAGE_BYTES_MAX) return FAILED
    this.#usage = { start: at, end }
    return end
  }

  /** The last of several members with the same name counts, as it does for a parser. */
  #usageField(keyStart: number, keyEnd: number, at: number): number {
    const isPrompt = keyEnd - keyStart === PROMPT_TOKENS.length && isAt(this.#bytes, keyStart, PROMPT_TOKENS)
    const isTotal = keyEnd - keyStart === TOTAL_TOKENS.length && isAt(this.#bytes, keyStart, TOTAL_TOKENS)
    const end = isPrompt || isTotal ? this.#endOfWhole(at) : FAILED
    if (end === FAILED) {
      this.#hasOddFigure ||= isPrompt || isTotal
      return this.#value(at, 2)
    }
    if (isPrompt) this.#promptTokens = this.#whole
    else this.#totalTokens = this.#whole
    return end
  }

  /**
   * An item must have the object type `embedding`, an index equal to its place, and one vector in the form of all
   * others: callers get it unchanged.
   */
  #item(at: number): number {
    if (this.#bytes[at] !== OPEN_OBJECT || this.#count >= this.#countMax) return FAILED
    this.#hasVector = false
    this.#hasObject = false
    this.#hasIndex = false
    const end = this.#object(at, 'item', 3)
    this.#count++
    return this.#hasVector && this.#hasObject && this.#hasIndex ? end : FAILED
  }

  #itemMember(keyStart: number, keyEnd: number, at: number): number {
    switch (keyEnd - keyStart) {
      case 5:
        if (!isAt(this.#bytes, keyStart, INDEX)) break
        this.#hasIndex = true
        return this.#index(at)
      case 6:
        if (!isAt(this.#bytes, keyStart, OBJECT)) break
        this.#hasObject = true
        return isAt(this.#bytes, at, EMBEDDING_VALUE) ? at + EMBEDDING_VALUE.length : FAILED
      case 9:
        if (!isAt(this.#bytes, keyStart, EMBEDDING)) break
        if (this.#hasVector) return FAILED
        this.#hasVector = true
        return this.#vector(at)
    }
    return this.#value(at, 3)
  }

  #index(at: number): number {
    const end = this.#endOfWhole(at)
    return end !== FAILED && this.#whole === this.#count ? end : FAILED
  }

  #vector(at: number): number {
    const encoding = this.#bytes[at] === QUOTE ? 'base64' : 'float'
    if (this.#encoding !== null && this.#encoding !== encoding) return FAILED
    this.#encoding = encoding
    if (encoding === 'base64') return endOfBase64(this.#numbers, at)
    return this.#bytes[at] === OPEN_LIST ? endOfNumbers(this.#numbers, at + 1) : FAILED
  }

  #value(at: number, depth: number): number {
    if (depth > DEPTH_MAX) return FAILED
    switch (this.#bytes[at]) {
      case QUOTE:
        return this.#string(at)
      case OPEN_OBJECT:
        return this.#object(at, 'other', depth + 1)
      case OPEN_LIST:
        return this.#list(at, 'values', depth + 1)
      default:
        return this.#literal(at)
    }
  }

  /** @param depth of values whose content is ignored */
  #object(open: number, kind: Kind, depth: number): number {
    const bytes = this.#bytes
    let at = this.#space(open + 1)
    if (bytes[at] === CLOSE_OBJECT) return at + 1
    for (;;) {
      const afterKey = bytes[at] === QUOTE ? this.#key(at) : FAILED
      if (afterKey === FAILED) return FAILED
      const colon = this.#space(afterKey)
      if (bytes[colon] !== COLON) return FAILED
      const valueAt = this.#space(colon + 1)
      const end =
        kind === 'item'
          ? this.#itemMember(at + 1, afterKey - 1, valueAt)
          : kind === 'usage'
            ? this.#usageField(at + 1, afterKey - 1, valueAt)
            : kind === 'answer'
              ? this.#answerMember(at + 1, afterKey - 1, valueAt)
              : this.#value(valueAt, depth)
      if (end === FAILED) return FAILED
      at = this.#space(end)
      if (bytes[at] === CLOSE_OBJECT) return at + 1
      if (bytes[at] !== COMMA) return FAILED
      at = this.#space(at + 1)
    }
  }

  #list(open: number, of: 'items' | 'values', depth: number): number {
    const bytes = this.#bytes
    let at = this.#space(open + 1)
    if (bytes[at] === CLOSE_LIST) return at + 1
    for (;;) {
      const end = of === 'items' ? this.#item(at) : this.#value(at, depth)
      if (end === FAILED) return FAILED
      at = this.#space(end)
      if (bytes[at] === CLOSE_LIST) return at + 1
      if (bytes[at] !== COMMA) return FAILED
      at = this.#space(at + 1)
    }
  }

  /** Reads a name without escapes. @returns the place after the closing quote */
  #key(open: number): number {
    const end = this.#shortString(open)
    if (end !== OTHER) return end
    const otherEnd = this.#otherString(open)
    return otherEnd === FAILED || this.#hasBackslash(open, otherEnd) ? FAILED : otherEnd
  }

  #string(open: number): number {
    const end = this.#shortString(open)
    return end === OTHER ? this.#otherString(open) : end
  }

  /** Keys and most values are short and plain: for them a call of `indexOf` costs more than a loop. */
  #shortString(open: number): number {
    const bytes = this.#bytes
    const nearEnd = open + SHORT_STRING_BYTES
    for (let at = open + 1; at < nearEnd; at++) {
      const byte = bytes[at]
      if (byte === QUOTE) return at + 1
      if (byte === undefined || byte < 0x20) return FAILED
      if (byte === BACKSLASH || byte > 0x7f) break
    }
    return OTHER
  }

  /** Reads any other string; the runtime checks escapes, control characters and UTF-8. */
  #otherString(open: number): number {
    const bytes = this.#bytes
    let quote = bytes.indexOf(QUOTE, open + 1)
    while (quote !== -1 && quote - open <= STRING_BYTES_MAX) {
      let at = quote - 1
      while (bytes[at] === BACKSLASH) at--
      // An even number of backslashes consists of escaped backslashes, so the quote is not escaped.
      if ((quote - 1 - at) % 2 === 0) return isString(bytes.subarray(open, quote + 1)) ? quote + 1 : FAILED
      quote = bytes.indexOf(QUOTE, quote + 1)
    }
    return FAILED
  }

  #literal(at: number): number {
    const whole = this.#endOfWhole(at)
    if (whole !== FAILED) return whole
    const limit = Math.min(at + LITERAL_BYTES_MAX, this.#bytes.length)
    let end = at
    while (end < limit && !isDelimiter(this.#bytes[end])) end++
    return LITERAL.test(this.#bytes.toString('latin1', at, end)) ? end : FAILED
  }

  /** Reads digits, as JSON writes them, up to a delimiter; `#whole` is then their value. Otherwise FAILED. */
  #endOfWhole(at: number): number {
    const bytes = this.#bytes
    const limit = at + WHOLE_DIGITS_MAX
    let value = 0
    let end = at
    let byte = bytes[end]
    while (isDigit(byte) && end < limit) {
      value = value * 10 + (byte - ZERO)
      byte = bytes[++end]
    }
    const isPlain = end === at + 1 || (end > at && bytes[at] !== ZERO)
    if (!isPlain || !isDelimiter(byte)) return FAILED
    this.#whole = value
    return end
  }

  #hasBackslash(start: number, end: number): boolean {
    for (let at = start; at < end; at++) if (this.#bytes[at] === BACKSLASH) return true
    return false
  }

  #space(at: number): number {
    const byte = this.#bytes[at]
    return byte !== undefined && byte > SPACE ? at : endOfSpace(this.#bytes, at)
  }
}

/** Null when the figures are not numbers; a parser must then check the whole answer. */
function parsedFigures(answer: Uint8Array, usage: Span | null): Figures | null {
  if (usage === null) return { promptTokens: null, totalTokens: null }
  const text = bufferOf(answer).toString('utf8', usage.start, usage.end)
  const { prompt_tokens: promptTokens, total_tokens: totalTokens } = JSON.parse(text) as Record<
    string,
    unknown
  >
  return isNumberOrAbsent(promptTokens) && isNumberOrAbsent(totalTokens)
    ? { promptTokens: promptTokens ?? null, totalTokens: totalTokens ?? null }
    : null
}

function isNumberOrAbsent(value: unknown): value is number | undefined {
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

function isDelimiter(byte: number | undefined): boolean {
  return byte === COMMA || byte === CLOSE_OBJECT || byte === CLOSE_LIST || isSpace(byte)
}
