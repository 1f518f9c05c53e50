import { bootId } from '../journal/boot-id.ts'
import { openRecovery } from '../journal/recovery.ts'
import { journalsFolder } from '../journal/segments.ts'
import type { Log } from '../ports/observe.ts'
import { removeStagingOf } from '../storage/staging.ts'
import { abandonWritesOf } from '../store/files/dead-fronts.ts'
import { keepLostStreams } from '../store/inference/lost-streams.ts'
import { journalState } from '../store/nodes/journals.ts'
import { openLender } from '../store/money/lender.ts'
import { openStore } from '../store/base/open.ts'
import type { JournalsPlace, NodeJournals } from '../supervisor/node-setup.ts'
import { isRunning } from '../supervisor/fleet/process-state.ts'
import { stagingFolderOf } from './storage.ts'

/** Milliseconds that reading the state of a journal may take. */
const LOOK_MS_MAX = 5_000

/** The journals of a node's dead fronts, on a separate connection: a large journal must not delay the supervisor's probe of Postgres. */
export function openNodeJournals({ databaseUrl, config, onCleared }: JournalsPlace, log: Log): NodeJournals {
  const store = openStore({ url: databaseUrl, poolMax: 1, applicationName: 'sluice-journals' })
  const recovery = openRecovery({
    folder: journalsFolder(config.dataDir),
    lender: openLender(store, { log }),
    stateOf: (id) => store.within(LOOK_MS_MAX, (sql) => journalState(sql, id)),
    bootId: bootId(),
    keep: (takes) => keepLostStreams(store, takes, log),
    clear: async (id) => {
      await abandonWritesOf(store, id)
      await removeStagingOf(stagingFolderOf(config), id)
      onCleared()
    },
    isRunning,
    log,
  })
  return {
    ...recovery,
    async close() {
      await recovery.close()
      await store.close()
    },
  }
}
