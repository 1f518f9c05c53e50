import type { Hints } from '../ports/keys/keys.ts'
import type { Ports } from '../ports/ports.ts'
import { openActivity } from '../store/money/activity.ts'
import { openAuditLog } from '../store/audit/audit-search.ts'
import { openBudgets } from '../store/money/budgets.ts'
import { openCredits } from '../store/money/credits.ts'
import { openRequestLog } from '../store/requests/request-search.ts'
import type { Store } from '../store/base/open.ts'

/** What management keys decide and read about money, the audit log of their decisions, and the request log. */
export function openBudgetPorts(deps: {
  readonly store: Store
  readonly hints: Pick<Hints, 'publish'>
}): Pick<Ports, 'budgets' | 'credits' | 'activity' | 'auditLog' | 'requestLog'> {
  const { store } = deps
  return {
    budgets: openBudgets(deps),
    credits: openCredits(deps),
    activity: openActivity(store),
    auditLog: openAuditLog(store),
    requestLog: openRequestLog(store),
  }
}
