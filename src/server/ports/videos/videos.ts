import type { Outcome } from '../../../schemas/failures.ts'
import type { VideoStatus } from '../../../schemas/videos/video-jobs.ts'
import type { IdempotencyClaim } from '../idempotency.ts'
import type { KeyRecord } from '../keys/keys.ts'

/**
 * What to make, checked against the model and filled with its defaults: all that a provider is told. §2.3.
 */
export interface VideoRequest {
  readonly prompt: string | null
  readonly seconds: number
  /** `480p`, `720p`, …; null when the model has none. */
  readonly resolution: string | null
  /** `16:9`, …; null when the model has none. */
  readonly aspectRatio: string | null
  /** Pixels, where they are known. */
  readonly size: { readonly width: number; readonly height: number } | null
  readonly seed: number | null
  readonly hasAudio: boolean
  /** HTTPS or `data:` URLs. */
  readonly frames: readonly { readonly frame: 'first_frame' | 'last_frame'; readonly url: string }[]
  /** Empty when there are frames. Of audio and video only where the model takes them. C27. */
  readonly references: readonly { readonly kind: 'image' | 'audio' | 'video'; readonly url: string }[]
  readonly creativity: number | null
  readonly upscaleFactor: number | null
  /** Of the matched provider's entry, only what the model lets through. */
  readonly passthrough: Readonly<Record<string, unknown>>
  /** The provider's id of the job that this one goes on from. */
  readonly previousUpstreamId: string | null
  /** End-user id of the caller. */
  readonly user: string | null
}

/** What of a request may be megabytes, and is needed for the calls alone that send it. */
export type VideoAttached = Pick<VideoRequest, 'frames' | 'references' | 'passthrough'>

/** Who makes it: chosen at acceptance. */
export interface VideoTarget {
  readonly model: string
  /** Slug. */
  readonly provider: string
  /** Of the catalogue: `<provider slug>/<upstream model>`. */
  readonly endpoint: string
  readonly upstreamModel: string
  /** Name of the workspace's secret that it is called with; null: the operator's credential. */
  readonly ownSecret: string | null
}

export interface VideoInput {
  readonly key: KeyRecord
  readonly workspaceId: string
  readonly requestId: string
  readonly target: VideoTarget
  readonly request: VideoRequest
  /** What it costs when it is made, and at most: whole nano-USD. */
  readonly costNano: number
  /** The endpoint has no price: no limit that counts it lets it pass. C40. */
  readonly isUnpriced: boolean
  /**
   * Where its end is told; null: at the workspace's default address, if it has one when the job is accepted.
   */
  readonly callbackUrl: string | null
  readonly sessionId: string | null
  /** Of the `Idempotency-Key`. */
  readonly once: VideoOnce | null
}

/** What a repetition is known by, and what it gets. C16. */
export interface VideoOnce {
  readonly turn: IdempotencyClaim
  /** Lower-case hex, of the body. */
  readonly bodySha256: string
  /** The JSON that the caller gets, to be kept in the transaction that makes the job. */
  readonly answer: (view: VideoView) => string
}

/** A job as pollers see it, small enough to be kept in Redis. */
export interface VideoView {
  readonly id: string
  readonly workspaceId: string
  readonly status: VideoStatus
  readonly generationId: string | null
  readonly error: string | null
  /** Clips that can be downloaded, or could before they expired. */
  readonly outputs: number
  /** Of a completed one. Null cost: unpriced. */
  readonly usage: { readonly costNano: number | null; readonly isByok: boolean } | null
}

/** A stored clip. */
export interface VideoOutput {
  readonly jobId: string
  readonly index: number
  readonly objectId: string
  readonly workspaceId: string
  readonly dataKeyId: string
  readonly sizeBytes: number
  /** Lower-case hex, of the plain bytes. */
  readonly sha256: string
  readonly createdAt: Date
}

/** What a later job may go on from. */
export interface PreviousVideo {
  readonly provider: string
  readonly upstreamId: string
  /** What it was called with: only the same account of the provider knows it. */
  readonly ownSecret: string | null
  readonly seconds: number
  readonly costNano: number
}

/** Video jobs, for those who ask for them. Failure of all: store_unavailable. Design §7. */
export interface VideoJobs {
  /**
   * Row, hold and idempotency record in one transaction; then the live view and a wake-up, which may fail
   * unseen. The same turn again gives the job that it made.
   * Failures: credit_exhausted, key_limit_exceeded, budget_exceeded, cost_unbounded, video_jobs_full (the
   * workspace has too many open ones), workspace_unknown (deleted meanwhile), idempotency_mismatch, busy.
   */
  accept(input: VideoInput): Promise<Outcome<VideoView>>
  /** By the live view; by the row when it is not there. Failure: video_unknown. */
  get(workspaceId: string, id: string): Promise<Outcome<VideoView>>
  /** Newest first. @param after a job's id, which need not exist any more */
  list(
    workspaceId: string,
    page: { readonly after: string | null; readonly limit: number },
  ): Promise<Outcome<VideoPage>>
  /** Ends a job that has not ended: its hold returns. Failures: video_unknown, video_ended. */
  cancel(workspaceId: string, id: string): Promise<Outcome<VideoView>>
  /**
   * Failures: video_unknown, video_unfinished (not completed), video_output_unknown (no such index),
   * video_expired (the clip is gone).
   */
  output(workspaceId: string, id: string, index: number): Promise<Outcome<VideoOutput>>
  /** Failures: video_unknown, video_unfinished. */
  previous(workspaceId: string, id: string): Promise<Outcome<PreviousVideo>>
}

export interface VideoPage {
  readonly videos: readonly VideoView[]
  readonly hasMore: boolean
}

/** The live view in Redis. It never rejects: without Redis there are no views, and rows are read. */
export interface VideoViews {
  /**
   * Kept only if its status is not behind the one that is there. Waits no longer than VIDEO_VIEW_MS_MAX.
   * @returns false when Redis did not take it
   */
  put(view: VideoView): Promise<boolean>
  /** @param msMax as long as `put` when left out; more where nobody waits for it */
  putAll(views: readonly VideoView[], msMax?: number): Promise<boolean>
  get(id: string): Promise<VideoView | null>
  /** Tells runners that there is something to claim. */
  wake(what: VideoWake): void
  /** @returns stops listening */
  onWake(told: (what: VideoWake) => void): () => void
}

/**
 * `jobs`: a job was accepted or freed. `cancelled`: one was cancelled, for whoever holds it. `webhooks`: a
 * delivery is due.
 */
export type VideoWake =
  | { readonly kind: 'jobs'; readonly provider: string }
  | { readonly kind: 'cancelled'; readonly id: string }
  | { readonly kind: 'webhooks' }
