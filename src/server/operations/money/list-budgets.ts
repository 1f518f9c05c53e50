import { BudgetListAnswer, BudgetsParams } from '../../../schemas/money/budgets.ts'
import { ok } from '../../../schemas/failures.ts'
import { defineOperation } from '../define.ts'
import { BUDGET_FAILURES, budgetWire } from './budget-answers.ts'

/** Lists the budgets of a workspace, from the shortest interval to the longest. Source: B2.9. */
export const listBudgets = defineOperation({
  id: 'budgets.list',
  method: 'get',
  path: '/workspaces/{workspace_ref}/budgets',
  tag: 'budgets',
  summary: 'List the budgets of a workspace',
  input: { params: BudgetsParams },
  success: { status: 200, body: BudgetListAnswer, isList: true },
  statuses: [404, 500],
  failures: BUDGET_FAILURES,
  example: { params: { workspace_ref: 'default' } },
  async run(call, ports) {
    const found = await ports.budgets.list({
      organizationId: call.key.organizationId,
      workspace: call.params.workspace_ref,
    })
    if (!found.ok) return found
    const { budgets, countsByok } = found.value
    return ok({ kind: 'json', value: { data: budgets.map(budgetWire), include_byok_in_budgets: countsByok } })
  },
})
