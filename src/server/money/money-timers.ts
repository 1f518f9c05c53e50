/** The clocks of one front's money, passed in so that a test can move them. */
export interface MoneyTimers {
  /** Monotonic milliseconds. */
  readonly now: () => number
  /** `Date.now` */
  readonly epochNow: () => number
  /** Runs work after so many milliseconds; the timer keeps no process alive. */
  readonly after: (ms: number, work: () => void) => void
  /** Runs work at the end of this event-loop tick. */
  readonly soon: (work: () => void) => void
}

export const REAL_TIMERS: MoneyTimers = {
  now: () => performance.now(),
  epochNow: Date.now,
  after: (ms, work) => void setTimeout(work, ms).unref(),
  soon: setImmediate,
}
