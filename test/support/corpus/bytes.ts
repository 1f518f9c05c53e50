/**
 * Building blocks of the corpus of uploads: bytes put together by hand, from nothing but the formats'
 * definitions.
 */

export type Part = string | number | readonly number[] | Uint8Array

/** Strings are taken as one byte a character. */
export function bytes(...parts: readonly Part[]): Buffer {
  return Buffer.concat(
    parts.map((part) => {
      if (typeof part === 'string') return Buffer.from(part, 'latin1')
      return typeof part === 'number' ? Buffer.from([part]) : Buffer.from(part)
    }),
  )
}

export function utf8(text: string): Buffer {
  return Buffer.from(text, 'utf8')
}

export function u16le(value: number): Buffer {
  return bytes(value & 0xff, (value >>> 8) & 0xff)
}

export function u32le(value: number): Buffer {
  const room = Buffer.alloc(4)
  room.writeUInt32LE(value >>> 0)
  return room
}

export function u64le(value: number): Buffer {
  return bytes(u32le(value % 2 ** 32), u32le(Math.floor(value / 2 ** 32)))
}

export function u16be(value: number): Buffer {
  return u16le(value).reverse()
}

export function u32be(value: number): Buffer {
  return u32le(value).reverse()
}

/** Bytes without a pattern, the same for the same seed: a 32-bit xorshift. */
export function noise(length: number, seed = 1): Buffer {
  const room = Buffer.alloc(length)
  let state = seed | 1
  for (let at = 0; at < length; at++) {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    room[at] = state & 0xff
  }
  return room
}

/** What the contract says of a file: a MIME type, or a pattern that the name of what was found matches. */
export interface CorpusFile {
  readonly name: string
  /** Made again for each use: some are large. */
  readonly make: () => Uint8Array
  readonly expected: string | RegExp
}

export function file(
  name: string,
  expected: string | RegExp,
  make: (() => Uint8Array) | Uint8Array,
): CorpusFile {
  return { name, expected, make: typeof make === 'function' ? make : () => make }
}
