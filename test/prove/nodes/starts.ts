/** What a node does that cannot start, whose fronts hang, and whose fronts are all gone. */
import { startStand } from '../../support/nodes/stand.ts'
import type { Program } from '../proof.ts'
import { hangingFront } from './starts/hanging.ts'
import { allKilled } from './starts/killed.ts'
import { brokenData, fullDisk } from './starts/refused.ts'

export const program: Program = {
  text: 'no root key, a full disk, another Postgres: one sentence; a hanging front is replaced; all fronts killed: back within 500 ms',
  async run(proof) {
    if (process.platform !== 'linux') {
      proof.skipped = 'processes are looked at in /proc'
      return
    }
    await brokenData(proof)
    await fullDisk(proof)
    const stand = await startStand({ settings: { SLUICE_FRONTS: '2' } })
    proof.after(() => stand.stop())
    await hangingFront(proof, stand)
    await allKilled(proof, stand)
  },
}
