import type { Hints } from '../ports/keys.ts'
import type { Ports } from '../ports/ports.ts'
import { openActivity } from '../store/activity.ts'
import { openBudgets } from '../store/budgets.ts'
import { openCredits } from '../store/credits.ts'
import type { Store } from '../store/open.ts'

/** What management keys decide and read about money. */
export function openBudgetParts(
  means: { readonly store: Store; readonly hints: Pick<Hints, 'publish'> },
): Pick<Ports, 'budgets' | 'credits' | 'activity'> {
  return { budgets: openBudgets(means), credits: openCredits(means), activity: openActivity(means.store) }
}
