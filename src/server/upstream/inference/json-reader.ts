import { JSON_DEPTH_MAX } from '../../../schemas/limits/limits.ts'

const TAB = 0x09
const LF = 0x0a
const CR = 0x0d
const SPACE = 0x20
export const QUOTE = 0x22
export const COMMA = 0x2c
const MINUS = 0x2d
const PLUS = 0x2b
const DOT = 0x2e
const ZERO = 0x30
const NINE = 0x39
export const COLON = 0x3a
export const OPEN_LIST = 0x5b
export const BACKSLASH = 0x5c
export const CLOSE_LIST = 0x5d
const LOWER_E = 0x65
export const LOWER_N = 0x6e
const LOWER_U = 0x75
export const OPEN_OBJECT = 0x7b
export const CLOSE_OBJECT = 0x7d

/** The bytes are no JSON, or nest deeper than JSON_DEPTH_MAX. */
export const WRONG = -1

/** Bytes `[start, end)` of one value. */
export interface Span {
  readonly start: number
  readonly end: number
}

const ESCAPED: ReadonlySet<number> = new Set([...'"\\/bfnrt'].map((letter) => letter.charCodeAt(0)))
const WORDS: ReadonlyMap<number, string> = new Map(
  ['true', 'false', 'null'].map((word) => [word.charCodeAt(0), word]),
)

/**
 * Walks over JSON in bytes, and makes no value of it. It takes what `JSON.parse` takes, no deeper than
 * JSON_DEPTH_MAX; whether the bytes are UTF-8 is not checked. Each method gets the place of a value's first
 * byte and returns the place behind its last one, or WRONG.
 */
export class JsonReader {
  bytes: Buffer
  /** Bytes in UTF-8 that the strings read so far have when they are decoded. */
  textBytes = 0
  /** Values that were walked over, names not among them. */
  values = 0

  constructor(bytes: Buffer) {
    this.bytes = bytes
  }

  /** Whether all of the bytes are one value. */
  isWhole(): boolean {
    const end = this.value(endOfSpace(this.bytes, 0), 1)
    return end !== WRONG && endOfSpace(this.bytes, end) === this.bytes.length
  }

  /** @param depth of this value: 1 is the outermost */
  value(at: number, depth: number): number {
    const byte = this.bytes[at]
    this.values++
    if (byte === QUOTE) return this.string(at)
    if (byte === OPEN_OBJECT) return this.#object(at, depth)
    if (byte === OPEN_LIST) return this.#list(at, depth)
    return endOfLiteral(this.bytes, at)
  }

  string(open: number): number {
    const { bytes } = this
    const { length } = bytes
    let at = open + 1
    while (at < length) {
      const byte = bytes[at] ?? 0
      if (byte === QUOTE) {
        this.textBytes += at - open - 1
        return at + 1
      }
      if (byte < SPACE) return WRONG
      if (byte !== BACKSLASH) at++
      else {
        at = this.#escape(at)
        if (at === WRONG) return WRONG
      }
    }
    return WRONG
  }

