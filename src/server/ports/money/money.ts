import type { AccountKind as OwnerKind } from '../../../schemas/money/accounts.ts'
import { BUDGET_INTERVALS, type BudgetInterval } from '../../../schemas/money/budgets.ts'
import type { Outcome } from '../../../schemas/failures.ts'
import type { KeyRecord } from '../keys/keys.ts'

/** Windows in which a limit counts, the narrowest first: those of budgets. */
export const SPANS = BUDGET_INTERVALS
export type Span = BudgetInterval

export type AccountKind = OwnerKind

/** A day of the authority's calendar, `YYYY-MM-DD`; its week begins on Monday. Contract C15. */
export type Day = string

/** What a call may cost at most, in whole nano-USD; null = nobody can tell. Design §6.4. */
export interface CostBound {
  /** The dearest endpoint of the operator's that it may reach; 0 when it reaches none. */
  readonly paidNano: number | null
  /** The dearest of all, those by the workspace's own credentials included. */
  readonly anyNano: number | null
  /** Tag of an endpoint that makes one of them null, since nobody has told its price. C40. */
  readonly unpriced?: string
}

/** Facts of a call that its ledger row tells. */
export interface CallFacts {
  readonly requestId: string
  readonly operation: string
  readonly model: string
}

/** What a call came to. */
export interface CallCost {
  /** Whole nano-USD; above the bound it is cut to it, and the rest becomes an `overrun`. */
  readonly costNano: number
  readonly isByok: boolean
  /** Ours, since the provider told none that can be believed. */
  readonly isEstimated: boolean
  readonly provider: string
  readonly tokens?: number
  readonly milliseconds?: number
}

/** Money that a call has taken. Exactly one of `settle` and `release` is called, once; they never throw. */
export interface Hold {
  /**
   * Whether the take is in the journal, all of one turn at its end: no byte may leave for a provider before.
   * False: the disk would not, and nothing is held.
   */
  written(): boolean | Promise<boolean>
  settle(cost: CallCost): void
  /** Nothing was sent, or nothing came of it: all of it returns. */
  release(): void
}

export interface HoldAsk {
  readonly key: KeyRecord
  readonly bound: CostBound
  readonly facts: CallFacts
  /** Of the caller: who left while money was sought takes none. */
  readonly signal?: () => AbortSignal
  /** `performance.now()` milliseconds. */
  readonly deadlineAt: number
}

/**
 * The first step of a paid call. Synchronous while the purses' balances last; then `Hold.written`.
 * Failures: credit_exhausted, key_limit_exceeded, budget_exceeded, cost_unbounded, store_unavailable, busy,
 * draining, client_gone.
 */
export interface Spend {
  hold(ask: HoldAsk): Outcome<Hold> | Promise<Outcome<Hold>>
}

/** Who or what refused. */
export type MoneyRefuser = 'credit' | 'key_limit' | 'budget' | 'unbounded' | 'unavailable' | 'busy'

/** What a front's money is doing; figures that only grow are since the start. Whole nano-USD. */
export interface MoneyReading {
  readonly takes: number
  readonly open: number
  readonly overruns: number
  readonly refusals: Readonly<Record<MoneyRefuser, number>>
  readonly waiting: number
  readonly heldNano: number
  readonly lends: number
  readonly lendS: number
  readonly flushes: number
  readonly flushedEntries: number
  readonly flushLagS: number
  readonly giveBacks: number
  readonly isJournalBroken: boolean
}
