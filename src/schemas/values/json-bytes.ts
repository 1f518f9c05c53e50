/** Byte values and tests that the readers of JSON bytes share. */

export const SPACE = 0x20
export const QUOTE = 0x22
export const PLUS = 0x2b
export const COMMA = 0x2c
export const MINUS = 0x2d
export const DOT = 0x2e
export const ZERO = 0x30
const SEVEN = 0x37
export const NINE = 0x39
export const COLON = 0x3a
export const UPPER_E = 0x45
export const OPEN_LIST = 0x5b
export const BACKSLASH = 0x5c
export const CLOSE_LIST = 0x5d
const LOWER_D = 0x64
export const LOWER_E = 0x65
export const LOWER_N = 0x6e
export const LOWER_U = 0x75
export const OPEN_OBJECT = 0x7b
export const CLOSE_OBJECT = 0x7d

/** The bytes are not JSON. */
export const WRONG = -1

/** Letters after a backslash, apart from the `u` of a code unit. */
export const ESCAPED: ReadonlySet<number> = new Set([...'"\\/bfnrt'].map((letter) => letter.charCodeAt(0)))

/** Bytes `[start, end)` of one value. */
export interface Span {
  readonly start: number
  readonly end: number
}

export function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09
}

export function isDigit(byte: number | undefined): byte is number {
  return byte !== undefined && byte >= ZERO && byte <= NINE
}

/** Whether the bytes at this place are the wanted ones. */
export function isAt(bytes: Uint8Array, at: number, wanted: Uint8Array): boolean {
  for (let nth = 0; nth < wanted.length; nth++) if (bytes[at + nth] !== wanted[nth]) return false
  return true
}

/** @returns the first offset from `at` that is not white space */
export function endOfSpace(bytes: Uint8Array, at: number): number {
  let byte = bytes[at]
  while (byte === SPACE || byte === 0x0a || byte === 0x0d || byte === 0x09) byte = bytes[++at]
  return at
}

/** @returns the first offset from `at` that is not a digit */
export function endOfDigits(bytes: Uint8Array, at: number): number {
  while (isDigit(bytes[at])) at++
  return at
}

/** Bytes after an escape that are searched one by one; a call of `indexOf` costs as much as this. */
const NEAR_ESCAPE_BYTES = 64

/** Bytes that the escapes of a valid JSON text take beyond the UTF-8 of their characters. */
export function escapedBytes(bytes: Uint8Array): number {
  let escaped = 0
  let at = bytes.indexOf(BACKSLASH)
  while (at !== -1) {
    if (bytes[at + 1] === LOWER_U) {
      escaped += 6 - utf8Bytes(bytes, at + 2)
      at += 6
    } else {
      escaped++
      at += 2
    }
    const near = Math.min(at + NEAR_ESCAPE_BYTES, bytes.length)
    while (at < near && bytes[at] !== BACKSLASH) at++
    if (bytes[at] !== BACKSLASH) at = bytes.indexOf(BACKSLASH, at)
  }
  return escaped
}

/**
 * UTF-8 bytes of the UTF-16 unit whose digits begin at `at`. The first digits suffice: half of a surrogate
 * pair counts as two of the pair's four bytes.
 */
function utf8Bytes(bytes: Uint8Array, at: number): number {
  const first = bytes[at] ?? 0
  const second = bytes[at + 1] ?? 0
  if (first === ZERO && second === ZERO) return (bytes[at + 2] ?? 0) <= SEVEN ? 1 : 2
  if (first === ZERO) return second <= SEVEN ? 2 : 3
  return (first | 0x20) === LOWER_D && second > SEVEN ? 2 : 3
}

/** The value of four hexadecimal digits, or WRONG. */
export function hexOf(bytes: Uint8Array, at: number): number {
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

/** Whether none of four bytes is a quote, a backslash or a control character; the calculation sets the highest bit of each such byte. */
export function isPlain(four: number): boolean {
  const quotes = four ^ 0x22222222
  const slashes = four ^ 0x5c5c5c5c
  const found =
    ((quotes - 0x01010101) & ~quotes) | ((slashes - 0x01010101) & ~slashes) | ((four - 0x20202020) & ~four)
  return (found & 0x80808080) === 0
}

/** Bytes of all pieces. */
export function bytesOf(pieces: readonly Uint8Array[]): number {
  return pieces.reduce((sum, { length }) => sum + length, 0)
}

/** Joins the pieces in separate memory, which can be transferred to another thread and keeps no other memory alive. */
export function joined(pieces: readonly Uint8Array[]): Buffer {
  const whole = Buffer.allocUnsafeSlow(bytesOf(pieces))
  let at = 0
  for (const piece of pieces) {
    whole.set(piece, at)
    at += piece.length
  }
  return whole
}
