import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CAN_WALK } from '../../src/server/storage/container-paths.ts'
import { openDiskStorage } from '../../src/server/storage/disk.ts'
import { raceLinks } from '../support/link-race.ts'
import type { Proof, Program } from './proof.ts'

const OPENS = 10_000
const OPENS_SHORT = 1_000

export const program: Program = {
  text: 'No byte from outside a container while links are swapped in during 10,000 racing opens (issue 3, acceptance 9)',
  async run(proof: Proof): Promise<void> {
    if (!CAN_WALK) {
      proof.skipped = 'this system has no /proc: shared prefixes are refused on it'
      return
    }
    const folder = await mkdtemp(join(tmpdir(), 'sluice-links-'))
    proof.after(() => rm(folder, { recursive: true, force: true }))
    const storage = await openDiskStorage({ folder })
    const result = await raceLinks(storage, folder, proof.isShort ? OPENS_SHORT : OPENS)
    const found = `${result.leaks.length} leaks in ${result.opens} opens (${result.read} read, ${result.unknown} unknown, ${result.swaps} swaps)`
    for (const leak of result.leaks.slice(0, 10)) proof.say(leak)
    proof.check('no byte from outside, none written there', result.leaks.length === 0, found)
    proof.check('the race was one', result.read > 0 && result.unknown > 0 && result.swaps > 0, found)
    proof.check('no descriptor is leaked', result.descriptorsLeaked === 0, `${result.descriptorsLeaked} more than before`)
  },
}
