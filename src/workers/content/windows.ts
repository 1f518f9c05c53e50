/** The last bytes of a stream, at most `size` of them. */
export class TailWindow {
  readonly #size: number
  #bytes: Uint8Array
  #length = 0

  constructor(size: number) {
    this.#size = size
    this.#bytes = new Uint8Array(Math.min(2 * size, 256))
  }

  push(chunk: Uint8Array): void {
    const kept = chunk.length > this.#size ? chunk.subarray(chunk.length - this.#size) : chunk
    // All earlier bytes leave the window, so none has to be moved.
    if (kept.length === this.#size) this.#length = 0
    if (this.#length + kept.length > this.#bytes.length) this.#grow(this.#length + kept.length)
    if (this.#length + kept.length > this.#bytes.length) {
      const stay = Math.min(this.#length, this.#size)
      this.#bytes.copyWithin(0, this.#length - stay, this.#length)
      this.#length = stay
    }
    this.#bytes.set(kept, this.#length)
    this.#length += kept.length
  }

  /** Grows to twice the size of the window: bytes are then moved once for every `size` bytes instead of with each small chunk. */
  #grow(length: number): void {
    const most = 2 * this.#size
    if (this.#bytes.length === most) return
    const grown = new Uint8Array(Math.min(most, Math.max(length, 2 * this.#bytes.length)))
    grown.set(this.#bytes.subarray(0, this.#length))
    this.#bytes = grown
  }

  /** One character for each byte. */
  latin1(): string {
    const start = Math.max(0, this.#length - this.#size)
    return Buffer.from(this.#bytes.buffer, start, this.#length - start).toString('latin1')
  }
}

/** The first bytes of a stream, at most `size` of them. */
export class HeadWindow {
  readonly #size: number
  #bytes: Uint8Array
  #length = 0

  constructor(size: number) {
    this.#size = size
    this.#bytes = new Uint8Array(Math.min(size, 256))
  }

  push(chunk: Uint8Array): void {
    const length = Math.min(this.#size, this.#length + chunk.length)
    if (length === this.#length) return
    if (length > this.#bytes.length) {
      const grown = new Uint8Array(Math.min(this.#size, Math.max(length, 2 * this.#bytes.length)))
      grown.set(this.#bytes)
      this.#bytes = grown
    }
    this.#bytes.set(chunk.subarray(0, length - this.#length), this.#length)
    this.#length = length
  }

  clear(): void {
    this.#length = 0
  }

  get bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.#length)
  }

  get isFull(): boolean {
    return this.#length === this.#size
  }

  latin1(): string {
    return Buffer.from(this.#bytes.buffer, 0, this.#length).toString('latin1')
  }
}
