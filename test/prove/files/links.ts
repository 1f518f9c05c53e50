import { CAN_WALK } from '../../../src/server/storage/container-paths.ts'
import { openDiskStorage } from '../../../src/server/storage/disk.ts'
import { startFileStand } from '../../support/files/file-stand.ts'
import { raceLinks, type RaceResult } from '../../support/files/link-race.ts'
import { raceLinksOverHttp, readOutside } from '../../support/files/link-race-http.ts'
import type { Proof, Program } from '../proof.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const OPENS = 10_000
const OPENS_SHORT = 1_000

export const program: Program = {
  text: 'No byte from outside a container while links are swapped in during 10,000 racing opens',
  async run(proof: Proof): Promise<void> {
    if (!CAN_WALK) {
      proof.skipped = 'this system has no /proc: shared prefixes are refused on it'
      return
    }
    await overHttp(proof)
    const folder = temporaryFolder(proof, 'links')
    const storage = await openDiskStorage({ folder })
    judge(proof, 'storage', await raceLinks(storage, folder, proof.isShort ? OPENS_SHORT : OPENS))
  },
}

/** The same through `GET …/content` of a whole node, and ids of paths that lead outside. */
async function overHttp(proof: Proof): Promise<void> {
  const node = await startFileStand(proof)
  const wrong = await readOutside(node)
  for (const text of wrong) proof.say(text)
  proof.check('ids of paths that lead outside are 404', wrong.length === 0, `${wrong.length} are not`)
  judge(proof, 'HTTP', await raceLinksOverHttp(node, proof.isShort ? OPENS_SHORT : OPENS))
}

function judge(proof: Proof, where: string, result: RaceResult): void {
  const found = `${result.leaks.length} leaks in ${result.opens} opens (${result.read} read, ${result.unknown} unknown, ${result.swaps} swaps)`
  for (const leak of result.leaks.slice(0, 10)) proof.say(leak)
  proof.check(`${where}: no byte from outside, none written there`, result.leaks.length === 0, found)
  proof.check(`${where}: the race was one`, result.read > 0 && result.unknown > 0 && result.swaps > 0, found)
  proof.check(
    `${where}: no descriptor is leaked`,
    result.descriptorsLeaked === 0,
    `${result.descriptorsLeaked} more than before`,
  )
}
