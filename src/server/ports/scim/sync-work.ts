import type { Outcome } from '../../../schemas/failures.ts'

/** A sync that is this process's until `attempt` changes. */
export interface SyncClaim {
  readonly id: string
  readonly organizationId: string
  /** The fencing token. */
  readonly attempt: number
}

/** How far a process is within one group. Whoever takes a sync over begins at the group again. */
export interface SyncPlace {
  readonly mappingId: string
  readonly afterUserId: string
}

/**
 * What one step came to: there is more to do, from that place on; nothing is left; or the sync is no longer
 * ours.
 */
export type SyncStep =
  | { readonly kind: 'on'; readonly place: SyncPlace | null }
  | { readonly kind: 'done' }
  | { readonly kind: 'lost' }

/**
 * Syncs as the runner works on them, a step at a time: each is one short transaction, so that writers get
 * their turns.
 */
export interface SyncWork {
  /** The one that waits longest, or whose runner died; null when there is none. */
  claimNext(leaseMs: number): Promise<Outcome<SyncClaim | null>>
  /** Renews the lease, too. @param place that the step before came to */
  step(claim: SyncClaim, place: SyncPlace | null, leaseMs: number): Promise<Outcome<SyncStep>>
  /** Ends it, unless it is no longer ours. @param message for whoever asked for it */
  fail(claim: SyncClaim, message: string): Promise<Outcome<null>>
  /** Gives it back, to be due at once. */
  release(claim: SyncClaim): Promise<Outcome<null>>
  /** Forgets those that ended long ago. @returns how many; rejects when the store cannot be reached */
  prune(): Promise<number>
}
