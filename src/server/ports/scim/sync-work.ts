import type { Outcome } from '../../../schemas/failures.ts'

/** A sync that this process holds until `attempt` changes. */
export interface SyncClaim {
  readonly id: string
  readonly organizationId: string
  readonly attempt: number
}

/** The progress of a process within one group. A process that takes a sync over begins at the group again. */
export interface SyncPlace {
  readonly mappingId: string
  readonly afterUserId: string
}

/** The result of one step: more to do, from that place on; nothing left; or another process has the sync. */
export type SyncStep =
  | { readonly kind: 'on'; readonly place: SyncPlace | null }
  | { readonly kind: 'done' }
  | { readonly kind: 'lost' }

/** Each step is one short transaction, so that writers are not blocked. */
export interface SyncWork {
  /** The sync that waits longest, or whose runner died; null without one. */
  claimNext(leaseMs: number): Promise<Outcome<SyncClaim | null>>
  /** Also renews the lease. @param place that the previous step returned */
  step(claim: SyncClaim, place: SyncPlace | null, leaseMs: number): Promise<Outcome<SyncStep>>
  /** Unless another process has the sync. @param message for the caller who started it */
  fail(claim: SyncClaim, message: string): Promise<Outcome<null>>
  /** Gives the sync back, due at once. */
  release(claim: SyncClaim): Promise<Outcome<null>>
  /** Removes syncs that ended long ago. @returns number of rows; rejects when the store cannot be reached */
  prune(): Promise<number>
}
