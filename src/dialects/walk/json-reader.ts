import { JSON_DEPTH_MAX } from '../../schemas/limits/limits.ts'
import {
  BACKSLASH,
  CLOSE_LIST,
  CLOSE_OBJECT,
  COLON,
  COMMA,
  DOT,
  endOfDigits,
  endOfSpace,
  ESCAPED,
  hexOf,
  isPlain,
  LOWER_E,
  LOWER_U,
  MINUS,
  NINE,
  OPEN_LIST,
  OPEN_OBJECT,
  PLUS,
  QUOTE,
  SPACE,
  WRONG,
  ZERO,
} from '../../schemas/values/json-bytes.ts'

const WORDS: ReadonlyMap<number, string> = new Map(
  ['true', 'false', 'null'].map((word) => [word.charCodeAt(0), word]),
)

/** Bytes of a string that are read one by one before the faster way for long strings is used; fragments of a stream are shorter. */
const NEAR_BYTES = 1_024

/**
 * Walks over JSON bytes without building values. It accepts the same text as `JSON.parse`, up to a maximum
 * depth; it does not check that the bytes are UTF-8. Each method takes the place of a value's first byte and
 * returns the place after its last one, or WRONG.
 */
export class JsonReader {
  bytes: Buffer
  /** UTF-8 bytes of the strings read so far, after decoding. */
  textBytes = 0
  /** A view of `bytes` that reads long strings four bytes at a time; null: no string was long so far. */
  #view: DataView | null = null
  /** Number of values that were walked over, without names. */
  values = 0
  readonly #depthMax: number

  constructor(bytes: Buffer, depthMax: number = JSON_DEPTH_MAX) {
    this.bytes = bytes
    this.#depthMax = depthMax
  }

  /** Starts to read other bytes. */
  begin(bytes: Buffer): void {
    this.bytes = bytes
    this.textBytes = 0
    this.#view = null
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
      for (const near = Math.min(at + NEAR_BYTES, length); at < near;) {
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
      at = this.#endOfPlain(at)
    }
    return WRONG
  }

  /** @returns a place before which no byte ends the string or begins an escape */
  #endOfPlain(from: number): number {
    const { buffer, byteOffset, length } = this.bytes
    this.#view ??= new DataView(buffer, byteOffset, length)
    const view = this.#view
    let at = from
    while (at <= length - 4 && isPlain(view.getInt32(at, true))) at += 4
    return at
  }

  /** Subtracts from `textBytes` the difference between an escape and its character. */
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
    if (depth > this.#depthMax) return WRONG
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
    if (depth > this.#depthMax) return WRONG
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

/** Whether the bytes at this place are this ASCII text. */
export function isAt(bytes: Buffer, at: number, ascii: string): boolean {
  for (let nth = 0; nth < ascii.length; nth++) if (bytes[at + nth] !== ascii.charCodeAt(nth)) return false
  return true
}

/** Bytes of a letter written as an escape. */
const ESCAPE_BYTES = 6

/** Whether the value in `[start, end)` is this text in ASCII, escaped or not. */
export function isText(bytes: Buffer, start: number, end: number, ascii: string): boolean {
  if (bytes[start] !== QUOTE) return false
  const { length } = ascii
  if (end - start === length + 2) return isAt(bytes, start + 1, ascii)
  const mayBe = end > start && end - start <= length * ESCAPE_BYTES + 2
  return mayBe && JSON.parse(bytes.toString('utf8', start, end)) === ascii
}

/** @returns the count written in `[start, end)`, or WRONG when it is not a whole number from 0 to 999,999,999,999 */
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

function isHigh(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff
}
