import { setTimeout as sleepFor } from 'node:timers/promises'

export interface BackoffOptions {
  /** Monotonic milliseconds. */
  readonly now: () => number
  /** 0 to 1. */
  readonly random: () => number
}

const FIRST_MS = 15
const MOST_MS = 1_000
const GROWTH = 1.5

/** Waits between reads of a row that another process is about to change: short at first, then longer, with random length. */
export class Backoff {
  readonly #options: BackoffOptions
  readonly #beganAt: number
  #nth = 0

  constructor(options: BackoffOptions) {
    this.#options = options
    this.#beganAt = options.now()
  }

  /** @returns false at once when more than `mostMs` have passed since the first wait, or the signal has ended */
  async wait(mostMs: number, signal?: AbortSignal): Promise<boolean> {
    if (signal?.aborted === true || this.#options.now() - this.#beganAt >= mostMs) return false
    const ms = Math.min(MOST_MS, FIRST_MS * GROWTH ** this.#nth++) * (0.5 + this.#options.random())
    await sleepFor(ms, undefined, signal === undefined ? {} : { signal }).catch(() => undefined)
    return true
  }
}
