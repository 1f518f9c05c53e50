import { costUnbounded } from '../../../src/schemas/money/money-refusals.ts'
import type { PaymentPorts } from '../../../src/server/ports/model-calls.ts'
import type { CallCost, CallProgress, HoldInput, Spend } from '../../../src/server/ports/money/money.ts'

/** Money for tests and benches of something else: every call may be paid, and nothing is recorded. */
export const FREE_SPEND: Spend = {
  hold: () => ({ ok: true, value: { written: () => true, progress() {}, settle: () => null, release() {} } }),
}

/** Money for them, and limits of calls that no key has. */
export const FREE_PAYMENT: PaymentPorts = {
  spend: FREE_SPEND,
  modelCalls: {
    admit: () => Promise.resolve({ failure: null, headers: null, end: () => undefined }),
  },
}

/** What became of a hold. */
export type Held = {
  readonly ask: HoldInput
  /** The progress reported while it was open. */
  readonly progress: CallProgress[]
  end: 'open' | 'released' | CallCost
}

/** The same, with what was asked and how it ended, in order. */
export function keptSpend(): Spend & { readonly holds: readonly Held[] } {
  const holds: Held[] = []
  return {
    holds,
    hold(ask) {
      const held: Held = { ask, progress: [], end: 'open' }
      holds.push(held)
      return {
        ok: true,
        value: {
          written: () => true,
          progress: (progress) => void held.progress.push(progress),
          settle: (cost) => ((held.end = cost), null),
          release: () => void (held.end = 'released'),
        },
      }
    },
  }
}

/** Money of a key with a limit: a call that has no bound is refused. */
export function boundedSpend(spend: Spend = FREE_SPEND): Spend {
  return {
    hold: (ask) => (ask.bound.paidNano === null ? costUnbounded(['key'], ask.bound) : spend.hold(ask)),
  }
}
