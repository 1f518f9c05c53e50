import type { ByteReader } from '../byte-streams.ts'
import type { Outcome } from '../../../schemas/failures.ts'
import type { OpenVideoState } from '../../../schemas/videos/video-jobs.ts'
import type { VideoSource } from './video-providers.ts'
import type { VideoAttached, VideoRequest, VideoTarget, VideoView } from './videos.ts'

/**
 * A job that is this process's until `attempt` changes or its lease runs out. Instants are Postgres' own.
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
  /** Without what is attached: thousands of jobs are held at once. */
  readonly request: VideoRequest
  /** The row keeps more of the request: `VideoWork.attached` tells it. */
  readonly hasAttached: boolean
  /** The same for all submissions of the job. A UUID. */
  readonly submitToken: string
  /** Submissions that were begun. */
  readonly submissions: number
  /** How often the provider was asked for the job; renewals, releases, `made` and `end` write it. */
  readonly polls: number
  /** Of the last submission; null before the first. */
  readonly submittedAtMs: number | null
  /** When the last submission's call must have ended. */
  readonly submitEndsAtMs: number | null
  readonly upstreamId: string | null
  readonly generationId: string | null
  /** Of one in `storing`. */
  readonly made: VideoMade | null
  readonly createdAtMs: number
  /** Postgres' clock when this was read or written: what the others are distances from. */
  readonly readAtMs: number
  /** Beyond it the job expires. */
  readonly expiresAtMs: number
}

/** What the provider says it has made. */
export interface VideoMade {
  readonly sources: readonly VideoSource[]
}

/** A clip that lies in object storage, and belongs to the job once its row says so. */
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
   * @param mayHaveCost nobody knows whether the provider made it: the operator's books say what it may have
   * cost
   */
  | { readonly kind: 'failed'; readonly error: string; readonly mayHaveCost: boolean }
  | { readonly kind: 'expired'; readonly error: string }

/**
 * What the runner does with rows. Every write is guarded by the claim: it answers null (or leaves the job
 * out) when the row is another's by now, and then nothing was written. Each rejects when the store cannot be
 * reached: what was asked may then have happened.
 */
export interface VideoWork {
  /**
   * Takes due jobs, those of each provider by age of their due time. A row in `submitting` is due only when
   * its lease and its call's time-out have passed.
   * @param room how many of each provider this process takes now; of providers that are not in it none
   */
  claim(room: ReadonlyMap<string, number>, leaseMs: number): Promise<readonly ClaimedVideo[]>
  /** Providers that have due jobs now, whoever made them, each with how many (counted to some hundreds). */
  due(): Promise<ReadonlyMap<string, number>>
  /** What belongs to the request of a claimed job, and is large; null when the row is another's. */
  attached(claim: Pick<ClaimedVideo, 'id' | 'attempt'>): Promise<VideoAttached | null>
  /** Prolongs leases from now on. @returns ids that are no longer ours */
  renew(
    claims: readonly Pick<ClaimedVideo, 'id' | 'attempt' | 'polls'>[],
    leaseMs: number,
  ): Promise<readonly string[]>
  /** Gives jobs back, due after `dueInMs`. */
  release(claims: readonly Pick<ClaimedVideo, 'id' | 'attempt' | 'polls'>[], dueInMs: number): Promise<void>
  /**
   * accepted, submitting → submitting: before the call. Its lease is `leaseMs` and `callMs`; nobody takes it
   * over before.
   */
  submitting(
    claim: ClaimedVideo,
    times: { readonly leaseMs: number; readonly callMs: number },
  ): Promise<ClaimedVideo | null>
  /** submitting → accepted: the provider surely has not taken it. The lease is VIDEO_LEASE_MS from now on. */
  unsubmitted(claim: ClaimedVideo): Promise<ClaimedVideo | null>
  /**
   * submitting → running. `owned`: another row has this id of the provider; `lost`: the row is another's by
   * now. The lease is VIDEO_LEASE_MS from now on.
   */
  submitted(claim: ClaimedVideo, upstreamId: string): Promise<ClaimedVideo | 'owned' | 'lost'>
  /** running → storing. */
  made(claim: ClaimedVideo, made: VideoMade): Promise<ClaimedVideo | null>
  /**
   * Ends a job: state, charge or return of its hold, ledger, webhook, in one transaction that it may share
   * with others.
   * @returns the view, null when the job is another's or has ended
   */
  end(claim: ClaimedVideo, end: VideoEnd): Promise<VideoView | null>
  /** Which ids of the provider rows own already, among those called with the same credential. */
  owned(claim: ClaimedVideo, upstreamIds: readonly string[]): Promise<ReadonlySet<string>>
  /**
   * One job as its row says; null when there is no such row. Somebody else has ended it, or we have and did
   * not hear of it.
   */
  view(id: string): Promise<VideoView | null>
  /**
   * Views of open jobs and of those that ended within the last minutes, page by page in the order of ids:
   * Redis was lost.
   */
  views(after: string | null, countMax: number): Promise<readonly VideoView[]>
  /** Clips whose time is over: their rows say so first. @returns object ids to remove */
  expireClips(countMax: number): Promise<readonly string[]>
}

/** Puts clips into object storage, sealed. */
export interface VideoClips {
  /**
   * @param objectId of this try alone: a clip of a try that was overtaken stays behind for the sweep
   * Failures: video_clip_invalid (no MP4), file_too_large, file_empty, storage_full, storage_unavailable,
   * busy, data_key_unavailable, upstream_failed, upstream_slow, and what the reader says
   */
  store(input: ClipInput): Promise<Outcome<StoredClip>>
  remove(objectId: string): Promise<Outcome<boolean>>
}

export interface ClipInput {
  readonly workspaceId: string
  /**
   * The id of its job, `-`, and what is of this try alone: while the job is open no sweep takes it for an
   * orphan.
   */
  readonly objectId: string
  /** Pulled to its end, and closed on every path. */
  readonly bytes: ByteReader
  readonly bytesMax: number
  readonly signal: AbortSignal
}
