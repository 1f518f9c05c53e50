/** Bytes of the first buffer; each further buffer has twice the size. */
const FIRST_BYTES = 1_024

/** Gathers small pieces in one buffer: an object for each piece would cost a hundred times its bytes. */
export class SmallPieces {
  #buffer: Uint8Array | null = null
  #length = 0

  get length(): number {
    return this.#length
  }

  /** Copies the bytes. */
  add(bytes: Uint8Array): void {
    const needed = this.#length + bytes.length
    if (this.#buffer === null || needed > this.#buffer.length) this.#grow(needed)
    this.#buffer?.set(bytes, this.#length)
    this.#length = needed
  }

  /** @returns all bytes added since the last call; the caller owns them */
  take(): Uint8Array {
    const bytes = this.#buffer?.subarray(0, this.#length) ?? new Uint8Array(0)
    this.clear()
    return bytes
  }

  clear(): void {
    this.#buffer = null
    this.#length = 0
  }

  #grow(needed: number): void {
    const grown = new Uint8Array(Math.max(needed, FIRST_BYTES, 2 * (this.#buffer?.length ?? 0)))
    if (this.#buffer !== null) grown.set(this.#buffer.subarray(0, this.#length))
    this.#buffer = grown
  }
}
