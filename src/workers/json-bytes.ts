/** Byte values and tests that the readers of JSON bytes share. */

export const QUOTE = 0x22
export const PLUS = 0x2b
export const COMMA = 0x2c
export const MINUS = 0x2d
export const DOT = 0x2e
export const ZERO = 0x30
export const COLON = 0x3a
export const UPPER_E = 0x45
export const OPEN_LIST = 0x5b
export const BACKSLASH = 0x5c
export const CLOSE_LIST = 0x5d
export const LOWER_E = 0x65
export const OPEN_OBJECT = 0x7b
export const CLOSE_OBJECT = 0x7d

const NINE = 0x39

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
