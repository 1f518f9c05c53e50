/** Timers of a front whose time passes when the test says so, and by nothing else. */
import {
  Timers,
  TIMER_STEP_MS,
  type Timer,
  type TimerEnd,
  type TimerGuard,
} from '../../src/server/http/timers.ts'

export interface MovedTimers {
  readonly timers: Timers
  /** Milliseconds that have passed. */
  readonly now: number
  /** So much time passes; resolves when every timer that ends by then has fired. */
  pass(ms: number): Promise<void>
}

export function movedTimers(): MovedTimers {
  let now = 0
  const timers = new FromNow(() => now)
  return {
    timers,
    get now() {
      return now
    },
    pass: (ms) =>
      new Promise((resolve) => {
        // The interval of the wheel keeps no process running.
        const running = setInterval(() => undefined, TIMER_STEP_MS)
        // All timers that are due fire in one turn of the wheel: the test continues after the last of them.
        timers.start(ms, () => {
          clearInterval(running)
          resolve()
        })
        now += ms + TIMER_STEP_MS
      }),
  }
}

/** A deadline counts from an instant of the machine's clock, which is not the one of the test. */
class FromNow extends Timers {
  override start(ms: number, fire: TimerEnd, _from?: number, guard?: TimerGuard): Timer {
    return super.start(ms, fire, undefined, guard)
  }
}
