import { UPSTREAM_CHUNK_EXTENSION_BYTES_MAX } from '../../../schemas/models/provider-limits.ts'
import { INVALID, MORE, TOKEN } from './response-head.ts'

const LF = 0x0a
const CR = 0x0d
const SEMICOLON = 0x3b
const EQUALS = 0x3d
const QUOTE = 0x22
const BACKSLASH = 0x5c
const TAB = 0x09
const SPACE = 0x20
const DELETE = 0x7f

/** Hexadecimal digits of a size: all such numbers are exact. */
const DIGITS_MAX = 13

const DIGITS = 0
/** Behind a semicolon or an equals sign, where a token has to follow. */
const TOKEN_BEGINS = 1
const IN_TOKEN = 2
const ENDS = 3
const IN_QUOTES = 4
/** Behind a backslash in quotes. */
const QUOTED_PAIR = 5
/** Behind the second quote. */
const BEHIND_QUOTES = 6

/** The line before the bytes of a chunk. RFC 9112 §7.1. Extensions are dropped. */
export class ChunkSize {
  bytes = 0
  #state = DIGITS
  #digits = 0
  #extensionBytes = 0
  #hasValue = false

  begin(): void {
    this.bytes = 0
    this.#state = DIGITS
    this.#digits = 0
    this.#extensionBytes = 0
  }

  /** @returns the position behind the line, MORE or INVALID */
  read(bytes: Buffer, from: number, to: number): number {
    for (let at = from; at < to; at++) {
      const byte = bytes[at] ?? 0
      if (this.#state === ENDS) return byte === LF ? at + 1 : INVALID
      if (this.#state === DIGITS ? !this.#digit(byte) : !this.#extension(byte)) return INVALID
    }
    return MORE
  }

  #digit(byte: number): boolean {
    const value = hexOf(byte)
    if (value < 0) return this.#digits > 0 && this.#behindToken(byte)
    this.bytes = 16 * this.bytes + value
    return ++this.#digits <= DIGITS_MAX
  }

  #extension(byte: number): boolean {
    if (++this.#extensionBytes > UPSTREAM_CHUNK_EXTENSION_BYTES_MAX) return false
    if (this.#state >= IN_QUOTES) return this.#quoted(byte)
    if (TOKEN[byte] === 1) {
      this.#state = IN_TOKEN
      return true
    }
    if (this.#state === TOKEN_BEGINS) {
      if (byte !== QUOTE || !this.#hasValue) return false
      this.#state = IN_QUOTES
      return true
    }
    if (byte !== EQUALS) return this.#behindToken(byte)
    if (this.#hasValue) return false
    this.#hasValue = true
    this.#state = TOKEN_BEGINS
    return true
  }

  /** A value in quotes. RFC 9110 §5.6.4. */
  #quoted(byte: number): boolean {
    if (this.#state === BEHIND_QUOTES) return this.#behindToken(byte)
    if (byte === DELETE || (byte < SPACE && byte !== TAB)) return false
    if (this.#state === QUOTED_PAIR) this.#state = IN_QUOTES
    else if (byte === QUOTE) this.#state = BEHIND_QUOTES
    else if (byte === BACKSLASH) this.#state = QUOTED_PAIR
    return true
  }

  #behindToken(byte: number): boolean {
    this.#hasValue = false
    if (byte === CR) this.#state = ENDS
    else if (byte === SEMICOLON) this.#state = TOKEN_BEGINS
    return byte === CR || byte === SEMICOLON
  }
}

/** -1 for what is no digit. */
function hexOf(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30
  const letter = byte | 0x20
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1
}
