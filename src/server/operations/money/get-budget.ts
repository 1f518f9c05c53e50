import { BudgetAnswer, BudgetParams } from '../../../schemas/money/budgets.ts'
import { ok } from '../../../schemas/failures.ts'
import { defineOperation } from '../define.ts'
import { BUDGET_EXAMPLE, BUDGET_FAILURES, budgetAnswer, budgetRefOf } from './budget-answers.ts'

/** Reads the budget of a workspace for one interval, with its spend. Source: §4.12, §2.11, B1.14, C15. */
export const getBudget = defineOperation({
  id: 'budgets.get',
  method: 'get',
  path: '/workspaces/{workspace_ref}/budgets/{interval}',
  tag: 'budgets',
  summary: 'Get a budget',
  input: { params: BudgetParams },
  success: { status: 200, body: BudgetAnswer },
  statuses: [400, 404, 500],
  failures: [...BUDGET_FAILURES, 'budget_unknown'],
  example: { params: BUDGET_EXAMPLE },
  async run(call, ports) {
    const found = await ports.budgets.get(budgetRefOf(call))
    return found.ok ? ok(budgetAnswer(found.value)) : found
  },
})
