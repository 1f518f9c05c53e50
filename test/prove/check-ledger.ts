import type { Stand } from '../support/nodes/stand.ts'
import type { Proof } from './proof.ts'

/** Whether `sluice ledger check` finds nothing. @param when begins the text; empty: at the end */
export async function checkLedger(proof: Proof, stand: Pick<Stand, 'cli'>, when = ''): Promise<void> {
  const checked = await stand
    .cli('ledger', 'check')
    .catch((problem: unknown) => ({ failed: String(problem) }))
  proof.check(
    `${when}the ledger explains every counter`,
    !('failed' in checked),
    JSON.stringify(checked).slice(0, 300),
  )
}
