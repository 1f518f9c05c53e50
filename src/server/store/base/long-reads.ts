import { FairSemaphore } from '../../structures/fair-semaphore.ts'
import type { Store } from './open.ts'

/**
 * Reads of up to 100,000 rows that may wait in a front, for all organizations together; further ones fail with
 * `busy`. Each organization runs one at a time, and all together leave at least one connection to other calls.
 * Decision.
 */
export const LONG_READS_WAITING_MAX = 256
/** Of these, reads of one organization. Decision. */
export const LONG_READS_WAITING_OF_ONE_MAX = 16
/** Milliseconds that a read of up to 100,000 rows waits for its turn; then it fails with `busy`. Decision. */
export const LONG_READ_WAIT_MS = 5_000

const TURNS = new WeakMap<Store, FairSemaphore>()

/** Reads that may examine 100,000 rows take turns: an organization that makes many delays only itself, and they never occupy all connections. */
export function longReadsOf(store: Store): FairSemaphore {
  const known = TURNS.get(store)
  if (known !== undefined) return known
  const turns = new FairSemaphore({
    places: Math.max(1, store.options.poolMax - 1),
    placesOfOne: 1,
    waitingMax: LONG_READS_WAITING_MAX,
    waitingOfOneMax: LONG_READS_WAITING_OF_ONE_MAX,
    waitMs: LONG_READ_WAIT_MS,
  })
  TURNS.set(store, turns)
  return turns
}
