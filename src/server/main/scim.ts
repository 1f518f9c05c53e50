import { openScimAnswers } from '../limits/scim-answers.ts'
import type { Log } from '../ports/observe.ts'
import type { Ports } from '../ports/ports.ts'
import { startSyncs } from '../runner/scim/syncs.ts'
import { ok } from '../../schemas/failures.ts'
import { restingClaim } from '../runner/resting-claims.ts'
import type { LookForOpen } from '../store/lifecycle/open-rows.ts'
import { repeat } from '../runner/repeat.ts'
import { openGroupMappings } from '../store/scim/mappings.ts'
import { openScimGroups } from '../store/scim/scim-groups.ts'
import { openScimUsers } from '../store/scim/scim-users.ts'
import { openSyncWork } from '../store/scim/sync-work.ts'
import type { Store } from '../store/base/open.ts'

/** Milliseconds between two rounds that remove syncs which ended long ago. Decision. */
const SYNCS_PRUNE_MS = 3_600_000

export function openDirectoryPorts(
  store: Store,
): Pick<Ports, 'groupMappings' | 'scimUsers' | 'scimGroups' | 'scimAnswers'> {
  return {
    groupMappings: openGroupMappings(store),
    scimUsers: openScimUsers(store),
    scimGroups: openScimGroups(store),
    scimAnswers: openScimAnswers(),
  }
}

/** Starts a runner's syncs. @returns a function that ends them, to be called before the store is closed */
export function startDirectory({
  store,
  lookForOpen,
  log,
}: {
  readonly store: Store
  readonly lookForOpen: LookForOpen
  readonly log: Log
}): () => Promise<void> {
  const work = openSyncWork(store)
  const claimNext = restingClaim({
    claim: work.claimNext,
    isOpen: () => lookForOpen('syncs'),
    nothing: ok(null),
    isNothing: (found) => found.ok && found.value === null,
  })
  const stops = [
    startSyncs({ work: { ...work, claimNext }, log }),
    repeat(
      { name: 'syncs_pruned', everyMs: SYNCS_PRUNE_MS, run: async () => ({ rows: await work.prune() }) },
      { log, random: Math.random },
    ),
  ]
  return async () => {
    await Promise.all(stops.map((stop) => stop()))
  }
}
