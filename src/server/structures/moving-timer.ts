/** Milliseconds that a timer of Node's takes at most: it fires at once when its time is larger. */
export const TIMER_MS_MAX = 2 ** 31 - 1

/**
 * A timer whose end is put off again and again, as by each event of a stream: that costs a reading of the
 * clock instead of a timer of Node's, which ends at its first time and then runs for what is left. It does
 * not keep the process alive.
 */
export class MovingTimer {
  readonly #fire: () => void
  readonly #now: () => number
  #timer: NodeJS.Timeout | undefined
  /** When `#timer` ends; Infinity: it does not run. */
  #wakesAt = Infinity
  /** Infinity: stopped. */
  #endsAt = Infinity

  /** @param now monotonic milliseconds */
  constructor(fire: () => void, now: () => number = () => performance.now()) {
    this.#fire = fire
    this.#now = now
  }

  /** Ends `ms` from now, and not when it was to end before. */
  start(ms: number): void {
    const now = this.#now()
    this.#endsAt = now + ms
    if (this.#endsAt < this.#wakesAt) this.#sleep(now)
  }

  stop(): void {
    this.#endsAt = Infinity
  }

  /** Milliseconds until its end; Infinity: it is stopped. */
  get leftMs(): number {
    return Math.max(0, this.#endsAt - this.#now())
  }

  close(): void {
    this.stop()
    this.#wakesAt = Infinity
    clearTimeout(this.#timer)
  }

  #sleep(now: number): void {
    clearTimeout(this.#timer)
    const ms = Math.min(this.#endsAt - now, TIMER_MS_MAX)
    this.#wakesAt = now + ms
    this.#timer = setTimeout(this.#wake, ms).unref()
  }

  readonly #wake = (): void => {
    this.#wakesAt = Infinity
    if (this.#endsAt === Infinity) return
    const now = this.#now()
    if (now < this.#endsAt) return this.#sleep(now)
    this.stop()
    this.#fire()
  }
}
