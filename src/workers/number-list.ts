import * as json from '../schemas/values/json-bytes.ts'
import { ScanWindow } from './scan-memory.ts'

/** Local names: looking up another module's name at each use costs a tenth of the time of this loop. */
const { CLOSE_LIST, COMMA, DOT, isDigit, isSpace, LOWER_E, MINUS, PLUS, UPPER_E, ZERO } = json

/** Digits before the point, above which a parser must decide. */
const WHOLE_DIGITS_MAX = 8
/** Digits of a negative exponent, above which a parser must decide. */
const SMALL_DIGITS_MAX = 2
/** Digits of a positive exponent, above which a parser must decide. */
const LARGE_DIGITS_MAX = 1
/** Bytes of consecutive plain numbers below which searching for them may not pay. */
const PLAIN_BYTES_MIN = 64
/** Consecutive white space above which the answer cannot be a regular one. */
const SPACE_BYTES_MAX = 64

/** Returned when the code here cannot prove that the list is valid. */
const FAILED = -1

/** The bytes of the vectors and their readers, shared by all vectors of one answer. */
export class NumberBytes {
  readonly bytes: Buffer
  readonly window: ScanWindow
  #view: DataView | null = null

  constructor(bytes: Buffer) {
    this.bytes = bytes
    this.window = new ScanWindow(bytes)
  }

  /** A view to check the digits after a point, four at a time. */
  get view(): DataView {
    return (this.#view ??= viewOf(this.bytes))
  }
}

/**
 * Reads to the end of a JSON array of at least one number without converting the numbers. Numbers in the form of
 * embeddings are read with vector instructions, in rounds of 64 bytes; any other number is read separately, five times
 * as fast as by a parser, since no double is computed. The accepted arrays are valid JSON with finite numbers, also as
 * float32.
 * @param at after the opening bracket
 * @returns the place after the closing bracket, or -1
 */
export function endOfNumbers(list: NumberBytes, at: number): number {
  const { bytes } = list
  const fourEnd = bytes.length - 4
  let quick = at
  let gap = 1
  for (;;) {
    if (at >= quick) {
      const end = endOfPlain(list, at)
      if (bytes[end - 1] === CLOSE_LIST) return end
      // When few numbers are plain, the search for them costs more than it saves.
      gap = end - at < PLAIN_BYTES_MIN ? gap * 2 : 1
      at = end
      quick = at + gap
    }
    at = endOfWhole(bytes, at)
    if (at === FAILED) return FAILED
    let byte = bytes[at]
    if (byte === DOT) {
      const first = at + 1
      at = endOfFours(list.view, first, fourEnd)
      while (isDigit(bytes[at])) at++
      if (at === first) return FAILED
      byte = bytes[at]
    }
    if (byte !== COMMA) {
      at = endOfRest(bytes, at)
      if (at === FAILED) return FAILED
      if (bytes[at] === CLOSE_LIST) return at + 1
    }
    at++
  }
}

/**
 * @param at the beginning of a number, or white space before it
 * @returns the place after the comma of the last plain number, or after the closing bracket that follows a
 * plain number, or `at`
 */
function endOfPlain({ bytes, window }: NumberBytes, at: number): number {
  let end = window.endOfNumbers(at)
  // This is after a whole number; the window has checked all of it except the bracket: `.5]` or `55]`.
  if (bytes[end] === CLOSE_LIST && isDigit(bytes[end - 1])) {
    const byte = bytes[end - 2]
    if (byte === DOT || isDigit(byte)) return end + 1
  }
  while (end > at && bytes[end - 1] !== COMMA) end--
  return end
}

function viewOf({ buffer, byteOffset, length }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, length)
}

/** Skips space, sign and the digits before the point: almost always `0` or `-0`. */
function endOfWhole(bytes: Uint8Array, at: number): number {
  let byte = bytes[at]
  if (byte !== ZERO && byte !== MINUS) {
    at = endOfSpace(bytes, at)
    byte = bytes[at]
  }
  if (byte === MINUS) byte = bytes[++at]
  return byte === ZERO ? at + 1 : endOfSome(bytes, at, WHOLE_DIGITS_MAX)
}

/** Skips exponent and space up to the byte that ends the number. */
function endOfRest(bytes: Uint8Array, at: number): number {
  if (bytes[at] === LOWER_E || bytes[at] === UPPER_E) {
    at = endOfExponent(bytes, at + 1)
    if (at === FAILED) return FAILED
  }
  at = endOfSpace(bytes, at)
  return bytes[at] === COMMA || bytes[at] === CLOSE_LIST ? at : FAILED
}

/** Skips white space up to a limit; the caller then finds the rest instead of the expected byte, and refuses the list. */
export function endOfSpace(bytes: Uint8Array, at: number): number {
  const limit = at + SPACE_BYTES_MAX
  while (at < limit && isSpace(bytes[at])) at++
  return at
}

/** -1 when there is no digit, or more than `most`. */
function endOfSome(bytes: Uint8Array, at: number, most: number): number {
  const limit = at + most
  const first = at
  while (at < limit && isDigit(bytes[at])) at++
  return at === first || isDigit(bytes[at]) ? FAILED : at
}

function endOfExponent(bytes: Uint8Array, at: number): number {
  const sign = bytes[at]
  if (sign === MINUS) return endOfSome(bytes, at + 1, SMALL_DIGITS_MAX)
  return endOfSome(bytes, sign === PLUS ? at + 1 : at, LARGE_DIGITS_MAX)
}

/** The place after the last digit, or a place less than four before `fourEnd`. */
function endOfFours(view: DataView, at: number, fourEnd: number): number {
  while (at <= fourEnd) {
    const four = view.getInt32(at, true)
    // Digits are 0x30 to 0x39: their upper half is 3, and stays 3 with 6 added. All other bytes set bits in the result.
    const others = ((four ^ 0x30303030) & 0xf0f0f0f0) | (((four + 0x06060606) ^ 0x30303030) & 0xf0f0f0f0)
    if (others !== 0) return at + ((31 - Math.clz32(others & -others)) >> 3)
    at += 4
  }
  return at
}
