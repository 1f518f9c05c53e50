import type { Outcome } from '../../../schemas/failures.ts'
import type { Span } from './money.ts'
import type { ChangedBy } from '../vault/vault.ts'

/** All amounts are whole nano-USD. */
export interface Budget {
  readonly id: string
  readonly workspaceId: string
  readonly span: Span
  readonly limitNano: bigint
  /** Spend that counts against the limit in this window, including byok if the workspace counts it. */
  readonly spentNano: bigint
  /** Money of this window that is lent to fronts. */
  readonly lentNano: bigint
  /** Start of the next window; null for `lifetime`. */
  readonly resetsAt: Date | null
  /** True when spent plus lent is within the limit and every live front has applied the limit. */
  readonly isEffective: boolean
  readonly createdAt: Date
  readonly updatedAt: Date
}

export interface WorkspaceRef {
  readonly organizationId: string
  /** UUID or slug, as sent. */
  readonly workspace: string
}

export interface BudgetRef extends WorkspaceRef {
  readonly span: Span
}

export interface BudgetInput {
  readonly limitNano: bigint
  /** Setting for all budgets of the workspace; left out: unchanged. */
  readonly countsByok?: boolean
}

export interface LimitActor extends ChangedBy {
  readonly operation: string
}

export interface OneBudget {
  readonly budget: Budget
  /** Calls with the workspace's own credentials count against its budgets. */
  readonly countsByok: boolean
}

interface AllBudgets {
  /** From the shortest span to the longest. */
  readonly budgets: readonly Budget[]
  readonly countsByok: boolean
}

/** Failures of all: workspace_unknown (also for deleted and foreign workspaces), store_unavailable. */
export interface Budgets {
  list(ref: WorkspaceRef): Promise<Outcome<AllBudgets>>
  /** Failure: budget_unknown. */
  get(ref: BudgetRef): Promise<Outcome<OneBudget>>
  /**
   * Spend counts from the window's beginning. Waits at most LIMITS_APPLIED_WAIT_MS_MAX until the fronts have
   * applied the limit. Failure: budgets_unordered.
   */
  put(ref: BudgetRef, input: BudgetInput, by: LimitActor): Promise<Outcome<OneBudget>>
  /** Does nothing when there is no budget. The spend stays counted. */
  remove(ref: BudgetRef, by: LimitActor): Promise<Outcome<null>>
}
