import type { SpliceSink } from '../../../../dialects/walk/splices.ts'

/** Bytes that are kept for the next read; most reads give less. */
const KEPT_BYTES = 64 * 1_024
/** Bytes of a piece for which a call of `copy` costs more than a loop. */
const SHORT_BYTES = 64
/** Bytes in UTF-8 of a UTF-16 unit, at most. */
const UNIT_BYTES_MAX = 3

const NO_BYTES = Buffer.alloc(0)

/** Gathers the events of one read, and gives them in one piece. */
export class EventBuffer implements SpliceSink {
  /** The bytes that `bytes` copies from. */
  source: Buffer = NO_BYTES
  #bytes: Buffer = Buffer.allocUnsafe(KEPT_BYTES)
  #length = 0

  bytes(from: number, to: number): void {
    this.#makeRoom(to - from)
    const { source } = this
    const target = this.#bytes
    if (to - from > SHORT_BYTES) source.copy(target, this.#length, from, to)
    else for (let at = from, put = this.#length; at < to; at++, put++) target[put] = source[at] ?? 0
    this.#length += to - from
  }

  text(text: string): void {
    this.#makeRoom(text.length * UNIT_BYTES_MAX)
    this.#length += this.#bytes.write(text, this.#length)
  }

  whole(bytes: Buffer): void {
    this.#makeRoom(bytes.length)
    bytes.copy(this.#bytes, this.#length)
    this.#length += bytes.length
  }

  /** The end of an event. */
  lineEnds(): void {
    this.#makeRoom(2)
    this.#bytes[this.#length++] = 0x0a
    this.#bytes[this.#length++] = 0x0a
  }

  clear(): void {
    this.source = NO_BYTES
    this.#length = 0
  }

  /** Everything so far, in memory that is used again as soon as other bytes are gathered; null: nothing. */
  lend(): Buffer | null {
    const lent = this.#length === 0 ? null : this.#bytes.subarray(0, this.#length)
    this.clear()
    if (this.#bytes.length > KEPT_BYTES) this.#bytes = Buffer.allocUnsafe(KEPT_BYTES)
    return lent
  }

  /** Everything so far, in memory of its own; null: nothing. */
  take(): Buffer | null {
    const isOwn = this.#bytes.length > KEPT_BYTES
    const lent = this.lend()
    return lent === null || isOwn ? lent : Buffer.from(lent)
  }

  #makeRoom(more: number): void {
    const wanted = this.#length + more
    if (wanted <= this.#bytes.length) return
    const made = Buffer.allocUnsafe(Math.max(wanted, this.#bytes.length * 2))
    this.#bytes.copy(made, 0, 0, this.#length)
    this.#bytes = made
  }
}
