import type { CreditKind } from '../../../schemas/money/credits.ts'
import type { Outcome } from '../../../schemas/failures.ts'
import type { LimitActor } from './budgets.ts'
import type { IdempotencyClaim } from '../idempotency.ts'

/** All amounts are whole nano-USD. */
export interface CreditEntry {
  readonly id: string
  readonly kind: CreditKind
  /** Negative only in a correction. */
  readonly amountNano: bigint
  readonly note: string
  /** Kind and id of the actor, as in the audit log. */
  readonly createdBy: string
  readonly createdAt: Date
}

export interface CreditState {
  /** Sum of all entries; 0 while the credit is unlimited. */
  readonly creditNano: bigint
  /** All spend so far, except spend with workspaces' own credentials. */
  readonly usedNano: bigint
  readonly lentNano: bigint
  /** True until the first top-up. */
  readonly isUnlimited: boolean
  /** True when used plus lent is within the credit and every live front has applied it. */
  readonly isEffective: boolean
}

export interface CreditInput {
  readonly organizationId: string
  /** Not 0. */
  readonly amountNano: bigint
  readonly note: string
  /** Present with an `Idempotency-Key`. */
  readonly claim: IdempotencyClaim | null
}

/** Failures of all: store_unavailable. */
export interface Credits {
  get(organizationId: string): Promise<Outcome<CreditState>>
  /**
   * Before the first entry, one for all earlier spend is booked, so that the first entry can be spent
   * completely. The same claim books only once; waits for fronts as `Budgets.put` does. Failures:
   * credit_out_of_range, idempotency_mismatch (the claim booked another entry).
   */
  add(
    input: CreditInput,
    by: LimitActor,
  ): Promise<Outcome<{ readonly entry: CreditEntry; readonly state: CreditState }>>
}
