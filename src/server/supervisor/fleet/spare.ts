import type { Log } from '../../ports/observe.ts'
import type { Child } from './child.ts'

/** Exits in a row before `ready` that make a crash loop. Design §2. */
export const CRASH_LOOP_EXITS = 5

export interface SpareOptions<C> {
  readonly fork: () => C
  readonly log: Log
  /** Milliseconds from the start of a front until another one is loaded ahead; 0: at once. */
  readonly delayMs: number
  readonly isEnding: () => boolean
}

/** A front that is loaded and not started: it takes the place of the next front that dies or is replaced. */
export class SpareFront<C extends Pick<Child, 'pid' | 'ended' | 'isGone'>> {
  readonly #options: SpareOptions<C>
  #spare: C | null = null
  #timer: NodeJS.Timeout | null = null
  /** Spares lost since a front last came up well. */
  #lost = 0

  constructor(options: SpareOptions<C>) {
    this.#options = options
  }

  take(): C | null {
    const spare = this.#spare
    if (spare === null || spare.isGone) return null
    this.#spare = null
    return spare
  }

  /** Reports that a front has come up well. */
  proved(): void {
    this.#lost = 0
  }

  /**
   * Loads a spare. Loading is most of the time that a front needs to come back, so that one is always loaded
   * ahead: later than the fronts themselves, whose first calls would share the cores with it.
   */
  keep(delayMsMax = Number.POSITIVE_INFINITY): void {
    if (this.#spare !== null || this.#timer !== null) return
    const delayMs = Math.min(this.#options.delayMs, delayMsMax)
    if (delayMs === 0) return this.#load()
    this.#timer = setTimeout(() => {
      this.#timer = null
      this.#load()
    }, delayMs).unref()
  }

  #load(): void {
    const { fork, log, isEnding } = this.#options
    if (this.#spare !== null || isEnding() || this.#lost >= CRASH_LOOP_EXITS) return
    const spare = fork()
    this.#spare = spare
    void spare.ended.then((how) => {
      if (this.#spare !== spare) return
      this.#spare = null
      if (isEnding()) return
      this.#lost++
      // After the last loss the next front that comes up well loads a spare again.
      const isLast = this.#lost >= CRASH_LOOP_EXITS
      log.warn('spare_lost', { pid: spare.pid, how, losses: this.#lost, isLast })
      this.#load()
    })
  }
}
