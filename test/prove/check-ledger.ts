import { openStore } from '../../src/server/store/base/open.ts'
import { checkLedger as checkStore } from '../../src/server/store/money/repair/check.ts'
import { must } from '../support/must.ts'
import type { Stand } from '../support/nodes/stand.ts'
import type { Proof } from './proof.ts'
import { connected } from '../support/wire/connected.ts'

type Checked = Pick<Stand, 'cli'> & Partial<Pick<Stand, 'settings'>>

/**
 * Whether `sluice ledger check` finds nothing; the short form asks what that verb asks, whose start costs a
 * second of a core. @param when begins the text; empty: at the end
 */
export async function checkLedger(proof: Proof, stand: Checked, when = ''): Promise<void> {
  const url = stand.settings?.['DATABASE_URL']
  const checking = proof.isShort && url !== undefined ? inProcess(url) : stand.cli('ledger', 'check')
  const checked = await checking.catch((problem: unknown) => ({ failed: String(problem) }))
  proof.check(
    `${when}the ledger explains every counter`,
    !('failed' in checked),
    JSON.stringify(checked).slice(0, 300),
  )
}

async function inProcess(url: string): Promise<object> {
  const store = await connected(openStore({ url, poolMax: 1, applicationName: 'sluice-prove' }))
  try {
    const { count, differences } = must(await checkStore(store))
    return count === 0 ? { differences: count } : { failed: differences }
  } finally {
    await store.close()
  }
}
