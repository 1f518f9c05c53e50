import type { Budget as BudgetWire } from '../../../schemas/money/budgets.ts'
import type { FailureName } from '../../../schemas/failures.ts'
import type { Budget, BudgetRef, OneBudget } from '../../ports/money/budgets.ts'
import type { Span } from '../../ports/money/money.ts'
import type { Call, Success } from '../define.ts'
import { usdOfNano } from '../../../schemas/money/costs.ts'

export const BUDGET_FAILURES = [
  'workspace_unknown',
  'store_unavailable',
] as const satisfies readonly FailureName[]

export const BUDGET_EXAMPLE = { workspace_ref: 'default', interval: 'monthly' } as const

export function budgetRefOf(
  call: Call<{ readonly workspace_ref: string; readonly interval: Span }>,
): BudgetRef {
  const { workspace_ref: workspace, interval: span } = call.params
  return { organizationId: call.key.organizationId, workspace, span }
}

export function budgetAnswer({ budget, countsByok }: OneBudget): Success {
  return { kind: 'json', value: { data: budgetWire(budget), include_byok_in_budgets: countsByok } }
}

/** A budget in the form of §2.11. */
export function budgetWire(budget: Budget): BudgetWire {
  return {
    id: budget.id,
    workspace_id: budget.workspaceId,
    limit_usd: usdOfNano(budget.limitNano),
    reset_interval: budget.span,
    created_at: budget.createdAt.toISOString(),
    updated_at: budget.updatedAt.toISOString(),
    effective: budget.isEffective ? 'now' : 'pending',
    spent_usd: usdOfNano(budget.spentNano),
    lent_usd: usdOfNano(budget.lentNano),
    resets_at: budget.resetsAt?.toISOString() ?? null,
  }
}
