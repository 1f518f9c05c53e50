import { BudgetDeletedAnswer, BudgetParams } from '../../../schemas/money/budgets.ts'
import { ok } from '../../../schemas/failures.ts'
import { actorOf, defineOperation } from '../define.ts'
import { BUDGET_EXAMPLE, BUDGET_FAILURES, budgetRefOf } from './budget-answers.ts'

/** Deletes a budget, and succeeds also without a budget; the spend of the current window stays counted. Source: B2.9, C15. */
export const deleteBudget = defineOperation({
  id: 'budgets.delete',
  method: 'delete',
  path: '/workspaces/{workspace_ref}/budgets/{interval}',
  tag: 'budgets',
  summary: 'Delete a budget',
  description: 'A new budget on this interval includes the spending of the current window.',
  input: { params: BudgetParams },
  success: { status: 200, body: BudgetDeletedAnswer },
  statuses: [400, 404, 500],
  failures: BUDGET_FAILURES,
  example: { params: BUDGET_EXAMPLE },
  async run(call, ports) {
    const removed = await ports.budgets.remove(budgetRefOf(call), actorOf(call))
    return removed.ok ? ok({ kind: 'json', value: { deleted: true } }) : removed
  },
})
