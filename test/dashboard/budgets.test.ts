import t from 'tap'
import { ROOT } from '../support/source.ts'

interface Budgets {
  forceOf(budget: Readonly<{ effective: 'now' | 'pending'; spent_usd: number; lent_usd: number; limit_usd: number }>): string
}

/** As the compiler made it, before the build joins it with the page's other modules. */
const { forceOf } = (await import(`${ROOT}dist/.page/src/server/dashboard/page/pages/budgets.js`)) as Budgets

t.test('a limit that is overdrawn and of which nobody holds anything is not called pending', async (t) => {
  t.equal(forceOf({ effective: 'pending', spent_usd: 1.2, lent_usd: 0, limit_usd: 0.5 }), 'overdrawn')
  t.equal(forceOf({ effective: 'pending', spent_usd: 1.2, lent_usd: 0.1, limit_usd: 0.5 }), 'pending')
  t.equal(forceOf({ effective: 'pending', spent_usd: 0.2, lent_usd: 0, limit_usd: 0.5 }), 'pending')
  t.equal(forceOf({ effective: 'now', spent_usd: 0.5, lent_usd: 0, limit_usd: 0.5 }), 'now')
})
