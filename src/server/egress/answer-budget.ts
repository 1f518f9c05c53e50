/** Share of the budget that only small answers may use, and what is small: a share of it too. Decision. */
const RESERVE_SHARE = 1 / 8
const SMALL_SHARE = 1 / 256

/**
 * Bytes of provider answers that one front holds at once. Design §4.
 * An answer that has begun may grow past those that wait to begin: it is the one that will end and give back. Small
 * answers, up to 1 MiB of 256, pass those that wait and have a reserve, so that no large one stops them.
 * When all that is held belongs to answers that wait for more, the last of them is refused: nobody else would end.
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

  /** Takes room for an answer that begins; false when there is none, or when others of its size wait for it already. */
  take(bytes: number): boolean {
    const isFirst = !this.#waiting.some((waiter) => this.#isSmall(waiter) || !this.#isSmall({ bytes, heldBytes: 0 }))
    return isFirst && this.grow(bytes, 0)
  }

  /** Takes more room for an answer that has some. */
  grow(bytes: number, heldBytes: number): boolean {
    const isSmall = this.#isSmall({ bytes, heldBytes })
    const most = isSmall ? this.#bytesMax : this.#bytesMax * (1 - RESERVE_SHARE)
    // What is larger than all that it may use goes alone.
    if (this.#heldBytes + bytes > most && this.#heldBytes > heldBytes) return false
    if (this.#heldBytes + bytes > this.#bytesMax) return false
    this.#heldBytes += bytes
    return true
  }

  /**
   * Waits for room, in order of asking.
   * @param wanted more bytes, and those that the answer has already
   * @param told whether it has them, once; false when it never could. It may be called before this returns.
   * @returns a function that stops waiting; harmless after `told`
   */
  wait(wanted: Wanted, told: Told): () => void {
    const waiter = { ...wanted, told }
    this.#waiting.push(waiter)
    this.#untie()
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

  #isSmall({ bytes, heldBytes }: Wanted): boolean {
    return heldBytes + bytes <= this.#bytesMax * SMALL_SHARE
  }

  /** In order; a large one that does not fit stops the large ones behind it, and no small one. */
  #grant(): void {
    let isBlocked = false
    for (const waiter of [...this.#waiting]) {
      const at = this.#waiting.indexOf(waiter)
      // A grant may end another answer, which then waits no more.
      if (at === -1 || (isBlocked && !this.#isSmall(waiter))) continue
      if (this.grow(waiter.bytes, waiter.heldBytes)) {
        this.#waiting.splice(at, 1)
        waiter.told(true)
      } else isBlocked = true
    }
    this.#untie()
  }

  /** While nobody is left who could give something back: whoever fits goes on, else the last one is refused. */
  #untie(): void {
    while (this.#waiting.length > 0 && this.#isTied) {
      const fitting = this.#waiting.find((waiter) => this.grow(waiter.bytes, waiter.heldBytes))
      const next = fitting ?? this.#waiting.findLast(({ heldBytes }) => heldBytes > 0) ?? this.#waiting.at(-1)
      if (next === undefined) return
      this.#waiting.splice(this.#waiting.indexOf(next), 1)
      next.told(fitting !== undefined)
    }
  }

  get #isTied(): boolean {
    return this.#waiting.reduce((bytes, { heldBytes }) => bytes + heldBytes, 0) === this.#heldBytes
  }
}

interface Wanted {
  readonly bytes: number
  readonly heldBytes: number
}

type Told = (isGranted: boolean) => void

interface Waiter extends Wanted {
  readonly told: Told
}
