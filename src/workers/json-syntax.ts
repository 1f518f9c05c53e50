import * as json from '../schemas/values/json-bytes.ts'

/** Local names: looking up another module's name at each use costs a tenth of the time of these loops. */
const { BACKSLASH, DOT, endOfDigits, ESCAPED, hexOf, LOWER_E, LOWER_U, MINUS, NINE, PLUS } = json
const { isPlain, QUOTE, SPACE, UPPER_E, WRONG, ZERO } = json

/** A fault that `JSON.parse` accepts and Sluice refuses. */
export const LONE_SURROGATE = -2
/** A fault that `JSON.parse` accepts and Sluice refuses. */
export const NOT_FINITE = -3

const ESCAPE_BYTES = 6
/**
 * Bytes of a string that are checked one by one before a call of `indexOf`: most strings are names and short
 * texts, for which the call costs more than a loop.
 */
const SHORT_STRING_BYTES = 32

/** A number whose digits before the point, plus its exponent, are at most this many is below 10³⁰⁸ and finite. */
const FINITE_DIGITS_MAX = 308
/** Digits of an exponent that are counted; the parser checks longer exponents. */
const EXPONENT_DIGITS_MAX = 6

/** The bytes of a body, and a view to read four at a time. */
export interface JsonBytes {
  readonly bytes: Buffer
  readonly view: DataView
}

export function jsonBytes({ buffer, byteOffset, byteLength }: Uint8Array): JsonBytes {
  return {
    bytes: Buffer.from(buffer, byteOffset, byteLength),
    view: new DataView(buffer, byteOffset, byteLength),
  }
}

/** @param at after the opening quote @returns the place after the closing quote, or a fault */
export function endOfString({ bytes, view }: JsonBytes, at: number): number {
  const { length } = bytes
  const fourEnd = length - 4
  while (at < length) {
    while (at <= fourEnd && isPlain(view.getInt32(at, true))) at += 4
    const byte = bytes[at++]
    if (byte === QUOTE) return at
    if (byte === undefined) return WRONG
    if (byte >= SPACE && byte !== BACKSLASH) continue
    if (byte !== BACKSLASH) return WRONG
    at = endOfEscape(bytes, at)
    if (at < 0) return at
  }
  return WRONG
}

/**
 * Like `endOfString`, for a string that a parser checks later.
 * @param from after the opening quote
 * @returns the place after the closing quote, or WRONG
 */
export function endOfText(bytes: Buffer, from: number): number {
  const near = Math.min(from + SHORT_STRING_BYTES, bytes.length)
  for (let at = from; at < near; at++) {
    if (bytes[at] === QUOTE) return at + 1
    if (bytes[at] === BACKSLASH) at++
  }
  for (let quote = bytes.indexOf(QUOTE, from); quote !== -1; quote = bytes.indexOf(QUOTE, quote + 1)) {
    let before = quote - 1
    while (before >= from && bytes[before] === BACKSLASH) before--
    // An even number of backslashes consists of escaped backslashes, so the quote is not escaped.
    if ((quote - 1 - before) % 2 === 0) return quote + 1
  }
  return WRONG
}

/** Whether a string equals the text; letters of the string may be escaped. @param at after the opening quote */
export function isWritten(bytes: Uint8Array, at: number, ascii: string): boolean {
  for (let nth = 0; nth < ascii.length; nth++) {
    const code = ascii.charCodeAt(nth)
    if (bytes[at] === code) at++
    else if (bytes[at] === BACKSLASH && bytes[at + 1] === LOWER_U && hexOf(bytes, at + 2) === code)
      at += ESCAPE_BYTES
    else return false
  }
  return bytes[at] === QUOTE
}

/** Characters outside of ASCII that become ASCII letters when case is ignored: U+017F is a small s, U+212A a capital k. */
const LONG_S = 0x17f
const KELVIN = 0x212a

/** Like `isWritten`, but letters may have any case, as Go's encoding/json and other parsers read names. @param lower in small letters */
export function isWrittenInAnyCase(bytes: Uint8Array, at: number, lower: string): boolean {
  for (let nth = 0; nth < lower.length; nth++) {
    let code = bytes[at] ?? 0
    let length = 1
    if (code === BACKSLASH && bytes[at + 1] === LOWER_U) {
      code = hexOf(bytes, at + 2)
      length = ESCAPE_BYTES
    } else if (code === 0xc5 && bytes[at + 1] === 0xbf) {
      code = LONG_S
      length = 2
    } else if (code === 0xe2 && bytes[at + 1] === 0x84 && bytes[at + 2] === 0xaa) {
      code = KELVIN
      length = 3
    }
    if (lowered(code) !== lower.charCodeAt(nth)) return false
    at += length
  }
  return bytes[at] === QUOTE
}

