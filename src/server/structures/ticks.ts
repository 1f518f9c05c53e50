/** Milliseconds of a step: periods of whole steps share their wake-ups. Decision. */
export const STEP_MS = 500
/** Milliseconds of the longest period that shares wake-ups: a longer one wakes the process rarely. Decision. */
export const JOINED_MS_MAX = 10_000
/** Milliseconds by which a timer may fire early, since Node counts in whole milliseconds. */
const EARLY_MS = 1

/** A function that is called again and again. */
export interface Repetition {
  stop(): void
}

/** The clock and the timers of a test; those of the process when left out. */
export interface TickClock {
  /** Monotonic milliseconds, the same for all processes of the machine. */
  now(): number
  after(ms: number, run: () => void): () => void
}

interface Joined {
  readonly steps: number
  readonly run: () => void
  /** The step that is next due. */
  due: number
}

/**
 * Calls functions periodically and joins their wake-ups: a wake-up of an idle process costs more than the work of most
 * functions. A period of whole steps is due at multiples of the period on the clock: functions of one period run
 * together, functions of a multiple of it run with them, and processes of one machine call their stores at the same
 * time.
 */
export class Ticks {
  readonly #clock: TickClock
  readonly #joined = new Set<Joined>()
  /** The step for which the timer is set. */
  #next = Infinity
  #disarm: () => void = () => undefined

  constructor(clock: TickClock = OF_PROCESS) {
    this.#clock = clock
  }

  /**
   * Calls `run` every `ms`, the first time within `ms`. Does not keep the process alive. A function that was due
   * several times, for example while the process was suspended, is called once.
   */
  every(ms: number, run: () => void): Repetition {
    if (ms % STEP_MS !== 0 || ms > JOINED_MS_MAX) {
      const timer = setInterval(run, ms).unref()
      return { stop: () => clearInterval(timer) }
    }
    const steps = ms / STEP_MS
    const joined = { steps, run, due: multipleAfter(this.#step, steps) }
    this.#joined.add(joined)
    if (joined.due < this.#next) this.#arm()
    return {
      stop: () => {
        this.#joined.delete(joined)
        if (this.#joined.size === 0) this.#arm()
      },
    }
  }

  get #step(): number {
    return Math.floor(this.#clock.now() / STEP_MS)
  }

  #arm(): void {
    this.#disarm()
    this.#next = Infinity
    for (const { due } of this.#joined) this.#next = Math.min(this.#next, due)
    if (this.#next === Infinity) return
    const ms = Math.max(0, Math.ceil(this.#next * STEP_MS - this.#clock.now())) + EARLY_MS
    this.#disarm = this.#clock.after(ms, () => this.#tick())
  }

  #tick(): void {
    const step = this.#step
    const due = [...this.#joined].filter((joined) => joined.due <= step)
    for (const joined of due) joined.due = multipleAfter(step, joined.steps)
    // Before the functions run: if one throws, the ticks continue.
    this.#arm()
    // A function may have stopped another.
    for (const joined of due) if (this.#joined.has(joined)) joined.run()
  }
}

function multipleAfter(step: number, steps: number): number {
  return (Math.floor(step / steps) + 1) * steps
}

const S_MS = 1_000
const MS_NS = 1e6

const OF_PROCESS: TickClock = {
  now() {
    const [seconds, nanoseconds] = process.hrtime()
    return seconds * S_MS + nanoseconds / MS_NS
  },
  after(ms, run) {
    const timer = setTimeout(run, ms).unref()
    return () => clearTimeout(timer)
  },
}

const ofProcess = new Ticks()

/** `Ticks.every` of the one object of this process. */
export function every(ms: number, run: () => void): Repetition {
  return ofProcess.every(ms, run)
}

/** Calls `run` once, together with the functions that repeat every `ms`. @returns a function that cancels it */
export function atNext(ms: number, run: () => void): () => void {
  const next = every(ms, () => {
    next.stop()
    run()
  })
  return () => next.stop()
}
