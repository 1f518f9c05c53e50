import { SPARE_REST_MS } from '../../../schemas/limits/limits.ts'
import type { Log } from '../../ports/observe.ts'
import type { Child } from './child.ts'
import { SILENCE_LOOK_MS } from './silence.ts'

/** Consecutive exits before `ready` that count as a crash loop. Design §2. */
export const CRASH_LOOP_EXITS = 5

export interface SpareOptions<C> {
  readonly fork: () => C
  readonly log: Log
  /** Milliseconds from the first calls until a spare front is preloaded; 0: at once. */
  readonly delayMs: number
  readonly isEnding: () => boolean
}

/** Looks without calls after which the spare is ended. */
const REST_LOOKS = SPARE_REST_MS / SILENCE_LOOK_MS

/**
 * A front that is loaded and not started: it takes the place of the next front that dies or is replaced. There is a
 * spare while fronts have calls; an idle node has none, since a spare takes memory.
 */
export class SpareFront<C extends Pick<Child, 'pid' | 'ended' | 'isGone' | 'kill'>> {
  readonly #options: SpareOptions<C>
  #spare: C | null = null
  #timer: NodeJS.Timeout | null = null
  /** Looks since fronts had calls; null while no spare is wanted. */
  #restLooks: number | null = null
  /** Spares that ended since a front last became ready. */
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

  /** Reports that a front has become ready. */
  proved(): void {
    this.#lost = 0
  }

  /** Reports whether fronts have had calls lately; to be called every SILENCE_LOOK_MS. */
  look(hasCalls: boolean): void {
    if (hasCalls) {
      this.#restLooks = 0
      this.keep()
    } else if (this.#restLooks !== null && ++this.#restLooks >= REST_LOOKS) {
      this.#restLooks = null
      this.#letGo()
    }
  }

  /**
   * Loads a spare, unless the node is idle. Loading takes most of the time that a front needs to restart, so a spare is
   * always loaded in advance. It loads after the fronts themselves, so that their first calls do not share the cores
   * with it.
   */
  keep(delayMsMax = Number.POSITIVE_INFINITY): void {
    if (this.#restLooks === null || this.#spare !== null || this.#timer !== null) return
    const delayMs = Math.min(this.#options.delayMs, delayMsMax)
    if (delayMs === 0) return this.#load()
    this.#timer = setTimeout(() => {
      this.#timer = null
      this.#load()
    }, delayMs).unref()
  }

  #letGo(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
    const spare = this.#spare
    this.#spare = null
    spare?.kill()
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
      // After the last allowed loss, a spare is loaded only when another front becomes ready.
      const isLast = this.#lost >= CRASH_LOOP_EXITS
      log.warn('spare_lost', { pid: spare.pid, how, losses: this.#lost, isLast })
      this.#load()
    })
  }
}
