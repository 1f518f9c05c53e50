import { ok, type Outcome } from '../../../src/schemas/failures.ts'
import type { CallCost, Hold, HoldInput, Spend } from '../../../src/server/ports/money/money.ts'

interface Recorded {
  readonly ask: HoldInput
  /** Every end that was reported to it. */
  readonly ends: ('released' | CallCost)[]
}

/**
 * Money without an end, of which every movement is kept. @param answer what else a hold waits for, or comes
 * to
 */
export function recorder(
  answer: () => Promise<void> | Outcome<never> | undefined = () => undefined,
): Spend & { readonly holds: readonly Recorded[] } {
  const holds: Recorded[] = []
  return {
    holds,
    hold(ask) {
      const ends: Recorded['ends'] = []
      holds.push({ ask, ends })
      const held: Outcome<Hold> = ok({
        written: () => true,
        progress() {},
        settle: (cost) => (ends.push(cost), null),
        release: () => void ends.push('released'),
      })
      const first = answer()
      return first instanceof Promise ? first.then(() => held) : (first ?? held)
    },
  }
}
