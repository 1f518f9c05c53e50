/** The longest timer that Node supports, in milliseconds: Node fires a longer one at once. */
export const TIMER_MS_MAX = 2 ** 31 - 1

/**
 * A timer whose end is postponed again and again, for example by each event of a stream. Postponing costs one reading
 * of the clock and no new Node timer: Node's timer fires at its original time and then runs for the time that is left.
 * It does not keep the process alive.
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

  /** Ends `ms` from now and drops the earlier end. */
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
