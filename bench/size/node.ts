/** A node of a given size. */
import { join } from 'node:path'
import { openStore } from '../../src/server/store/base/open.ts'
import { runtimeOf } from '../../src/server/supervisor/data-directory/data-directory.ts'
import { FileStand } from '../../test/support/files/file-stand.ts'
import { monotonicMs } from '../../test/support/load/load-plan.ts'
import { startStand, type Stand } from '../../test/support/nodes/stand.ts'
import { connected } from '../../test/support/wire/connected.ts'
import { catalogueOf, fill, type Sizes } from './objects.ts'

export interface SizedNode {
  readonly name: 'sluice' | 'sluice-small'
  readonly sizes: Sizes
  readonly stand: Stand
  /** Ids of files that have bytes. */
  readonly stored: readonly string[]
  readonly readyMs: number
  readonly filledMs: number
  stop(): Promise<void>
}

/** Number of files with bytes, on either node. */
const STORED = 10
/** Bytes of each of these files. */
const STORED_BYTES = 4_096

export async function startSized(
  name: SizedNode['name'],
  sizes: Sizes,
  provider: string,
): Promise<SizedNode> {
  const startedAt = monotonicMs()
  const stand = await startStand({ catalogue: catalogueOf(sizes.models, provider) })
  const readyAt = monotonicMs()
  try {
    const url = runtimeOf(stand.dataDir)?.databaseUrl
    if (url === undefined) throw new Error('the node does not say where its Postgres is')
    const store = openStore({ url, poolMax: 1, applicationName: 'sluice-bench' })
    try {
      await connected(store)
      await fill(store, stand.keys, sizes)
      const filledMs = monotonicMs() - readyAt
      const files = new FileStand(stand, store, { s3: null, folder: join(stand.dataDir, 'files') })
      const stored: string[] = []
      for (let at = 0; at < STORED; at++) stored.push(await files.promoted(STORED_BYTES, `size-${at}.wav`))
      return { name, sizes, stand, stored, readyMs: readyAt - startedAt, filledMs, stop: () => stand.stop() }
    } finally {
      await store.close()
    }
  } catch (failure) {
    await stand.stop()
    throw failure
  }
}
