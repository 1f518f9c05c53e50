import { fail, type Outcome } from '../../../schemas/failures.ts'
import { FairSemaphore } from '../../structures/fair-semaphore.ts'
import type { Store, Transaction } from '../base/open.ts'

/**
 * Calls of one organization about its directory that wait in one front for earlier calls; `busy` beyond.
 * Decision.
 */
export const DIRECTORY_CALLS_WAITING_MAX = 256

/** A call that changes the directory of an organization, or reads much of it. */
export type DirectoryCallKind = 'change' | 'read'

const CALLS = new WeakMap<Store, FairSemaphore>()

/**
 * Runs the calls of one kind of an organization one after another, and takes a connection only when its turn comes. Calls
 * that waited for one lock, or read a whole directory at once, would hold all connections of this process,
 * and block the calls of others.
 * Failure: store_unavailable, when too many calls wait already.
 */
export async function oneAtATime<T>(
  store: Store,
  { organizationId, kind }: { readonly organizationId: string; readonly kind: DirectoryCallKind },
  work: () => Promise<Outcome<T>>,
): Promise<Outcome<T>> {
  const leave = await callsOf(store).enter({ tenant: `${kind} ${organizationId}` })
  if (leave === null) return fail('store_unavailable', { retryAfterS: 1 })
  try {
    return await work()
  } finally {
    leave()
  }
}

function callsOf(store: Store): FairSemaphore {
  const known = CALLS.get(store)
  if (known !== undefined) return known
  // The limit includes the call that is running.
  const waitingOfOneMax = DIRECTORY_CALLS_WAITING_MAX - 1
  const calls = new FairSemaphore({ places: Infinity, placesOfOne: 1, waitingOfOneMax })
  CALLS.set(store, calls)
  return calls
}

/** First key of the advisory locks of directories, which have two keys. */
const LOCK_CLASS = 7

/**
 * Serializes changes of groups, members, mappings and grants of an organization until the commit: rows that a
 * transaction reads under the lock stay so until it has written. The lock follows that of a workspace, and
 * precedes rows of the directory. Two organizations may share one lock; no transaction takes two.
 */
export async function lockDirectory(tx: Transaction, organizationId: string): Promise<void> {
  await tx`SELECT pg_advisory_xact_lock(${LOCK_CLASS}::integer, hashtext(${organizationId}::uuid::text))`
}
