import { chmodSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import {
  startEmbeddedPostgres,
  type EmbeddedPostgres,
} from '../../../src/server/supervisor/postgres/embedded-postgres.ts'
import { keptLog } from '../log.ts'
import type { Teardown } from '../teardown.ts'
import { temporaryFolder } from '../temporary-folder.ts'

/**
 * Folders for one embedded Postgres: the data directory, and where root keeps what the lesser account must
 * reach.
 */
export interface ClusterHome {
  readonly dataDir: string
  readonly outsideDir: string
  /** Starts the server; it is stopped with the test. */
  start(settings?: Readonly<Record<string, string>>): Promise<EmbeddedPostgres>
}

/** `fsync` is off wherever a test does not kill the machine, which is everywhere. */
const FAST = { fsync: 'off' }

export function clusterHome(t: Teardown): ClusterHome {
  const home = temporaryFolder(t, 'cluster')
  chmodSync(home, 0o755)
  const dataDir = join(home, 'data')
  const outsideDir = join(home, 'outside')
  mkdirSync(dataDir, { mode: 0o700 })
  const started: EmbeddedPostgres[] = []
  t.teardown(async () => {
    for (const server of started) await server.stop()
  })
  return {
    dataDir,
    outsideDir,
    async start(settings = FAST) {
      const server = await startEmbeddedPostgres({ dataDir, outsideDir, log: keptLog(), settings })
      started.push(server)
      return server
    },
  }
}
