import type { Outcome } from '../../../schemas/failures.ts'
import type { Span } from './money.ts'
import type { ChangedBy } from '../vault/vault.ts'

/** A limit of what a workspace may spend in each window of its span. Whole nano-USD. §2.11. */
export interface Budget {
  readonly id: string
  readonly workspaceId: string
  readonly span: Span
  readonly limitNano: bigint
  /** What counts against the limit in this window: byok where the workspace says so. */
  readonly spentNano: bigint
  /** What fronts hold of this window. */
  readonly lentNano: bigint
  /** First instant of the next window; null for `lifetime`. */
  readonly resetsAt: Date | null
  /** Spent and lent are within the limit, and every live front has obeyed it. C15. */
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
  /** Of all budgets of the workspace; left out: as before. */
  readonly countsByok?: boolean
}

/** What an operation or verb does, and who asks it: for the audit log. */
export interface LimitActor extends ChangedBy {
  readonly operation: string
}

export interface OneBudget {
  readonly budget: Budget
  /** Calls by the workspace's own credentials count against its budgets. */
  readonly countsByok: boolean
}

export interface AllBudgets {
  /** From the shortest span to the longest. */
  readonly budgets: readonly Budget[]
  readonly countsByok: boolean
}

/**
 * Budgets of workspaces. Failures of all: workspace_unknown (deleted and foreign ones too),
 * store_unavailable.
 */
export interface Budgets {
  list(ref: WorkspaceRef): Promise<Outcome<AllBudgets>>
  /** Failure: budget_unknown. */
  get(ref: BudgetRef): Promise<Outcome<OneBudget>>
  /**
   * Makes or changes a budget; what the window has spent counts from the beginning. It waits
   * LIMITS_APPLIED_WAIT_MS_MAX at most until fronts have obeyed. Failure: budgets_unordered.
   */
  put(ref: BudgetRef, input: BudgetInput, by: LimitActor): Promise<Outcome<OneBudget>>
  /** Nothing happens where there is none. What was spent stays counted. */
  remove(ref: BudgetRef, by: LimitActor): Promise<Outcome<null>>
}
