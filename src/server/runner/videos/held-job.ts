import { VIDEO_LEASE_MARGIN_MS } from '../../../schemas/videos/video-limits.ts'
import type { ClaimedVideo, StoredClip } from '../../ports/videos/video-work.ts'
import type { VideoOrder } from '../../ports/videos/video-providers.ts'
import type { VideoAttached } from '../../ports/videos/videos.ts'

/** When a claim was asked for or prolonged, by our clock, and for how long. */
export interface Lease {
  /** Monotonic milliseconds of the asking, so that the store's own end of it is later. */
  readonly askedAt: number
  readonly leaseMs: number
  /** Monotonic milliseconds of the answer. */
  readonly answeredAt: number
}

/**
 * `waiting`: for its time. `queued`: for a free place. `busy`: a step is under way. `gone`: another's, or
 * ended; nothing is done for it any more.
 */
export type Phase = 'waiting' | 'queued' | 'busy' | 'gone'

/** A job that this runner has claimed, and what is known of it beside its row. */
export class HeldJob {
  claim: ClaimedVideo
  phase: Phase = 'waiting'
  /** Monotonic milliseconds: when its next step is due. */
  dueAt: number
  /** Steps of one kind that failed in a row. */
  fails = 0
  /** Tries to store, for the names of objects; and those of them that failed when bytes had come. */
  stores = 0
  brokenStores = 0
  readonly clips: StoredClip[] = []
  isCancelled = false
  /** The id that the provider has just given it, before the row has it. */
  takenId: string | null = null
  /** Ends the step under way, unless that is a submission. */
  readonly abort = new AbortController()
  #leaseEndsAt: number
  /** Monotonic milliseconds of Postgres' instant 0, by the latest reading. */
  #originAt: number

  constructor(claim: ClaimedVideo, lease: Lease) {
    this.claim = claim
    this.dueAt = lease.answeredAt
    this.#leaseEndsAt = lease.askedAt + lease.leaseMs
    this.#originAt = lease.answeredAt - claim.readAtMs
  }

  get id(): string {
    return this.claim.id
  }

  get workspaceId(): string {
    return this.claim.workspaceId
  }

  get leaseEndsAt(): number {
    return this.#leaseEndsAt
  }

  /** Monotonic milliseconds from which on it is to expire. */
  get expiresAt(): number {
    return this.at(this.claim.expiresAtMs)
  }

  get upstreamId(): string | null {
    return this.claim.upstreamId ?? this.takenId
  }

  /** Our monotonic milliseconds of an instant of Postgres: a little late, never early. */
  at(instantMs: number): number {
    return this.#originAt + instantMs
  }

  /** False from a little before the lease ends: somebody else may have it then. */
  mayWrite(now: number): boolean {
    return this.phase !== 'gone' && now < this.#leaseEndsAt - VIDEO_LEASE_MARGIN_MS
  }

  prolong(askedAt: number, leaseMs: number): void {
    this.#leaseEndsAt = Math.max(this.#leaseEndsAt, askedAt + leaseMs)
  }

  /** The call for which the lease was so long is over. */
  shorten(askedAt: number, leaseMs: number): void {
    this.#leaseEndsAt = Math.min(this.#leaseEndsAt, askedAt + leaseMs)
  }

  /** The provider was asked for it. */
  countPoll(): void {
    this.claim = { ...this.claim, polls: this.claim.polls + 1 }
  }

  /** A write of ours went through. */
  advance(claim: ClaimedVideo, answeredAt: number): void {
    this.claim = claim
    this.#originAt = answeredAt - claim.readAtMs
  }

  /** @param attached what of the request is not held */
  order(attached?: VideoAttached): VideoOrder {
    const { id, organizationId, workspaceId, keyHash, requestId, target, request, submitToken } = this.claim
    return {
      jobId: id,
      organizationId,
      workspaceId,
      keyHash,
      requestId,
      target,
      request: { ...request, ...attached },
      submitToken,
    }
  }
}
