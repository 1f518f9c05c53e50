import type { ByteReader } from '../byte-streams.ts'
import type { Outcome } from '../../../schemas/failures.ts'
import type { OpenVideoState } from '../../../schemas/videos/video-jobs.ts'
import type { VideoSource } from './video-providers.ts'
import type { VideoAttached, VideoRequest, VideoTarget, VideoView } from './videos.ts'

/**
 * A job that this process holds until `attempt` changes or its lease runs out. Instants are Postgres' own.
 * Design §3, §7.
 */
export interface ClaimedVideo {
  readonly id: string
  readonly organizationId: string
  readonly workspaceId: string
  readonly keyHash: string
  readonly requestId: string
  /** The fencing token. */
  readonly attempt: number
  readonly state: OpenVideoState
  readonly target: VideoTarget
  /** The request without its attached parts: a runner holds thousands of jobs at once. */
  readonly request: VideoRequest
  /** The row keeps more of the request: `VideoWork.attached` returns it. */
  readonly hasAttached: boolean
  /** A UUID, the same for all submissions of the job. */
  readonly submitToken: string
  /** Number of submissions that were begun. */
  readonly submissions: number
  /** Number of polls of the job; renewals, releases, `made` and `end` write it. */
  readonly polls: number
  /** Instant of the last submission; null before the first. */
  readonly submittedAtMs: number | null
  /** Instant at which the last submission's call must have ended. */
  readonly submitEndsAtMs: number | null
  readonly upstreamId: string | null
  readonly generationId: string | null
  /** Sources of a job in `storing`. */
  readonly made: VideoMade | null
  readonly createdAtMs: number
  /** Postgres' clock when the row was read or written; the other instants are compared with it. */
  readonly readAtMs: number
  /** The instant at which the job expires. */
  readonly expiresAtMs: number
}

/** The clips that the provider says it has made. */
export interface VideoMade {
  readonly sources: readonly VideoSource[]
}

/** A clip in object storage; it belongs to the job once the job's row names it. */
export interface StoredClip {
  readonly objectId: string
  readonly dataKeyId: string
  readonly sizeBytes: number
  readonly sha256: string
}

/** How a job ends. */
export type VideoEnd =
  | { readonly kind: 'completed'; readonly clips: readonly StoredClip[] }
  /**
   * @param mayHaveCost it is unknown whether the provider made the video: the operator's ledger records what
   * it may have cost
   */
  | { readonly kind: 'failed'; readonly error: string; readonly mayHaveCost: boolean }
  | { readonly kind: 'expired'; readonly error: string }

/**
 * Changes of rows by the runner. Every write is guarded by the claim: it returns null (or leaves the job out)
 * when another process has the row by now, and then nothing was written. Each method rejects when the store
 * cannot be reached: the write may then have been applied.
 */
export interface VideoWork {
  /**
   * Takes due jobs, of each provider by age of their due time. A row in `submitting` is due only when its
   * lease and its call's timeout have passed.
   * @param room number of jobs that this process takes now, by provider; none of a provider that is missing
   */
  claim(room: ReadonlyMap<string, number>, leaseMs: number): Promise<readonly ClaimedVideo[]>
  /** Providers with due jobs now, of any process, each with the number of jobs (counted to some hundreds). */
  due(): Promise<ReadonlyMap<string, number>>
  /** The large parts of a claimed job's request; null when another process has the row. */
  attached(claim: Pick<ClaimedVideo, 'id' | 'attempt'>): Promise<VideoAttached | null>
  /** Renews leases from now on. @returns ids of jobs that another process has */
  renew(
    claims: readonly Pick<ClaimedVideo, 'id' | 'attempt' | 'polls'>[],
    leaseMs: number,
  ): Promise<readonly string[]>
  /** Gives jobs back, due after `dueInMs`. */
  release(claims: readonly Pick<ClaimedVideo, 'id' | 'attempt' | 'polls'>[], dueInMs: number): Promise<void>
  /**
   * accepted, submitting → submitting: before the call. The lease is `leaseMs` plus `callMs`; no process
   * takes the row over before.
   */
  submitting(
    claim: ClaimedVideo,
    times: { readonly leaseMs: number; readonly callMs: number },
  ): Promise<ClaimedVideo | null>
  /**
   * submitting → accepted: the provider certainly has not taken the job. The lease is VIDEO_LEASE_MS from now
   * on.
   */
  unsubmitted(claim: ClaimedVideo): Promise<ClaimedVideo | null>
  /**
   * submitting → running. `owned`: another row has this id of the provider; `lost`: another process has the
   * row by now. The lease is VIDEO_LEASE_MS from now on.
   */
  submitted(claim: ClaimedVideo, upstreamId: string): Promise<ClaimedVideo | 'owned' | 'lost'>
  /** running → storing. */
  made(claim: ClaimedVideo, made: VideoMade): Promise<ClaimedVideo | null>
  /**
   * Ends a job: state, charge or return of its hold, ledger and webhook, in one transaction that it may share
   * with other jobs.
   * @returns the view; null when another process has the job, or the job has ended
   */
  end(claim: ClaimedVideo, end: VideoEnd): Promise<VideoView | null>
  /** Ids of the provider that rows own already, among rows with the same credential. */
  owned(claim: ClaimedVideo, upstreamIds: readonly string[]): Promise<ReadonlySet<string>>
  /**
   * The view of one job by its row; null when there is no such row. For a job that another process has ended,
   * or that this process ended without an answer.
   */
  view(id: string): Promise<VideoView | null>
  /**
   * Views of open jobs and of jobs that ended within the last minutes, page by page in the order of ids, for
   * a Redis that lost them.
   */
  views(after: string | null, countMax: number): Promise<readonly VideoView[]>
  /** Marks clips whose time is over in their rows. @returns ids of the objects to remove */
  expireClips(countMax: number): Promise<readonly string[]>
}

/** Puts clips into object storage, sealed. */
export interface VideoClips {
  /**
   * @param objectId of this try alone: the clip of an abandoned try stays for the sweep. Failures:
   * video_clip_invalid (no MP4), file_too_large, file_empty, storage_full, storage_unavailable, busy,
   * data_key_unavailable, upstream_failed, upstream_slow, and those of the reader
   */
  store(input: ClipInput): Promise<Outcome<StoredClip>>
  remove(objectId: string): Promise<Outcome<boolean>>
}

export interface ClipInput {
  readonly workspaceId: string
  /**
   * The id of the job, `-`, and a part of this try alone: while the job is open no sweep takes the object for
   * an orphan.
   */
  readonly objectId: string
  /** The bytes are read to their end, and closed on every path. */
  readonly bytes: ByteReader
  readonly bytesMax: number
  readonly signal: AbortSignal
}
