/**
 * Compares the quota's running sum with an independent count of the files that exist, after random writes,
 * losses and sweeps.
 */
import { randomInt } from 'node:crypto'
import { rmSync } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { COUNTED_BYTES_MIN } from '../../src/schemas/files/file-limits.ts'
import { sweep } from '../../src/server/runner/sweep.ts'
import { openContainerSizes } from '../../src/server/store/containers/container-sizes.ts'
import { openContainerUses } from '../../src/server/store/containers/container-uses.ts'
import { openFileSweep } from '../../src/server/store/files/file-sweep.ts'
import { begun, openFileStand, storedFile, type FileStand } from '../support/files/files.ts'
import { must } from '../support/must.ts'
import { openDisk, putInContainer } from '../support/files/storage.ts'
import { OWN_PLACE } from '../support/files/sweeps.ts'

t.setTimeout(600_000)

const ROUNDS = 12
const RACERS = 6

/** Mulberry32. */
function randomOf(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below
  }
}

/** Every file and folder below, that of each container included. */
async function countedOnDisk(root: string, workspaceId: string): Promise<number> {
  const place = join(root, 'containers', workspaceId)
  const entries = await readdir(place, { recursive: true, withFileTypes: true }).catch(() => [])
  let bytes = 0
  for (const entry of entries) {
    const path = join(entry.parentPath, entry.name)
    if (entry.isDirectory())
      bytes += (await readdir(path, { recursive: true, withFileTypes: true })).some((below) => below.isFile())
        ? COUNTED_BYTES_MIN
        : 0
    else bytes += Math.max(COUNTED_BYTES_MIN, (await stat(path)).size)
  }
  return bytes
}

async function countedFiles({ store: { sql } }: FileStand): Promise<number> {
  const rows = await sql<{ size_bytes: string }[]>`SELECT size_bytes FROM files WHERE state = 'ready'`
  return rows.reduce((sum, row) => sum + Math.max(COUNTED_BYTES_MIN, Number(row.size_bytes)), 0)
}

t.test(
  'after racing random writes, losses and deletions, the running sum equals a count over all files',
  async (t) => {
    const seed = Number(process.env['SLUICE_TEST_SEED'] ?? randomInt(2 ** 31))
    t.comment(`seed ${seed}`)
    const random = randomOf(seed)
    const stand = await openFileStand(t, { containerWaitMs: 60_000 })
    const { files, store, workspaceId } = stand
    const { storage, folder } = await openDisk(t)
    const sizes = openContainerSizes(store)
    const parts = {
      rows: openFileSweep(store),
      uses: openContainerUses(store),
      sizes,
      storage,
      checkPlace: OWN_PLACE,
      now: Date.now,
    }
    const write = async (containerId: string, path: string, sizeBytes: number) => {
      const upload = await begun(files, workspaceId, sizeBytes, { folders: path.split('/').length })
      const claim = must(await files.claimPath(upload, { containerId, path, sizeBytes }))
      await putInContainer(storage, path, 'x'.repeat(sizeBytes), { workspaceId, containerId })
      must(await sizes.release(claim, sizeBytes))
    }
    const act = async () => {
      const [containerId, depth, sizeBytes] = [
        `sess_${random(2)}`,
        random(4),
        [0, 1, 4_096, 5_000, 20_000][random(5)] ?? 0,
      ]
      const path = [...Array.from({ length: depth }, () => `f${random(2)}`), `n${random(4)}`].join('/')
      const kind = random(10)
      if (kind < 6) return write(containerId, path, sizeBytes)
      if (kind < 8) return rmSync(join(folder, 'containers', workspaceId, containerId, path), { force: true })
      if (kind === 8) return void (await storedFile(files, workspaceId, { sizeBytes: sizeBytes + 1 }))
      const [file] = must(await files.list(workspaceId, { after: null, limit: 1 })).files
      if (file !== undefined) await files.remove(workspaceId, file.id)
    }
    for (let round = 0; round < ROUNDS; round++) {
      await Promise.all(Array.from({ length: RACERS }, act))
      t.same((await sweep(parts, { recountAgeMs: 0 })).failures, [])
      const { usedBytes, reservedBytes } = must(await files.usage(workspaceId))
      const counted = (await countedOnDisk(folder, workspaceId)) + (await countedFiles(stand))
      t.same([usedBytes, reservedBytes], [counted, 0], `round ${round} of seed ${seed}`)
    }
  },
)
