/** Issue 19, acceptance 5: what a node does that cannot start, whose fronts hang, and whose fronts are all gone. */
import { startStand } from '../support/stand.ts'
import type { Program } from './proof.ts'
import { hangingFront } from './starts/hanging.ts'
import { allKilled } from './starts/killed.ts'

export const program: Program = {
  text: 'a front that hangs is replaced after 10 s; all fronts killed: answered again within 500 ms at the median',
  async run(proof) {
    if (process.platform !== 'linux') {
      proof.skipped = 'processes are looked at in /proc'
      return
    }
    const stand = await startStand({ settings: { SLUICE_FRONTS: '2' } })
    proof.after(() => stand.stop())
    await hangingFront(proof, stand)
    await allKilled(proof, stand)
  },
}
