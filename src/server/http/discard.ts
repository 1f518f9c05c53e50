import { REFUSED_BODY_BYTES_MAX, REFUSED_BODY_MS, REFUSED_BODY_STALL_MS } from '../../schemas/limits.ts'
import type { Timer, Timers } from './timers.ts'

/**
 * Reads away the body of a request that is already refused, within bounds of bytes and time, so that a client which
 * sends first and reads later still gets its answer. Nothing of it is kept.
 */
export class Discard {
  readonly #timers: Pick<Timers, 'start'>
  readonly #over: () => void
  readonly #whole: Timer
  #stall: Timer
  #bytes = 0

  constructor(timers: Pick<Timers, 'start'>, over: () => void) {
    this.#timers = timers
    this.#over = over
    this.#whole = timers.start(REFUSED_BODY_MS, () => this.#finish())
    this.#stall = timers.start(REFUSED_BODY_STALL_MS, () => this.#finish())
  }

  chunk(bytes: number, isLast: boolean): void {
    this.#bytes += bytes
    if (isLast || this.#bytes > REFUSED_BODY_BYTES_MAX) return this.#finish()
    this.#stall.stop()
    this.#stall = this.#timers.start(REFUSED_BODY_STALL_MS, () => this.#finish())
  }

  stop(): void {
    this.#whole.stop()
    this.#stall.stop()
  }

  #finish(): void {
    this.stop()
    this.#over()
  }
}
