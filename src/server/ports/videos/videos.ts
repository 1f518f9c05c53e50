import type { Outcome } from '../../../schemas/failures.ts'
import type { VideoStatus } from '../../../schemas/videos/video-jobs.ts'
import type { IdempotencyClaim } from '../idempotency.ts'
import type { KeyRecord } from '../keys/keys.ts'

/** Checked against the model and filled with its defaults: all that a provider gets. */
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
  /** Empty when there are frames. Audio and video only where the model takes them. */
  readonly references: readonly { readonly kind: 'image' | 'audio' | 'video'; readonly url: string }[]
  readonly creativity: number | null
  readonly upscaleFactor: number | null
  /** Fields of the matched provider's entry, only those that the model lets through. */
  readonly passthrough: Readonly<Record<string, unknown>>
  /** The provider's id of the job that this one continues. */
  readonly previousUpstreamId: string | null
  /** End-user id that the caller sent. */
  readonly user: string | null
}

/** May be megabytes; needed only for the calls that send the request. */
export type VideoAttached = Pick<VideoRequest, 'frames' | 'references' | 'passthrough'>

/** Chosen at acceptance. */
export interface VideoTarget {
  readonly model: string
  readonly provider: string
  /** Tag in the catalogue: `<provider slug>/<upstream model>`. */
  readonly endpoint: string
  readonly upstreamModel: string
  /** Name of the workspace's secret that the call uses; null: the operator's credential. */
  readonly ownSecret: string | null
}

export interface VideoInput {
  readonly key: KeyRecord
  readonly workspaceId: string
  readonly requestId: string
  readonly target: VideoTarget
  readonly request: VideoRequest
  /** Whole nano-USD: the cost of the video, and the most that the job may cost. */
  readonly costNano: number
  /** The endpoint has no price: every limit that counts it refuses the job. */
  readonly isUnpriced: boolean
  /** Receives the end of the job; null: the workspace's default address, if it has one at acceptance. */
  readonly callbackUrl: string | null
  readonly sessionId: string | null
  readonly once: VideoOnce | null
}

/** Present with an `Idempotency-Key`. */
export interface VideoOnce {
  readonly claim: IdempotencyClaim
  /** Lower-case hex SHA-256 of the body. */
  readonly bodySha256: string
  /** JSON for the caller, kept in the transaction that makes the job. */
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
  /** Usage of a completed job. Null cost: unpriced. */
  readonly usage: { readonly costNano: number | null; readonly isByok: boolean } | null
}

export interface VideoOutput {
  readonly jobId: string
  readonly index: number
  readonly objectId: string
  readonly workspaceId: string
  readonly dataKeyId: string
  readonly sizeBytes: number
  readonly sha256: string
  readonly createdAt: Date
}

export interface PreviousVideo {
  readonly provider: string
  readonly upstreamId: string
  /** The secret of the call; null: the operator's credential. Only the same account of the provider knows the job. */
  readonly ownSecret: string | null
  readonly seconds: number
  readonly costNano: number
}

/** Failure of all: store_unavailable. */
export interface VideoJobs {
  /**
   * Row, hold and idempotency record in one transaction, then the live view and a wake-up, which may fail
   * unseen. The same claim again returns its job. Failures: credit_exhausted, key_limit_exceeded,
   * budget_exceeded, cost_unbounded, video_jobs_full, workspace_unknown (deleted meanwhile),
   * idempotency_mismatch, busy.
   */
  accept(input: VideoInput): Promise<Outcome<VideoView>>
  /** Reads the live view, or the row when there is no view. Failure: video_unknown. */
  get(workspaceId: string, id: string): Promise<Outcome<VideoView>>
  /** Newest first. @param after a job's id; the job need not exist any more */
  list(
    workspaceId: string,
    page: { readonly after: string | null; readonly limit: number },
  ): Promise<Outcome<VideoPage>>
  /** Ends a job that has not ended, and returns its hold. Failures: video_unknown, video_ended. */
  cancel(workspaceId: string, id: string): Promise<Outcome<VideoView>>
  /** Failures: video_unknown, video_unfinished, video_output_unknown (no such index), video_expired (the clip is gone). */
  output(workspaceId: string, id: string, index: number): Promise<Outcome<VideoOutput>>
  /** Failures: video_unknown, video_unfinished. */
  previous(workspaceId: string, id: string): Promise<Outcome<PreviousVideo>>
}

export interface VideoPage {
  readonly videos: readonly VideoView[]
  readonly hasMore: boolean
}

/** The live view in Redis. Never rejects: without Redis there are no views, and rows are read. */
export interface VideoViews {
  /** Unless the stored view has a newer status; within VIDEO_VIEW_MS_MAX. @returns false: Redis did not take the view */
  put(view: VideoView): Promise<boolean>
  /** @param msMax left out: as long as `put`; longer where no caller waits */
  putAll(views: readonly VideoView[], msMax?: number): Promise<boolean>
  get(id: string): Promise<VideoView | null>
  /** Notifies runners of rows to claim. */
  wake(what: VideoWake): void
  /** @returns a function that removes the listener */
  onWake(listener: (what: VideoWake) => void): () => void
}

/** `jobs`: one was accepted or released. `cancelled`: for the runner that holds the job. `webhooks`: a delivery is due. */
export type VideoWake =
  | { readonly kind: 'jobs'; readonly provider: string }
  | { readonly kind: 'cancelled'; readonly id: string }
  | { readonly kind: 'webhooks' }
