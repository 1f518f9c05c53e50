import { isUtf8 } from 'node:buffer'

/**
 * Checks strict UTF-8 without NUL, over a stream of chunks: no overlong forms, no surrogates, nothing above
 * U+10FFFF, and no sequence that the end cuts off. Node's vectorized check does the work; this class handles
 * sequences across chunks.
 */
export class Utf8Check {
  fault: 'nul' | 'invalid' | null = null
  /** A sequence that the last chunk began and did not end. */
  readonly #cut = new Uint8Array(SEQUENCE_BYTES_MAX)
  #cutLength = 0

  /** False: the text is not valid, and no further byte can change that. */
  push(chunk: Uint8Array): boolean {
    if (this.fault !== null) return false
    // `indexOf` of a plain Uint8Array compares byte by byte.
    if (Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length).indexOf(0) >= 0) return this.#fail('nul')
    const start = this.#cutLength === 0 ? 0 : this.#completeCut(chunk)
    if (start < 0) return this.#fail('invalid')
    const end = start + wholeLength(chunk.subarray(start))
    if (!isUtf8(chunk.subarray(start, end))) return this.#fail('invalid')
    if (end < chunk.length) {
      this.#cut.set(chunk.subarray(end))
      this.#cutLength = chunk.length - end
    }
    return true
  }

  /** Whether all of the text was valid. */
  finish(): boolean {
    if (this.fault === null && this.#cutLength > 0) this.#fail('invalid')
    return this.fault === null
  }

  /** @returns where the chunk continues after the completed sequence, or -1 when that is invalid */
  #completeCut(chunk: Uint8Array): number {
    const missing = sequenceBytes(this.#cut[0] ?? 0) - this.#cutLength
    const taken = chunk.subarray(0, missing)
    this.#cut.set(taken, this.#cutLength)
    this.#cutLength += taken.length
    if (taken.length < missing) return chunk.length
    const isValid = isUtf8(this.#cut.subarray(0, this.#cutLength))
    this.#cutLength = 0
    return isValid ? missing : -1
  }

  #fail(fault: 'nul' | 'invalid'): false {
    this.fault = fault
    return false
  }
}

const SEQUENCE_BYTES_MAX = 4

/** Bytes of the sequence that a byte begins; any other byte counts as one and is checked with the rest. */
function sequenceBytes(lead: number): number {
  if (lead >= 0xf0 && lead < 0xf8) return 4
  if (lead >= 0xe0) return lead < 0xf0 ? 3 : 1
  return lead >= 0xc0 ? 2 : 1
}

/** Length of the chunk without an incomplete sequence at its end. */
function wholeLength(chunk: Uint8Array): number {
  for (let back = 1; back < SEQUENCE_BYTES_MAX && back <= chunk.length; back++) {
    const byte = chunk[chunk.length - back] ?? 0
    if (byte < 0x80) return chunk.length
    if (byte >= 0xc0) return sequenceBytes(byte) > back ? chunk.length - back : chunk.length
  }
  return chunk.length
}
