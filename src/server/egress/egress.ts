import { UPSTREAM_ANSWERS_BYTES_MAX } from '../../schemas/limits.ts'
import { fail } from '../../schemas/failures.ts'
import type { Egress, TrustedOrigin } from '../ports/egress.ts'
import { AnswerBudget } from './answer-budget.ts'
import { PooledOrigin } from './origin.ts'

export interface EgressOptions {
  /** PEM roots of the operator's own, beside those of Node. */
  readonly extraCa?: readonly string[]
  /** Bytes of answers held at once; tests set a smaller one. */
  readonly answersBytesMax?: number
}

/** Opens the one gate to the outside: no other module makes outgoing HTTP connections. Design §9. */
export function openEgress({
  extraCa = [],
  answersBytesMax = UPSTREAM_ANSWERS_BYTES_MAX,
}: EgressOptions = {}): Egress {
  const budget = new AnswerBudget(answersBytesMax)
  const origins = new Map<string, PooledOrigin>()
  return {
    trusted(origin: string): TrustedOrigin {
      const known = origins.get(origin)
      if (known !== undefined) return known
      const opened = new PooledOrigin(origin, budget, extraCa)
      origins.set(origin, opened)
      return opened
    },
    vetted: () => fail('destination_refused'),
    hold(bytes: number): (() => void) | null {
      if (!budget.take(bytes)) return null
      let isHeld = true
      return () => {
        if (isHeld) budget.give(bytes)
        isHeld = false
      }
    },
    get load() {
      let calls = 0
      for (const origin of origins.values()) calls += origin.calls
      return { heldBytes: budget.heldBytes, calls }
    },
    async close() {
      await Promise.all([...origins.values()].map((origin) => origin.destroy()))
    },
  }
}
