import { VIDEO_LEASE_MARGIN_MS } from '../../../schemas/videos/video-limits.ts'
import type { ClaimedVideo, StoredClip } from '../../ports/videos/video-work.ts'
import type { VideoOrder } from '../../ports/videos/video-providers.ts'
import type { VideoAttached } from '../../ports/videos/videos.ts'

/** When a claim was requested or renewed, by the clock of this process, and for how long. */
export interface Lease {
  /** Monotonic milliseconds at which the request was sent, so by the store's clock the lease ends later. */
  readonly requestedAt: number
  readonly leaseMs: number
  /** Monotonic milliseconds at which the store answered. */
  readonly answeredAt: number
}

/**
 * `waiting`: until its next step is due. `queued`: for a free place. `busy`: a step is running. `gone`: the
 * job has ended or belongs to another runner; this runner does nothing more for it.
 */
export type Phase = 'waiting' | 'queued' | 'busy' | 'gone'

/** A job that this runner has claimed, with state that its row does not contain. */
export class HeldJob {
  claim: ClaimedVideo
  phase: Phase = 'waiting'
  /** Monotonic milliseconds at which the next step is due. */
  dueAt: number
  /** Steps of one kind that failed in a row. */
  fails = 0
  /** Number of attempts to store clips, for the names of objects. */
  stores = 0
  /** Number of attempts to store that were interrupted or crashed after bytes had arrived. */
  brokenStores = 0
  readonly clips: StoredClip[] = []
  isCancelled = false
  /** The id that the provider has just assigned to the job, until it is saved in the row. */
  takenId: string | null = null
  /** Aborts the running step, unless the step is a submission. */
  readonly abort = new AbortController()
  #leaseEndsAt: number
  /** Monotonic milliseconds at which the clock of Postgres was 0, by the latest reading. */
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

  /** Monotonic milliseconds at which the job expires. */
  get expiresAt(): number {
    return this.at(this.claim.expiresAtMs)
  }

  get upstreamId(): string | null {
    return this.claim.upstreamId ?? this.takenId
  }

  /** Converts a time of Postgres to monotonic milliseconds of this process: perhaps slightly late, never early. */
  at(instantMs: number): number {
    return this.#originAt + instantMs
  }

  /** False from shortly before the lease ends, since another runner may then have the job. */
  mayWrite(now: number): boolean {
    return this.phase !== 'gone' && now < this.#leaseEndsAt - VIDEO_LEASE_MARGIN_MS
  }

  prolong(requestedAt: number, leaseMs: number): void {
    this.#leaseEndsAt = Math.max(this.#leaseEndsAt, requestedAt + leaseMs)
  }

  /** Shortens the longer lease of a call that has ended. */
  shorten(requestedAt: number, leaseMs: number): void {
    this.#leaseEndsAt = Math.min(this.#leaseEndsAt, requestedAt + leaseMs)
  }

  countPoll(): void {
    this.claim = { ...this.claim, polls: this.claim.polls + 1 }
  }

  /** Replaces the claim by the row that a write of this runner returned. */
  advance(claim: ClaimedVideo, answeredAt: number): void {
    this.claim = claim
    this.#originAt = answeredAt - claim.readAtMs
  }

  /** @param attached parts of the request that the claim does not contain */
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
