/** Time of fronts whose money is in a real store: none passes while the store is asked, however long it takes. */
import type { Lender } from '../../../src/server/ports/money/lending.ts'
import { REAL_TIMERS, type MoneyTimers } from '../../../src/server/money/reservation.ts'

export interface StoreTime {
  readonly timers: MoneyTimers
  /** The same authority, for which the time waits. */
  awaited(lender: Lender): Lender
  /** Lets so much time pass at once. */
  pass(ms: number): void
}

export function storeTime(): StoreTime {
  let now = 0
  let asked = 0
  const due: (() => void)[] = []
  const fire = (): void => {
    while (asked === 0) {
      const next = due.shift()
      if (next === undefined) return
      next()
    }
  }
  const awaiting =
    <A extends readonly unknown[], R>(ask: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      asked++
      try {
        return await ask(...args)
      } finally {
        asked--
        // After those that take the answer.
        setImmediate(fire)
      }
    }
  return {
    timers: {
      ...REAL_TIMERS,
      now: () => now,
      after(ms, work) {
        const at = now + ms
        REAL_TIMERS.after(ms, () => {
          due.push(() => {
            now = Math.max(now, at)
            work()
          })
          fire()
        })
      },
    },
    awaited: (lender) => ({
      open: awaiting((owner) => lender.open(owner)),
      lend: awaiting((ask) => lender.lend(ask)),
      pulse: awaiting((ids) => lender.pulse(ids)),
      flush: awaiting((flush) => lender.flush(flush)),
      close: awaiting((closing) => lender.close(closing)),
    }),
    pass: (ms) => void (now += ms),
  }
}
