import type { AccountKind as OwnerKind } from '../../../schemas/money/accounts.ts'
import { BUDGET_INTERVALS, type BudgetInterval } from '../../../schemas/money/budgets.ts'
import type { Issue } from '../../../schemas/failure-metadata.ts'
import type { Outcome } from '../../../schemas/failures.ts'
import type { KeyRecord } from '../keys/keys.ts'

/** Windows in which a limit counts, the narrowest first: the intervals of budgets. */
export const SPANS = BUDGET_INTERVALS
export type Span = BudgetInterval

export type AccountKind = OwnerKind

/** A day of the authority's calendar, `YYYY-MM-DD`; its week begins on Monday. */
export type Day = string

/** The most that a call may cost, in whole nano-USD; null = unknown. Design §6.4. */
export interface CostBound {
  /** The maximum over endpoints with the operator's credentials; 0 when the call can use none of them. */
  readonly paidNano: number | null
  /** The maximum over all endpoints, including those with the workspace's own credentials. */
  readonly anyNano: number | null
  /** Tag of an endpoint without a price, the reason why one of the two is null. */
  readonly unpriced?: string
  /** The part of the request that has no bound, which also makes one of the two null; absent: its tokens, or nothing. */
  readonly unbounded?: Issue
}

export interface CallFacts {
  readonly requestId: string
  readonly operation: string
  readonly model: string
}

export interface CallCost {
  /** Whole nano-USD; a cost above the bound is reduced to the bound, and the rest becomes an `overrun`. */
  readonly costNano: number
  readonly isByok: boolean
  /** Sluice estimated the cost, since the provider reported no credible figures. */
  readonly isEstimated: boolean
  readonly provider: string
  /** Id of the model that answered, if the call named several; omitted: the model in the call's facts. */
  readonly model?: string
  /** Tokens of the prompt. */
  readonly tokens?: number
  /** Left out: the model generates no text. */
  readonly text?: TextTokens
  readonly milliseconds?: number
}

export interface CallProgress extends CallCost {
  readonly tokens: number
  readonly text: TextTokens
  readonly milliseconds: number
  /** As in `TakeProgress`, also `note`. */
  readonly isDrained: boolean
  readonly note: string
}

/** Used instead of a promise, which would be half a kilobyte of garbage for each call. */
export interface WriteWaiter {
  /** As `Hold.written`. Must not throw. */
  written(isWritten: boolean): void
}

/** Money that a call has taken. Exactly one of `settle` and `release` is called, once; they never throw. */
export interface Hold {
  /**
   * Takes of one tick are written together at its end; no byte may be sent before that. False: the disk
   * refused, and nothing is held. @param waiter called once, in the tick of the write, when the result is
   * null: not known yet
   */
  written(waiter: WriteWaiter): boolean | null
  /** Reports progress, which is charged if the front dies. Never throws; has no effect after the call has ended. */
  progress(progress: CallProgress): void
  /** @returns Unix milliseconds of the payment; null when the call had already ended */
  settle(cost: CallCost): number | null
  /** Returns all of the money: nothing was sent, or the call had no result. */
  release(): void
}

export interface HoldInput {
  readonly key: KeyRecord
  readonly bound: CostBound
  readonly facts: CallFacts
  /** Signal of the caller: if the caller leaves while the call waits for money, no money is taken. */
  readonly signal?: () => AbortSignal
  /** `performance.now()` milliseconds. */
  readonly deadlineAt: number
}

/**
 * Synchronous while the front's balances last; then call `Hold.written`. Failures: credit_exhausted,
 * key_limit_exceeded, budget_exceeded, cost_unbounded, store_unavailable, busy, draining, client_gone.
 */
export interface Spend {
  hold(ask: HoldInput): Outcome<Hold> | Promise<Outcome<Hold>>
}

export type MoneyRefuser = 'credit' | 'key_limit' | 'budget' | 'unbounded' | 'unavailable' | 'busy'

/** Figures of a front's money; counters that only grow are counted since the start. Whole nano-USD. */
export interface MoneyReading {
  readonly takes: number
  readonly open: number
  readonly overruns: number
  /** Charged since the start. */
  readonly spentNano: number
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

/** Token counts in addition to the prompt tokens. */
export interface TextTokens {
  /** Tokens of the answer, with reasoning. */
  readonly outputTokens: number
  /** Tokens of the prompt that were in a cache of the provider. */
  readonly cachedTokens: number
}
