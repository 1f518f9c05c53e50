const FIRST_BYTES = 1_024

/**
 * Bytes that come in pieces. The memory doubles, so that pieces of one byte each cost linear time and hold no
 * object each.
 */
export class Gathered {
  #bytes: Buffer | null = null
  #length = 0

  get length(): number {
    return this.#length
  }

  /** Bytes of memory that the pieces take. */
  get capacity(): number {
    return this.#bytes?.length ?? 0
  }

  /** Bytes `[from, to)` of the piece are copied. */
  add(piece: Buffer, from: number, to: number): void {
    const bytes = this.#withRoom(to - from)
    piece.copy(bytes, this.#length, from, to)
    this.#length += to - from
  }

  addByte(byte: number): void {
    this.#withRoom(1)[this.#length++] = byte
  }

  /** All bytes so far, without a copy; the next piece begins anew. */
  take(): Buffer {
    const taken = (this.#bytes ?? Buffer.alloc(0)).subarray(0, this.#length)
    this.clear()
    return taken
  }

  /** The bytes so far; valid until the next call. */
  peek(): Buffer {
    return (this.#bytes ?? Buffer.alloc(0)).subarray(0, this.#length)
  }

  clear(): void {
    this.#bytes = null
    this.#length = 0
  }

  #withRoom(more: number): Buffer {
    const wanted = this.#length + more
    const before = this.#bytes
    if (before !== null && wanted <= before.length) return before
    // A part of Node's pool would keep 8 KiB for as long as the rest does not come.
    const made = Buffer.allocUnsafeSlow(Math.max(FIRST_BYTES, wanted, (before?.length ?? 0) * 2))
    before?.copy(made, 0, 0, this.#length)
    this.#bytes = made
    return made
  }
}
