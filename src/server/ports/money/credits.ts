import type { CreditKind } from '../../../schemas/money/credits.ts'
import type { Outcome } from '../../../schemas/failures.ts'
import type { LimitActor } from './budgets.ts'
import type { IdempotencyClaim } from '../idempotency.ts'

/** An entry of an organization's credit. Whole nano-USD. */
export interface CreditEntry {
  readonly id: string
  readonly kind: CreditKind
  /** Negative only of a correction. */
  readonly amountNano: bigint
  readonly note: string
  /** Kind and id of who did it, as the audit log has them. */
  readonly createdBy: string
  readonly createdAt: Date
}

export interface CreditState {
  /** Sum of all entries; 0 while it is unlimited. */
  readonly creditNano: bigint
  /** Since ever; what workspaces' own credentials paid is no part of it. */
  readonly usedNano: bigint
  readonly lentNano: bigint
  /** Until the first top-up. C14. */
  readonly isUnlimited: boolean
  /** Used and lent are within the credit, and every live front knows it. */
  readonly isEffective: boolean
}

export interface CreditInput {
  readonly organizationId: string
  /** Not 0. */
  readonly amountNano: bigint
  readonly note: string
  /** Of a call with an `Idempotency-Key`. */
  readonly turn: IdempotencyClaim | null
}

/** What organizations may spend. Failures of all: store_unavailable. */
export interface Credits {
  get(organizationId: string): Promise<Outcome<CreditState>>
  /**
   * Books an entry. The first one is preceded by an opening of what was spent until then, so that all of it
   * is there to be spent. The same turn books once, whatever became of its first call. It waits for fronts as
   * `Budgets.put` does.
   * Failures: credit_out_of_range, idempotency_mismatch (the turn booked something else).
   */
  add(
    input: CreditInput,
    by: LimitActor,
  ): Promise<Outcome<{ readonly entry: CreditEntry; readonly state: CreditState }>>
}