function lowered(code: number): number {
  if (code >= 0x41 && code <= 0x5a) return code + 0x20
  return code === LONG_S ? 0x73 : code === KELVIN ? 0x6b : code
}

/** First bytes of names whose first letter is escaped, or is a character that counts as another letter. */
const OTHER_BEGINNINGS: readonly number[] = [BACKSLASH, 0xc5, 0xe2]

/**
 * Entries by each byte with which their names may begin in a body, in any case or escaped, to skip other names quickly:
 * a body may have millions of them.
 * @param name of an entry, in small letters of ASCII
 */
export function byFirstByte<T>(
  entries: readonly T[],
  name: (entry: T) => string,
): readonly (readonly T[] | undefined)[] {
  const table = new Array<T[] | undefined>(256).fill(undefined)
  for (const entry of entries) {
    const first = name(entry).charCodeAt(0)
    const upper = String.fromCharCode(first).toUpperCase().charCodeAt(0)
    for (const byte of new Set([first, upper, ...OTHER_BEGINNINGS])) (table[byte] ??= []).push(entry)
  }
  return table
}

/**
 * Replaces each lone surrogate, which JSON can escape but UTF-8 cannot encode, by U+FFFD of the same length.
 * @param span of a string, or a JSON value
 */
export function mendSurrogates(bytes: Buffer, { start, end }: json.Span): void {
  for (let at = start; at < end; at++) {
    if (bytes[at] !== BACKSLASH) continue
    const next = endOfEscape(bytes, at + 1)
    if (next === LONE_SURROGATE) bytes.write('fffd', at + 2, 'latin1')
    at = next > 0 ? next - 1 : at + 1
  }
}

/** @param at after the backslash */
function endOfEscape(bytes: Uint8Array, at: number): number {
  const byte = bytes[at]
  if (byte !== LOWER_U) return byte !== undefined && ESCAPED.has(byte) ? at + 1 : WRONG
  const unit = hexOf(bytes, at + 1)
  if (unit === WRONG) return WRONG
  if (unit < 0xd800 || unit > 0xdfff) return at + ESCAPE_BYTES - 1
  const next = at + ESCAPE_BYTES - 1
  if (unit > 0xdbff || bytes[next] !== BACKSLASH || bytes[next + 1] !== LOWER_U) return LONE_SURROGATE
  const second = hexOf(bytes, next + 2)
  if (second === WRONG) return WRONG
  return second >= 0xdc00 && second <= 0xdfff ? next + ESCAPE_BYTES : LONE_SURROGATE
}

/** @param start of the first byte @returns the place after the number, or a fault */
export function endOfNumber(bytes: Buffer, start: number): number {
  let at = bytes[start] === MINUS ? start + 1 : start
  const whole = at
  if (bytes[at] === ZERO) at++
  else at = endOfDigits(bytes, at)
  let digits = at - whole
  if (digits === 0) return WRONG
  if (bytes[at] === DOT) {
    const fraction = at + 1
    at = endOfDigits(bytes, fraction)
    if (at === fraction) return WRONG
  }
  if (bytes[at] === LOWER_E || bytes[at] === UPPER_E) {
    const sign = bytes[at + 1]
    const exponent = sign === MINUS || sign === PLUS ? at + 2 : at + 1
    at = endOfDigits(bytes, exponent)
    if (at === exponent) return WRONG
    if (sign !== MINUS) digits += valueOf(bytes, exponent, at)
  }
  return digits <= FINITE_DIGITS_MAX || isFiniteNumber(bytes, start, at) ? at : NOT_FINITE
}

function valueOf(bytes: Uint8Array, start: number, end: number): number {
  let at = start
  while (at < end && bytes[at] === ZERO) at++
  if (end - at > EXPONENT_DIGITS_MAX) return Infinity
  let value = 0
  for (; at < end; at++) value = value * 10 + ((bytes[at] ?? ZERO) - ZERO)
  return value
}

function isFiniteNumber(bytes: Buffer, start: number, end: number): boolean {
  return Number.isFinite(Number(bytes.toString('latin1', start, end)))
}

const LITERALS: ReadonlyMap<number, Uint8Array> = new Map(
  ['true', 'false', 'null'].map((word) => [word.charCodeAt(0), Buffer.from(word)]),
)

/** `true`, `false`, `null` or a number. */
export function endOfLiteral(bytes: Buffer, at: number): number {
  const byte = bytes[at] ?? 0
  if (byte <= NINE) return endOfNumber(bytes, at)
  const word = LITERALS.get(byte)
  if (word === undefined) return WRONG
  for (let nth = 1; nth < word.length; nth++) if (bytes[at + nth] !== word[nth]) return WRONG
  return at + word.length
}

/** Whether a JSON text may have members called `__proto__`, plain or escaped. */
export function mayHaveProto(text: string): boolean {
  return text.includes('__proto__') || text.includes('\\u')
}
