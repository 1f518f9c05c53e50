import { VIDEO_LEASE_MARGIN_MS } from '../../../schemas/videos/video-limits.ts'
import type { ClaimedVideo, StoredClip } from '../../ports/videos/video-work.ts'
import type { VideoOrder } from '../../ports/videos/video-providers.ts'
import type { VideoAttached } from '../../ports/videos/videos.ts'

/** When a claim was requested or renewed, by this process' clock, and for how long. */
export interface Lease {
  /** Monotonic milliseconds at which the request was sent, so that the lease ends later in the store. */
  readonly requestedAt: number
  readonly leaseMs: number
  /** Monotonic milliseconds at which the store answered. */
  readonly answeredAt: number
}

/**
 * `waiting`: for its time. `queued`: for a free place. `busy`: a step is under way. `gone`: the job has ended
 * or belongs to another runner; this runner does nothing for it any more.
 */
export type Phase = 'waiting' | 'queued' | 'busy' | 'gone'

/** A job that this runner has claimed, with facts that its row does not have. */
export class HeldJob {
  claim: ClaimedVideo
  phase: Phase = 'waiting'
  /** Monotonic milliseconds at which the next step is due. */
  dueAt: number
  /** Steps of one kind that failed in a row. */
  fails = 0
  /** Number of tries to store clips, for the names of objects. */
  stores = 0
  /** Number of tries to store that broke off or crashed after bytes had come. */
  brokenStores = 0
  readonly clips: StoredClip[] = []
  isCancelled = false
  /** The id that the provider has just given the job, before the row has it. */
  takenId: string | null = null
  /** Aborts the step under way, unless the step is a submission. */
  readonly abort = new AbortController()
  #leaseEndsAt: number
  /** Monotonic milliseconds of Postgres' instant 0, by the latest reading. */
  #originAt: number

  constructor(claim: ClaimedVideo, lease: Lease) {
    this.claim = claim
    this.dueAt = lease.answeredAt
    this.#leaseEndsAt = lease.requestedAt + lease.leaseMs
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

  /** Monotonic milliseconds from which on the job is to expire. */
  get expiresAt(): number {
    return this.at(this.claim.expiresAtMs)
  }

  get upstreamId(): string | null {
    return this.claim.upstreamId ?? this.takenId
  }

  /** Monotonic milliseconds, by this process' clock, of an instant of Postgres: a little late, never early. */
  at(instantMs: number): number {
    return this.#originAt + instantMs
  }

  /** False from a little before the lease ends, since another runner may have the job then. */
  mayWrite(now: number): boolean {
    return this.phase !== 'gone' && now < this.#leaseEndsAt - VIDEO_LEASE_MARGIN_MS
  }

  prolong(requestedAt: number, leaseMs: number): void {
    this.#leaseEndsAt = Math.max(this.#leaseEndsAt, requestedAt + leaseMs)
  }

  /** Ends the longer lease of a call that is over. */
  shorten(requestedAt: number, leaseMs: number): void {
    this.#leaseEndsAt = Math.min(this.#leaseEndsAt, requestedAt + leaseMs)
  }

  countPoll(): void {
    this.claim = { ...this.claim, polls: this.claim.polls + 1 }
  }

  /** Takes the row that a write of this runner returned. */
  advance(claim: ClaimedVideo, answeredAt: number): void {
    this.claim = claim
    this.#originAt = answeredAt - claim.readAtMs
  }

  /** @param attached parts of the request that the claim does not hold */
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
