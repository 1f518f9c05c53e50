import type { AnswerBudget } from './answer-budget.ts'
import { assemble } from './assemble.ts'

/** Announced bodies above this are copied into place as they arrive instead of joined at the end. */
const PLACED_BYTES_MIN = 4 * 1024 * 1024

type Granted = (isGranted: boolean) => void

/** The body of one answer as it arrives, and what it holds of the front's budget. */
export class HeldBody {
  sizeBytes = 0
  readonly #budget: AnswerBudget
  readonly #isAnnounced: boolean
  readonly #place: Uint8Array | null
  #pieces: Uint8Array[] = []
  #heldBytes = 0
  #stopWaiting: (() => void) | null = null
  #answerWaiting: Granted | null = null

  /** @param announcedBytes -1 when the answer does not say its length */
  constructor(budget: AnswerBudget, announcedBytes: number) {
    this.#budget = budget
    this.#isAnnounced = announcedBytes >= 0
    this.#place = announcedBytes > PLACED_BYTES_MIN ? Buffer.allocUnsafeSlow(announcedBytes) : null
  }

  get isWaiting(): boolean {
    return this.#stopWaiting !== null
  }

  /**
   * Keeps a piece. False = the budget has no room for it now: read no more until `granted` is called.
   * The piece is kept all the same, since it is in memory already.
   */
  push(piece: Uint8Array, granted: Granted): boolean {
    if (this.#place === null) this.#pieces.push(piece)
    else this.#place.set(piece, this.sizeBytes)
    this.sizeBytes += piece.length
    return this.#isAnnounced || this.hold(piece.length, granted)
  }

  /**
   * Takes room of the budget. When that has none, `granted` is called once it has, or with false when the body is
   * dropped.
   */
  hold(bytes: number, granted: Granted): boolean {
    if (this.#heldBytes === 0 ? this.#budget.take(bytes) : this.#budget.grow(bytes)) {
      this.#heldBytes += bytes
      return true
    }
    this.#answerWaiting = granted
    this.#stopWaiting = this.#budget.wait(bytes, () => {
      this.#stopWaiting = null
      this.#heldBytes += bytes
      granted(true)
    })
    return false
  }

  join(): Uint8Array | Promise<Uint8Array> {
    return this.#place ?? assemble(this.#pieces, this.sizeBytes)
  }

  /** Hands over what it holds: the returned function gives it back, once. */
  handOver(): () => void {
    const budget = this.#budget
    let heldBytes = this.#heldBytes
    this.#heldBytes = 0
    return () => {
      if (heldBytes > 0) budget.give(heldBytes)
      heldBytes = 0
    }
  }

  /** Gives back what it holds and forgets the bytes. */
  drop(): void {
    if (this.#stopWaiting !== null) {
      this.#stopWaiting()
      this.#stopWaiting = null
      this.#answerWaiting?.(false)
    }
    if (this.#heldBytes > 0) this.#budget.give(this.#heldBytes)
    this.#heldBytes = 0
    this.#pieces = []
  }
}
