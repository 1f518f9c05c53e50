import { isUtf8 } from 'node:buffer'
import type { FailureMetadata } from '../schemas/failure-metadata.ts'
import * as json from '../schemas/values/json-bytes.ts'
import { endOfLiteral } from './json-syntax.ts'

const { BACKSLASH, CLOSE_LIST, CLOSE_OBJECT, COLON, COMMA, DOT, endOfDigits, endOfSpace, ESCAPED, hexOf } =
  json
const { isDigit, LOWER_E, LOWER_U, MINUS, OPEN_LIST, OPEN_OBJECT, PLUS, QUOTE, SPACE, UPPER_E, WRONG } = json

const LINE_FEED = 0x0a
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf]
/** Bytes that are checked at once for UTF-8. */
const BLOCK_BYTES = 4_096

const BODY = 'a JSON object'
const NAME = 'a member name in double quotes'
const VALUE = 'an object, a list, a string in double quotes, a number, true, false or null'
const NUMBER = 'a JSON number, such as `-1.5e3`'
const STRING_END = 'a closing `"`'
const NO_CONTROL = `${STRING_END}, or an escape such as \`\\n\` for the control character`
const ESCAPE = 'a JSON escape, such as `\\n`, `\\"` or `\\u00e9`'

/** A place where a body stops being JSON. */
interface Fault {
  /** Offset of the byte; the length of the body when it ends too early. */
  readonly at: number
  readonly expected: string
}

/**
 * The place where a body stops being JSON, and what is expected there; it contains no part of the body. Finding it
 * takes as long as parsing, so it is searched only for refused bodies.
 * @param bytes that are not UTF-8, or a text that `JSON.parse` refuses
 * @returns null: the body is nested deeper than `depthMax` before its fault
 */
export function malformationOf(bytes: Buffer, depthMax: number): FailureMetadata | null {
  if (bytes.length === 0) return placed(bytes, { at: 0, expected: BODY }, () => 'is empty')
  const broken = firstBroken(bytes)
  if (broken < bytes.length)
    return placed(bytes, { at: broken, expected: 'valid UTF-8' }, (place) => `is not UTF-8 at ${place}`)
  if (BYTE_ORDER_MARK.every((byte, nth) => bytes[nth] === byte))
    return placed(
      bytes,
      { at: 0, expected: 'UTF-8 without a byte order mark' },
      () => 'begins with a byte order mark',
    )
  const fault = new SyntaxWalk(bytes, depthMax).fault()
  if (fault === null) return null
  const what = fault.at < bytes.length ? 'has an error' : 'ends too early'
  return placed(bytes, fault, (place) => `${what} at ${place}`)
}

function placed(
  bytes: Buffer,
  { at, expected }: Fault,
  messageAt: (place: string) => string,
): FailureMetadata {
  let line = 1
  let column = 1
  for (let nth = 0; nth < at; nth++) {
    if (bytes[nth] === LINE_FEED) {
      line++
      column = 1
    } else if (!isWithin(bytes, nth)) column++
  }
  const message = messageAt(`line ${line}, column ${column} (byte offset ${at})`)
  return { issues: [{ path: '', message, expected }], line, column, offset: at }
}

/** Whether a byte belongs to a character but is not its first byte. */
function isWithin(bytes: Buffer, at: number): boolean {
  return ((bytes[at] ?? 0) & 0xc0) === 0x80
}

/** @returns the first byte that is not UTF-8; the length of a text without one */
function firstBroken(bytes: Buffer): number {
  for (let start = 0; start < bytes.length;) {
    let end = Math.min(start + BLOCK_BYTES, bytes.length)
    // A block must end between two characters: at most three bytes follow the first byte of a character.
    for (let back = 0; back < 3 && isWithin(bytes, end); back++) end--
    if (!isUtf8(bytes.subarray(start, end))) return firstBrokenFrom(bytes, start)
    start = end
  }
  return bytes.length
}

function firstBrokenFrom(bytes: Buffer, start: number): number {
  let at = start
  for (;;) {
    const first = bytes[at] ?? 0
    const size = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4
    if (!isUtf8(bytes.subarray(at, at + size))) return at
    at += size
  }
}

/** Walks over a text until it stops being JSON. */
class SyntaxWalk {
  readonly #bytes: Buffer
  readonly #depthMax: number
  #at = 0
  /** Null while there is no fault. */
  #expected: string | null = null

