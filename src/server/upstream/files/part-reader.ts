import { fail, ok, type Outcome } from '../../../schemas/failures.ts'
import type { ByteReader } from '../../ports/byte-streams.ts'

/** A part of another reader's bytes: skips a number of bytes, then gives out exactly the requested number. */
export class PartReader implements ByteReader {
  readonly #source: ByteReader
  #skipBytes: number
  #missingBytes: number

  constructor(source: ByteReader, skipBytes: number, partBytes: number) {
    this.#source = source
    this.#skipBytes = skipBytes
    this.#missingBytes = partBytes
  }

  /** Failures: those of the source; upstream_invalid when the source ends early. */
  async next(): Promise<Outcome<Uint8Array | null>> {
    while (this.#missingBytes > 0) {
      const next = await this.#source.next()
      if (!next.ok) return next
      if (next.value === null) return fail('upstream_invalid', { cause: new Error('the file ended early') })
      const piece = next.value.subarray(this.#skipBytes, this.#skipBytes + this.#missingBytes)
      this.#skipBytes = Math.max(0, this.#skipBytes - next.value.length)
      this.#missingBytes -= piece.length
      if (piece.length > 0) return ok(piece)
    }
    return ok(null)
  }

  close(): void {
    this.#source.close()
  }
}
