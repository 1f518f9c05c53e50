import { BODY_BYTES_PER_S_MIN, BODY_PACE_MS, BODY_STALL_MS } from '../../../schemas/limits/limits.ts'
import type { Timer, Timers } from '../timers.ts'

/**
 * Looks how fast a body comes while we read: `slow` is told after BODY_STALL_MS without a byte, and after
 * BODY_PACE_MS with less than BODY_BYTES_PER_S_MIN, since the body holds places and quota. Time in which we
 * read nothing is not the client's.
 */
export class BodyPace {
  readonly #timers: Pick<Timers, 'start'>
  readonly #slow: () => void
  #stall: Timer | null = null
  #window: Timer | null = null
  #receivedBytes = 0
  /** Of them, when the window began. */
  #countedBytes = 0

  constructor(timers: Pick<Timers, 'start'>, slow: () => void) {
    this.#timers = timers
    this.#slow = slow
  }

  /** More is read. @param receivedBytes of the whole body by now */
  progress(receivedBytes: number): void {
    this.#receivedBytes = receivedBytes
    if (this.#window === null) this.#openWindow()
    this.#stall?.stop()
    this.#stall = this.#timers.start(BODY_STALL_MS, this.#slow)
  }

  /** Nothing is read until the next progress. */
  rest(): void {
    this.#stall?.stop()
    this.#window?.stop()
    this.#stall = this.#window = null
  }

  #openWindow(): void {
    this.#countedBytes = this.#receivedBytes
    this.#window = this.#timers.start(BODY_PACE_MS, () => {
      const isSlow = this.#receivedBytes - this.#countedBytes < (BODY_BYTES_PER_S_MIN * BODY_PACE_MS) / 1_000
      if (isSlow) this.#slow()
      else this.#openWindow()
    })
  }
}
