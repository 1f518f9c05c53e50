import type { VectorEncoding } from '../ports/short-jobs.ts'

/** Bytes `[start, end)` of one value within an answer. */
export interface Span {
  readonly start: number
  readonly end: number
}

/** Where the members of an embeddings answer lie. */
export interface AnswerSpans {
  readonly data: Span
  readonly model: Span | null
  readonly usage: Span | null
  readonly id: Span | null
  /** Items of `data`, and how all of them write their vectors. */
  readonly count: number
  readonly encoding: VectorEncoding
}

/** Nesting below the answer itself, beyond which the scan gives up. Design §4. */
const DEPTH_MAX = 8

/**
 * One structural pass over an answer of the OpenAI form: it finds where the members lie and reads no number.
 * Strings are skipped quote by quote, vectors by their closing bracket; every other token is checked
 * strictly. What it does not expect it does not judge: null means that a parser has to.
 *
 * It does not look inside strings and numbers: a control character in a string or a number such as `1.2.3` passes
 * through as the provider wrote it. NaN, Infinity and null among numbers are seen. Design §4.
 */
export function scanAnswer(answer: Uint8Array): AnswerSpans | null {
  return new Scanner(
    Buffer.isBuffer(answer) ? answer : Buffer.from(answer.buffer, answer.byteOffset, answer.length),
  ).run()
}

const QUOTE = 0x22
const COMMA = 0x2c
const COLON = 0x3a
const OPEN_LIST = 0x5b
const BACKSLASH = 0x5c
const CLOSE_LIST = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d
const LOWER_N = 0x6e
const UPPER_N = 0x4e

/** Nothing was found where something had to be: the pass has failed. */
const FAILED = -1

const LITERAL = /^(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)$/
const LITERAL_BYTES_MAX = 64
const SHORT_STRING_BYTES = 32

type TopName = 'data' | 'model' | 'usage' | 'id'