  constructor(bytes: Buffer, depthMax: number) {
    this.#bytes = bytes
    this.#depthMax = depthMax
  }

  /** Null without a fault, and for a body that is too deep before its fault. */
  fault(): Fault | null {
    this.#skipSpace(0)
    if (this.#value(1, BODY)) {
      this.#skipSpace(0)
      if (this.#at < this.#bytes.length) this.#wants('the end of the body')
    }
    return this.#expected === null ? null : { at: this.#at, expected: this.#expected }
  }

  /** @returns whether the value is complete */
  #value(level: number, expected: string): boolean {
    switch (this.#bytes[this.#at]) {
      case QUOTE:
        return this.#string()
      case OPEN_OBJECT:
        return this.#parts(level, CLOSE_OBJECT)
      case OPEN_LIST:
        return this.#parts(level, CLOSE_LIST)
      default:
        return this.#literal(expected)
    }
  }

  /** Reads the members of an object, or the elements of a list. */
  #parts(level: number, close: number): boolean {
    if (level > this.#depthMax) return false
    const mark = `\`${String.fromCharCode(close)}\``
    this.#skipSpace(1)
    if (this.#isPast(close)) return true
    let orElse = `, or ${mark}`
    for (;;) {
      if (close === CLOSE_OBJECT && !this.#name(`${NAME}${orElse}`)) return false
      if (!this.#value(level + 1, close === CLOSE_OBJECT ? VALUE : `${VALUE}${orElse}`)) return false
      this.#skipSpace(0)
      if (this.#isPast(close)) return true
      if (this.#bytes[this.#at] !== COMMA) return this.#wants(`\`,\` or ${mark}`)
      this.#skipSpace(1)
      orElse = this.#bytes[this.#at] === close ? `, or no comma before ${mark}` : ''
    }
  }

  #name(expected: string): boolean {
    if (this.#bytes[this.#at] !== QUOTE) return this.#wants(expected)
    if (!this.#string()) return false
    this.#skipSpace(0)
    if (this.#bytes[this.#at] !== COLON) return this.#wants('`:` after the member name')
    this.#skipSpace(1)
    return true
  }

  #string(): boolean {
    const bytes = this.#bytes
    let at = this.#at + 1
    for (let byte = bytes[at]; byte !== QUOTE; byte = bytes[at]) {
      const size = byte === BACKSLASH ? escapeBytes(bytes, at) : 1
      const isControl = byte !== undefined && byte < SPACE
      if (byte === undefined || isControl || size === 0) {
        this.#at = at
        return this.#wants(byte === undefined ? STRING_END : isControl ? NO_CONTROL : ESCAPE)
      }
      at += size
    }
    this.#at = at + 1
    return true
  }

  #literal(expected: string): boolean {
    const bytes = this.#bytes
    const first = bytes[this.#at]
    const end = endOfLiteral(bytes, this.#at)
    if (end === WRONG) return this.#wants(isDigit(first) || first === MINUS ? NUMBER : expected)
    // A number that is out of range is still JSON.
    this.#at = end > 0 ? end : endOfLarge(bytes, this.#at)
    return true
  }

  #isPast(close: number): boolean {
    if (this.#bytes[this.#at] !== close) return false
    this.#at++
    return true
  }

  /** @param marks number of bytes before the space */
  #skipSpace(marks: number): void {
    this.#at = endOfSpace(this.#bytes, this.#at + marks)
  }

  #wants(expected: string): false {
    this.#expected = expected
    return false
  }
}

/** 0 when there is no escape. */
function escapeBytes(bytes: Buffer, at: number): number {
  const letter = bytes[at + 1]
  if (letter === LOWER_U) return hexOf(bytes, at + 2) === WRONG ? 0 : 6
  return letter !== undefined && ESCAPED.has(letter) ? 2 : 0
}

/** @param at the start of a number that is out of range */
function endOfLarge(bytes: Buffer, at: number): number {
  let end = endOfDigits(bytes, bytes[at] === MINUS ? at + 1 : at)
  if (bytes[end] === DOT) end = endOfDigits(bytes, end + 1)
  if (bytes[end] !== LOWER_E && bytes[end] !== UPPER_E) return end
  const sign = bytes[end + 1]
  return endOfDigits(bytes, sign === MINUS || sign === PLUS ? end + 2 : end + 1)
}
