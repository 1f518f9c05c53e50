import {
  REFUSED_BODY_MS,
  REFUSED_BODY_STALL_MS,
  REFUSED_TINY_CHUNKS_MAX,
} from '../../../schemas/limits/limits.ts'
import type { Timer, Timers } from '../timers.ts'
import { ChunkSizes } from './body.ts'

/**
 * Reads and drops the body of a refused request, within bounds of bytes and time, so that a client which
 * sends first and reads later still gets its answer.
 */
export class Discard {
  readonly #timers: Pick<Timers, 'start'>
  readonly #over: () => void
  readonly #whole: Timer
  readonly #chunks = new ChunkSizes(REFUSED_TINY_CHUNKS_MAX)
  #stall: Timer
  #bytesLeft: number
  #hasCome = false

  /** @param over called once, when enough was dropped */
  constructor(timers: Pick<Timers, 'start'>, bytesMax: number, over: () => void) {
    this.#bytesLeft = bytesMax
    this.#timers = timers
    this.#over = over
    this.#whole = timers.start(REFUSED_BODY_MS, () => this.#finish())
    this.#stall = this.#watch()
  }

  chunk(bytes: number, isLast: boolean): void {
    this.#bytesLeft -= bytes
    this.#hasCome = true
    if (isLast || this.#bytesLeft < 0 || !this.#chunks.add(bytes)) this.#finish()
  }

  stop(): void {
    this.#whole.stop()
    this.#stall.stop()
  }

  /** One timer a turn instead of one a chunk: the stall is noticed one turn late at most. */
  #watch(): Timer {
    return this.#timers.start(REFUSED_BODY_STALL_MS, () => {
      if (!this.#hasCome) return this.#finish()
      this.#hasCome = false
      this.#stall = this.#watch()
    })
  }

  #finish(): void {
    this.stop()
    this.#over()
  }
}