class Scanner {
  readonly #bytes: Buffer
  #data: Span | null = null
  #model: Span | null = null
  #usage: Span | null = null
  #id: Span | null = null
  #count = 0
  #encoding: VectorEncoding | null = null
  /** Next places of bytes that cannot stand among numbers, each searched once per stretch. */
  #nextQuote = FAILED
  #nextLowerN = FAILED
  #nextUpperN = FAILED

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  run(): AnswerSpans | null {
    const start = this.#space(0)
    if (this.#bytes[start] !== OPEN_OBJECT) return null
    const end = this.#members(start, (keyStart, keyEnd, at) => this.#topMember(keyStart, keyEnd, at))
    if (end === FAILED || this.#space(end) !== this.#bytes.length) return null
    if (this.#data === null || this.#encoding === null) return null
    return {
      data: this.#data,
      model: this.#model,
      usage: this.#usage,
      id: this.#id,
      count: this.#count,
      encoding: this.#encoding,
    }
  }

  #topMember(keyStart: number, keyEnd: number, at: number): number {
    const name = this.#topName(keyStart, keyEnd)
    if (name === 'data') return this.#data === null ? this.#dataMember(at) : FAILED
    const end = this.#value(at, 1)
    if (name === null || end === FAILED) return end
    const first = this.#bytes[at]
    // A member of a type that it may not have is the parser's to judge, and so is one that comes twice.
    if (name === 'usage') {
      if (this.#usage !== null || first !== OPEN_OBJECT) return FAILED
      this.#usage = { start: at, end }
    } else {
      if (first !== QUOTE || (name === 'id' ? this.#id : this.#model) !== null) return FAILED
      if (name === 'id') this.#id = { start: at, end }
      else this.#model = { start: at, end }
    }
    return end
  }

  /** Keys are told apart by length first; an escaped one never gets here. */
  #topName(start: number, end: number): TopName | null {
    switch (end - start) {
      case 2:
        return this.#is(start, 'id') ? 'id' : null
      case 4:
        return this.#is(start, 'data') ? 'data' : null
      case 5:
        return this.#is(start, 'model') ? 'model' : this.#is(start, 'usage') ? 'usage' : null
      default:
        return null
    }
  }

  #dataMember(at: number): number {
    if (this.#bytes[at] !== OPEN_LIST) return FAILED
    const end = this.#list(at, (item) => this.#item(item))
    if (end !== FAILED) this.#data = { start: at, end }
    return end
  }

  /** An item must say that it is an embedding and have one vector of the form that all others have. */
  #item(at: number): number {
    if (this.#bytes[at] !== OPEN_OBJECT) return FAILED
    let hasVector = false
    let hasObject = false
    const end = this.#members(at, (keyStart, keyEnd, valueAt) => {
      if (keyEnd - keyStart === 6 && this.#is(keyStart, 'object')) {
        hasObject = true
        return this.#is(valueAt, '"embedding"') ? valueAt + 11 : FAILED
      }
      if (keyEnd - keyStart !== 9 || !this.#is(keyStart, 'embedding')) return this.#value(valueAt, 3)
      if (hasVector) return FAILED
      hasVector = true
      return this.#vector(valueAt)
    })
    this.#count++
    return hasVector && hasObject ? end : FAILED
  }

  #vector(at: number): number {
    const encoding = this.#bytes[at] === QUOTE ? 'base64' : 'float'
    if (this.#encoding !== null && this.#encoding !== encoding) return FAILED
    this.#encoding = encoding
    if (encoding === 'base64') return this.#string(at)
    if (this.#bytes[at] !== OPEN_LIST) return FAILED
    return isNumberStart(this.#bytes[this.#space(at + 1)]) ? this.#numbers(at) : FAILED
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

  /** Walks an object; `member` gets the key without its quotes and answers where the value ends. */
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

  /** Skips an array of numbers to its bracket, unless something stands before that which is no number. */
  #numbers(open: number): number {
    const close = this.#bytes.indexOf(CLOSE_LIST, open)
    if (close === -1) return FAILED
    if (this.#nextQuote < open) this.#nextQuote = this.#find(QUOTE, open)
    if (this.#nextLowerN < open) this.#nextLowerN = this.#find(LOWER_N, open)
    if (this.#nextUpperN < open) this.#nextUpperN = this.#find(UPPER_N, open)
    if (this.#nextQuote < close || this.#nextLowerN < close || this.#nextUpperN < close) return FAILED
    return isDigit(this.#bytes[this.#spaceBefore(close)]) ? close + 1 : FAILED
  }

  #string(open: number): number {
    const bytes = this.#bytes
    // Keys and most values are short: for them a call of `indexOf` costs more than looking.
    const nearEnd = open + SHORT_STRING_BYTES
    for (let at = open + 1; at < nearEnd; at++) {
      const byte = bytes[at]
      if (byte === QUOTE) return at + 1
      if (byte === BACKSLASH) break
    }
    return this.#longString(open)
  }

  #longString(open: number): number {
    const bytes = this.#bytes
    let quote = bytes.indexOf(QUOTE, open + 1)
    while (quote !== -1) {
      let at = quote - 1
      while (bytes[at] === BACKSLASH) at--
      // An even number of back-slashes escapes itself, not the quote.
      if ((quote - 1 - at) % 2 === 0) return quote + 1
      quote = bytes.indexOf(QUOTE, quote + 1)
    }
    return FAILED
  }

  #literal(at: number): number {
    const limit = Math.min(at + LITERAL_BYTES_MAX, this.#bytes.length)
    let end = at
    while (end < limit && !isDelimiter(this.#bytes[end])) end++
    // One digit, as every index below ten is.
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

  #find(byte: number, from: number): number {
    const at = this.#bytes.indexOf(byte, from)
    return at === -1 ? Infinity : at
  }

  #space(at: number): number {
    while (isSpace(this.#bytes[at])) at++
    return at
  }

  #spaceBefore(at: number): number {
    do at--
    while (isSpace(this.#bytes[at]))
    return at
  }
}

function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09
}

function isDelimiter(byte: number | undefined): boolean {
  return byte === COMMA || byte === CLOSE_OBJECT || byte === CLOSE_LIST || isSpace(byte)
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 0x30 && byte <= 0x39
}

function isNumberStart(byte: number | undefined): boolean {
  return byte === 0x2d || isDigit(byte)
}
