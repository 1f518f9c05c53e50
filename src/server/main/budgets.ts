import type { Hints } from '../ports/keys.ts'
import type { Ports } from '../ports/ports.ts'
import { openBudgets } from '../store/budgets.ts'
import type { Store } from '../store/open.ts'

/** What management keys decide and read about money. */
export function openBudgetParts(means: { readonly store: Store; readonly hints: Pick<Hints, 'publish'> }): Pick<Ports, 'budgets'> {
  return { budgets: openBudgets(means) }
}
