import {
  LONG_READ_WAIT_MS,
  LONG_READS_WAITING_MAX,
  LONG_READS_WAITING_OF_ONE_MAX,
} from '../../../schemas/operator/admin-limits.ts'
import { FairSemaphore } from '../../structures/fair-semaphore.ts'
import type { Store } from './open.ts'

const TURNS = new WeakMap<Store, FairSemaphore>()

/**
 * Turns of the reads of a store that may examine 100,000 rows, all kinds together. An organization that makes
 * many of them waits for itself, and they never hold all connections.
 */
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
