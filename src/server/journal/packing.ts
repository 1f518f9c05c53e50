/** Fields of records: texts with their length, ids as their bytes, numbers as doubles. */

/** First byte of a long text; up to 251 the first byte is the text's length in UTF-8. */
const LONG = 252
/** First byte of a UUID. */
const UUID = 253
/** First byte of a hash. */
const HASH = 254
/** First byte of a hash with a letter before it, as in accounts of keys. */
const LETTERED_HASH = 255
/** Bytes of the longest text. Longer texts are cut: ids are short, and names of models were checked earlier. */
const TEXT_BYTES_MAX = 4_096

const IS_UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
const IS_HASH = /^[a-z]?[0-9a-f]{64}$/
const UUID_BYTES = 16
const HASH_BYTES = 32

/** @returns the bytes of a text in a record */
export function packed(text: string): Uint8Array {
  if (IS_UUID.test(text)) return tagged(UUID, Buffer.from(text.replaceAll('-', ''), 'hex'))
  if (IS_HASH.test(text)) {
    return text.length === 2 * HASH_BYTES
      ? tagged(HASH, Buffer.from(text, 'hex'))
      : tagged(
          LETTERED_HASH,
          Buffer.concat([Buffer.from(text[0] ?? '', 'latin1'), Buffer.from(text.slice(1), 'hex')]),
        )
  }
  const bytes = Buffer.from(text).subarray(0, TEXT_BYTES_MAX)
  if (bytes.length < LONG) return tagged(bytes.length, bytes)
  return tagged(LONG, Buffer.concat([Uint8Array.of(bytes.length >> 8, bytes.length & 255), bytes]))
}

/** Reads fields one after the other. Throws `RangeError` after the end and for an invalid number: the caller treats the record as damaged. */
export class Unpacker {
  readonly #bytes: Buffer
  #at = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length
  }

  byte(): number {
    return this.#bytes.readUInt8(this.#at++)
  }

  number(): number {
    const value = this.#bytes.readDoubleLE(this.#at)
    this.#at += 8
    if (!Number.isFinite(value)) throw new RangeError('not a number')
    return value
  }

  /** Reads nano-USD, tokens or milliseconds: the ledger accepts no negative and no fractional numbers. */
  count(): number {
    const value = this.number()
    if (!Number.isSafeInteger(value) || value < 0) throw new RangeError('not a valid count')
    return value
  }

  text(): string {
    const first = this.byte()
    if (first === UUID) return dashed(this.#take(UUID_BYTES).toString('hex'))
    if (first === HASH) return this.#take(HASH_BYTES).toString('hex')
    if (first === LETTERED_HASH)
      return this.#take(1).toString('latin1') + this.#take(HASH_BYTES).toString('hex')
    return this.#take(first === LONG ? this.byte() * 256 + this.byte() : first).toString('utf8')
  }

  #take(length: number): Buffer {
    const end = this.#at + length
    if (end > this.#bytes.length) throw new RangeError('a text extends beyond the end of its record')
    const taken = this.#bytes.subarray(this.#at, end)
    this.#at = end
    return taken
  }
}

function tagged(tag: number, bytes: Uint8Array): Uint8Array {
  const all = new Uint8Array(1 + bytes.length)
  all[0] = tag
  all.set(bytes, 1)
  return all
}

function dashed(hex: string): string {
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}
