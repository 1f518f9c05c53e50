/**
 * Bytes of provider answers that one front holds at once. Design §4.
 * An answer that has begun may grow past those that wait to begin: it is the one that will end and give back.
 */
export class AnswerBudget {
  readonly #bytesMax: number
  readonly #waiting: Waiter[] = []
  #heldBytes = 0

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  get heldBytes(): number {
    return this.#heldBytes
  }

  /** Takes room for an answer that begins; false when there is none, or when others wait for it already. */
  take(bytes: number): boolean {
    return this.#waiting.length === 0 && this.grow(bytes)
  }

  /** Takes more room for an answer that has some. */
  grow(bytes: number): boolean {
    if (this.#heldBytes + bytes > this.#bytesMax) return false
    this.#heldBytes += bytes
    return true
  }

  /**
   * Waits for room, in order of asking.
   * @returns a function that stops waiting; harmless after the grant
   */
  wait(bytes: number, granted: () => void): () => void {
    const waiter = { bytes, granted }
    this.#waiting.push(waiter)
    return () => {
      const at = this.#waiting.indexOf(waiter)
      if (at === -1) return
      this.#waiting.splice(at, 1)
      // The one that left may have stood before others that fit.
      this.#grant()
    }
  }

  give(bytes: number): void {
    this.#heldBytes -= bytes
    if (this.#waiting.length > 0) this.#grant()
  }

  #grant(): void {
    for (;;) {
      const first = this.#waiting[0]
      if (first === undefined || !this.grow(first.bytes)) return
      this.#waiting.shift()
      first.granted()
    }
  }
}

interface Waiter {
  readonly bytes: number
  readonly granted: () => void
}
