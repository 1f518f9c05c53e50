/** Where a scenario keeps what it needs while it runs: whichever way it ends, nothing of that stays. */
import { chmod, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { removeCluster } from '../../test/support/nodes/node.ts'

export interface Scratch {
  /** To be the temporary directory of the scenario and of all that it starts. */
  readonly folder: string
  /** Once nothing of it runs any more. */
  remove(): Promise<void>
}

/** Data directories of nodes, below a folder of their own: of a stand or a start, of a fresh clone. */
const DATA_PLACES: readonly string[] = ['data', 'home/sluice/.sluice']

export async function openScratch(): Promise<Scratch> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-bench-'))
  // A database that runs under an account of its own passes through.
  await chmod(folder, 0o711)
  return {
    folder,
    async remove() {
      // As root a node has its cluster elsewhere, and only its data directory knows where.
      for (const name of await readdir(folder))
        for (const place of DATA_PLACES) removeCluster(join(folder, name, place))
      await rm(folder, { recursive: true, force: true })
    },
  }
}
