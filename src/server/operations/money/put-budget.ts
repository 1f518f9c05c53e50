import { BudgetAnswer, BudgetParams } from '../../../schemas/money/budgets.ts'
import { fail, ok } from '../../../schemas/failures.ts'
import { actorOf, defineOperation } from '../define.ts'
import { BUDGET_EXAMPLE, BUDGET_FAILURES, budgetAnswer, budgetRefOf } from './budget-answers.ts'
import { nanoOfUsd } from '../../../schemas/money/costs.ts'

/** Creates or changes the budget of a workspace for one interval. Source: B2.9, decision C15. */
export const putBudget = defineOperation({
  id: 'budgets.put',
  method: 'put',
  path: '/workspaces/{workspace_ref}/budgets/{interval}',
  tag: 'budgets',
  summary: 'Set a budget',
  description:
    'Budgets of a workspace must decrease: lifetime > monthly > weekly > daily. Spend since the start of the period ' +
    'counts. A limit below the amount already spent or reserved stops new reservations at once and is `pending` ' +
    'until the reserved amounts are released.',
  input: { params: BudgetParams, body: 'budget' },
  success: { status: 200, body: BudgetAnswer },
  statuses: [400, 404, 500],
  failures: [...BUDGET_FAILURES, 'body_invalid', 'budgets_unordered'],
  example: { params: BUDGET_EXAMPLE, body: { limit_usd: 250, include_byok_in_budgets: false } },
  async run(call, ports) {
    const { limit_usd: limitUsd, include_byok_in_budgets: countsByok } = call.body
    const limitNano = nanoOfUsd(limitUsd)
    if (limitNano === null) return fail('body_invalid')
    const request = { limitNano, ...(countsByok !== undefined && { countsByok }) }
    const changed = await ports.budgets.put(budgetRefOf(call), request, actorOf(call))
    return changed.ok ? ok(budgetAnswer(changed.value)) : changed
  },
})
