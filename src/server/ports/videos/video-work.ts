import type { ByteReader } from '../byte-streams.ts'
import type { Outcome } from '../../../schemas/failures.ts'
import type { OpenVideoState } from '../../../schemas/videos/video-jobs.ts'
import type { VideoSource } from './video-providers.ts'
import type { VideoAttached, VideoRequest, VideoTarget, VideoView } from './videos.ts'

/** Held until the fencing token `attempt` changes or the lease expires. Times are by the clock of Postgres. */
export interface ClaimedVideo {
  readonly id: string
  readonly organizationId: string
  readonly workspaceId: string
  readonly keyHash: string
  readonly requestId: string
  readonly attempt: number
  readonly state: OpenVideoState
  readonly target: VideoTarget
  /** Without its attached parts, since a runner holds thousands of jobs at once. */
  readonly request: VideoRequest
  /** True when the row contains more of the request: `VideoWork.attached` returns it. */
  readonly hasAttached: boolean
  /** A UUID, the same for all submissions of the job. */
  readonly submitToken: string
  /** Number of submissions begun so far. */
  readonly submissions: number
  /** Number of polls of the job; saved by renewals, releases, `made` and `end`. */
  readonly polls: number
  /** Time of the last submission; null before the first. */
  readonly submittedAtMs: number | null
  /** Time by which the call of the last submission must have ended. */
  readonly submitEndsAtMs: number | null
  readonly upstreamId: string | null
  readonly generationId: string | null
  /** Sources of a job in `storing`. */
  readonly made: VideoMade | null
  readonly createdAtMs: number
  /** Postgres' clock when the row was read or written; other times are compared with it. */
  readonly readAtMs: number
  readonly expiresAtMs: number
}

export interface VideoMade {
  readonly sources: readonly VideoSource[]
}

/** The clip belongs to the job once the job's row names it. */
export interface StoredClip {
  readonly objectId: string
  readonly dataKeyId: string
  readonly sizeBytes: number
  readonly sha256: string
}

export type VideoEnd =
  | { readonly kind: 'completed'; readonly clips: readonly StoredClip[] }
  /** @param mayHaveCost it is unknown whether the video was generated: the operator's ledger records what it may have cost */
  | { readonly kind: 'failed'; readonly error: string; readonly mayHaveCost: boolean }
  | { readonly kind: 'expired'; readonly error: string }

/**
 * Every write is guarded by the claim: if another process has taken the row, nothing is written, and the
 * result is null (or leaves the job out). Methods reject when the store is unavailable: the write may then
 * have been applied.
 */
export interface VideoWork {
  /**
   * Claims due jobs, ordered by provider and due time; a row in `submitting` is due only after its lease and
   * its call's timeout.
   * @param room number of jobs to take now, by provider; no jobs of a provider that is not listed
   */
  claim(room: ReadonlyMap<string, number>, leaseMs: number): Promise<readonly ClaimedVideo[]>
  /** Providers with jobs that are due now, whichever process holds them, with the number of jobs (counted up to a few hundred). */
  due(): Promise<ReadonlyMap<string, number>>
  /** The large parts of a claimed job's request; null when another process has the row. */
  attached(claim: Pick<ClaimedVideo, 'id' | 'attempt'>): Promise<VideoAttached | null>
  /** Renews leases; they last from now. @returns ids of jobs that another process has taken */
  renew(
    claims: readonly Pick<ClaimedVideo, 'id' | 'attempt' | 'polls'>[],
    leaseMs: number,
  ): Promise<readonly string[]>
  /** Due after `dueInMs`. */
  release(claims: readonly Pick<ClaimedVideo, 'id' | 'attempt' | 'polls'>[], dueInMs: number): Promise<void>
  /** accepted or submitting → submitting, before the call. The lease is `leaseMs` plus `callMs`; no process takes the row over before. */
  submitting(
    claim: ClaimedVideo,
    times: { readonly leaseMs: number; readonly callMs: number },
  ): Promise<ClaimedVideo | null>
  /** submitting → accepted, when the provider has certainly not accepted the job. The lease is VIDEO_LEASE_MS from now on. */
  unsubmitted(claim: ClaimedVideo): Promise<ClaimedVideo | null>
  /** submitting → running, leased for VIDEO_LEASE_MS. `owned`: another row already has this provider id; `lost`: another process has the row. */
  submitted(claim: ClaimedVideo, upstreamId: string): Promise<ClaimedVideo | 'owned' | 'lost'>
  /** running → storing. */
  made(claim: ClaimedVideo, made: VideoMade): Promise<ClaimedVideo | null>
  /**
   * Writes the state, the charge or the return of the hold, the ledger and the webhook in one transaction,
   * perhaps together with other jobs.
   * @returns null when the job has ended or another process has it
   */
  end(claim: ClaimedVideo, end: VideoEnd): Promise<VideoView | null>
  /** Returns which of these provider ids belong to other rows with the same credential. */
  owned(claim: ClaimedVideo, upstreamIds: readonly string[]): Promise<ReadonlySet<string>>
  /** Reads a job that another process has ended, or that this one has ended without an answer from the store; null: there is no such row. */
  view(id: string): Promise<VideoView | null>
  /** Open jobs and jobs that ended within the last few minutes, ordered by id, to restore views that Redis has lost. */
  views(after: string | null, countMax: number): Promise<readonly VideoView[]>
  /** Marks expired clips in their rows. @returns ids of the objects to remove */
  expireClips(countMax: number): Promise<readonly string[]>
}

export interface VideoClips {
  /**
   * Failures: video_clip_invalid (not an MP4), file_too_large, file_empty, storage_full, storage_unavailable,
   * busy, data_key_unavailable, upstream_failed, upstream_slow, and those of the reader.
   */
  store(input: ClipInput): Promise<Outcome<StoredClip>>
  remove(objectId: string): Promise<Outcome<boolean>>
}

export interface ClipInput {
  readonly workspaceId: string
  /** The id of the job, `-`, and a part that is unique to this attempt: the sweep treats it as an orphan only after the job has ended. */
  readonly objectId: string
  /** The bytes are read to the end, and closed on every path. */
  readonly bytes: ByteReader
  readonly bytesMax: number
  readonly signal: AbortSignal
}

/** A budget shared by all runners. Never rejects. */
export interface PollBudget {
  /** @param want at least 1 */
  take(provider: string, pollsPerSecond: number, want: number): Promise<PollGrant>
  /** Runners that share the polls of each provider, at least 1. */
  readonly liveRunners: number
}

export interface PollGrant {
  /** From 0 to the number of polls wanted. The polls must be used now: unused ones are lost. */
  readonly granted: number
  /** Milliseconds until another poll is available; 0 when all were granted. */
  readonly retryAfterMs: number
}

/** States of the jobs that a runner holds. */
export type HeldVideoState = 'accepted' | 'submitting' | 'running' | 'storing'
/** Providers are slugs of the catalogue; all other labels are from closed sets. */
export interface VideoMeters {
  claimed(provider: string, count: number): void
  submitted(provider: string, result: 'taken' | 'refused' | 'unsent' | 'unknown'): void
  looked(provider: string, result: 'complete' | 'partial' | 'unavailable' | 'adopted'): void
  /** @param lagMs milliseconds by which the poll was late */
  polled(provider: string, result: 'running' | 'made' | 'failed' | 'unavailable', lagMs: number): void
  stored(provider: string, result: 'stored' | 'retried' | 'refused'): void
  ended(provider: string, status: 'completed' | 'failed' | 'expired' | 'cancelled'): void
  /** Counts jobs that this runner no longer held when it was about to continue them. */
  lost(count: number): void
}
