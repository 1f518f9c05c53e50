/** The working folder of a scenario, which is removed at any end of it. */
import { chmod, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { removeOutside } from '../../test/support/nodes/node.ts'

export interface Scratch {
  /** Temporary directory of the scenario and of everything that it starts. */
  readonly folder: string
  /** Removes the folder after all processes have ended. */
  remove(): Promise<void>
}

/** Data directories of nodes below their own folder: of a stand or a start, and of a fresh clone. */
const DATA_PLACES: readonly string[] = ['data', 'home/sluice/.sluice']

export async function openScratch(): Promise<Scratch> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-bench-'))
  // A database that runs under an account of its own must pass through.
  await chmod(folder, 0o711)
  return {
    folder,
    async remove() {
      // As root a node has its cluster elsewhere, and only its data directory has the path.
      for (const name of await readdir(folder))
        for (const place of DATA_PLACES) await removeOutside(join(folder, name, place))
      await rm(folder, { recursive: true, force: true })
    },
  }
}
