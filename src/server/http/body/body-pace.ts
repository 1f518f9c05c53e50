import { BODY_BYTES_PER_S_MIN, BODY_PACE_MS, BODY_STALL_MS } from '../../../schemas/limits/limits.ts'
import type { Timer, Timers } from '../timers.ts'

/**
 * Measures the pace of a body while it is read. Calls `slow` after BODY_STALL_MS without a byte, and after
 * BODY_PACE_MS with less than BODY_BYTES_PER_S_MIN, since the body holds memory and quota. Time in which the
 * front reads nothing does not count.
 */
export class BodyPace {
  readonly #timers: Pick<Timers, 'start'>
  readonly #slow: () => void
  #stall: Timer | null = null
  #window: Timer | null = null
  #receivedBytes = 0
  /** Received bytes at the start of the window. */
  #countedBytes = 0

  constructor(timers: Pick<Timers, 'start'>, slow: () => void) {
    this.#timers = timers
    this.#slow = slow
  }

  /**
   * More was read.
   * @param receivedBytes of the whole body so far
   */
  progress(receivedBytes: number): void {
    this.#receivedBytes = receivedBytes
    if (this.#window === null) this.#openWindow()
    this.#stall?.stop()
    this.#stall = this.#timers.start(BODY_STALL_MS, this.#slow)
  }

  /** Reading pauses until the next progress. */
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