  /** Takes off `textBytes` what an escape is longer than its character. */
  #escape(at: number): number {
    const { bytes } = this
    const byte = bytes[at + 1] ?? 0
    if (byte !== LOWER_U) {
      this.textBytes -= 1
      return ESCAPED.has(byte) ? at + 2 : WRONG
    }
    const unit = hexOf(bytes, at + 2)
    if (unit === WRONG) return WRONG
    if (isHigh(unit) && bytes[at + 6] === BACKSLASH && bytes[at + 7] === LOWER_U) {
      const second = hexOf(bytes, at + 8)
      if (second >= 0xdc00 && second <= 0xdfff) {
        this.textBytes -= 12 - 4
        return at + 12
      }
    }
    this.textBytes -= 6 - (unit < 0x80 ? 1 : unit < 0x800 ? 2 : 3)
    return at + 6
  }

  #object(open: number, depth: number): number {
    if (depth > JSON_DEPTH_MAX) return WRONG
    const { bytes } = this
    let at = endOfSpace(bytes, open + 1)
    if (bytes[at] === CLOSE_OBJECT) return at + 1
    for (;;) {
      if (bytes[at] !== QUOTE) return WRONG
      const keyEnd = this.string(at)
      if (keyEnd === WRONG) return WRONG
      const colon = endOfSpace(bytes, keyEnd)
      if (bytes[colon] !== COLON) return WRONG
      const end = this.value(endOfSpace(bytes, colon + 1), depth + 1)
      if (end === WRONG) return WRONG
      at = endOfSpace(bytes, end)
      if (bytes[at] === CLOSE_OBJECT) return at + 1
      if (bytes[at] !== COMMA) return WRONG
      at = endOfSpace(bytes, at + 1)
    }
  }

  #list(open: number, depth: number): number {
    if (depth > JSON_DEPTH_MAX) return WRONG
    const { bytes } = this
    let at = endOfSpace(bytes, open + 1)
    if (bytes[at] === CLOSE_LIST) return at + 1
    for (;;) {
      const end = this.value(at, depth + 1)
      if (end === WRONG) return WRONG
      at = endOfSpace(bytes, end)
      if (bytes[at] === CLOSE_LIST) return at + 1
      if (bytes[at] !== COMMA) return WRONG
      at = endOfSpace(bytes, at + 1)
    }
  }
}

/** @returns the first place from `at` on that is no white space */
export function endOfSpace(bytes: Buffer, at: number): number {
  for (;;) {
    const byte = bytes[at]
    if (byte !== SPACE && byte !== LF && byte !== CR && byte !== TAB) return at
    at++
  }
}

/** Whether the text, in ASCII, stands at this place. */
export function isAt(bytes: Buffer, at: number, ascii: string): boolean {
  for (let nth = 0; nth < ascii.length; nth++) if (bytes[at + nth] !== ascii.charCodeAt(nth)) return false
  return true
}

/**
 * @returns the count that `[start, end)` writes, or WRONG when it is no whole number from 0 to
 * 999,999,999,999
 */
export function countAt(bytes: Buffer, start: number, end: number): number {
  if (end <= start || end - start > 12) return WRONG
  let count = 0
  for (let at = start; at < end; at++) {
    const byte = bytes[at] ?? 0
    if (byte < ZERO || byte > NINE) return WRONG
    count = count * 10 + (byte - ZERO)
  }
  return count
}

function endOfLiteral(bytes: Buffer, at: number): number {
  const byte = bytes[at] ?? 0
  if (byte <= NINE) return endOfNumber(bytes, at)
  const word = WORDS.get(byte)
  return word !== undefined && isAt(bytes, at, word) ? at + word.length : WRONG
}

function endOfNumber(bytes: Buffer, start: number): number {
  const whole = bytes[start] === MINUS ? start + 1 : start
  let at = bytes[whole] === ZERO ? whole + 1 : endOfDigits(bytes, whole)
  if (at === whole) return WRONG
  if (bytes[at] === DOT) {
    const fraction = at + 1
    at = endOfDigits(bytes, fraction)
    if (at === fraction) return WRONG
  }
  if (((bytes[at] ?? 0) | 0x20) !== LOWER_E) return at
  const sign = bytes[at + 1]
  const exponent = sign === MINUS || sign === PLUS ? at + 2 : at + 1
  at = endOfDigits(bytes, exponent)
  return at === exponent ? WRONG : at
}

function endOfDigits(bytes: Buffer, at: number): number {
  for (;;) {
    const byte = bytes[at] ?? 0
    if (byte < ZERO || byte > NINE) return at
    at++
  }
}

function isHigh(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff
}

/** The value of four hexadecimal digits, or WRONG. */
function hexOf(bytes: Buffer, at: number): number {
  let value = 0
  for (let nth = at; nth < at + 4; nth++) {
    const byte = bytes[nth] ?? 0
    const lower = byte | 0x20
    if (byte >= ZERO && byte <= NINE) value = value * 16 + (byte - ZERO)
    else if (lower >= 0x61 && lower <= 0x66) value = value * 16 + (lower - 0x57)
    else return WRONG
  }
  return value
}
