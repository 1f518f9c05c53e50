import { startSyncs } from '../../../../src/server/runner/scim/syncs.ts'
import { openGroupMappings } from '../../../../src/server/store/scim/mappings.ts'
import { openScimGroups } from '../../../../src/server/store/scim/scim-groups.ts'
import { openScimUsers } from '../../../../src/server/store/scim/scim-users.ts'
import { openSyncWork } from '../../../../src/server/store/scim/sync-work.ts'
import type { Store } from '../../../../src/server/store/base/open.ts'
import { SILENT } from '../../../support/log.ts'
import type { Proof } from '../../proof.ts'
import type { Deps } from './world.ts'

/**
 * The parts of a node that change a directory, over one store, with a runner that works on sync jobs all the
 * while.
 */
export function openDeps(proof: Proof, store: Store): Deps {
  const stop = startSyncs({ work: openSyncWork(store), log: SILENT, pollMs: 10 })
  proof.after(stop)
  return {
    store,
    mappings: openGroupMappings(store),
    users: openScimUsers(store),
    groups: openScimGroups(store),
  }
}
