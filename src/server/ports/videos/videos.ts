import type { Outcome } from '../../../schemas/failures.ts'
import type { VideoStatus } from '../../../schemas/videos/video-jobs.ts'
import type { IdempotencyClaim } from '../idempotency.ts'
import type { KeyRecord } from '../keys/keys.ts'

/** The request as sent to the provider: checked against the model and filled with its defaults. */
export interface VideoRequest {
  readonly prompt: string | null
  readonly seconds: number
  /** `480p`, `720p`, …; null when the model has none. */
  readonly resolution: string | null
  /** `16:9`, …; null when the model has none. */
  readonly aspectRatio: string | null
  /** In pixels; null: not known. */
  readonly size: { readonly width: number; readonly height: number } | null
  readonly seed: number | null
  readonly hasAudio: boolean
  /** HTTPS or `data:` URLs. */
  readonly frames: readonly { readonly frame: 'first_frame' | 'last_frame'; readonly url: string }[]
  /** Empty when there are frames. Audio and video only if the model accepts them. */
  readonly references: readonly { readonly kind: 'image' | 'audio' | 'video'; readonly url: string }[]
  readonly creativity: number | null
  readonly upscaleFactor: number | null
  /** Fields of the matching provider's entry that the model allows. */
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
  /** Whole nano-USD: the cost of the video, which is also the maximum cost of the job. */
  readonly costNano: number
  /** The endpoint has no price: every limit against which it counts refuses the job. */
  readonly isUnpriced: boolean
  /** URL that is notified when the job ends; null: the workspace's default address, if it has one at acceptance. */
  readonly callbackUrl: string | null
  readonly sessionId: string | null
  readonly once: VideoOnce | null
}

/** Present with an `Idempotency-Key`. */
export interface VideoOnce {
  readonly claim: IdempotencyClaim
  /** Lower-case hex SHA-256 of the body. */
  readonly bodySha256: string
  /** JSON for the caller, stored in the transaction that creates the job. */
  readonly answer: (view: VideoView) => string
}

/** The state of a job for callers that poll it, small enough to be kept in Redis. */
export interface VideoView {
  readonly id: string
  readonly workspaceId: string
  readonly status: VideoStatus
  readonly generationId: string | null
  readonly error: string | null
  /** Number of clips that can be downloaded, or could be before they expired. */
  readonly outputs: number
  /** Usage of a completed job. Null cost: the endpoint has no price. */
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
  /** The secret of the call; null: the operator's credential. The provider knows the job only under the same account. */
  readonly ownSecret: string | null
  readonly seconds: number
  readonly costNano: number
}

/** Failure of all: store_unavailable. */
export interface VideoJobs {
  /**
   * Writes row, hold and idempotency record in one transaction, then the live view and a wake-up, whose
   * failures are ignored. A repetition with the same claim returns the first job. Failures: credit_exhausted,
   * key_limit_exceeded, budget_exceeded, cost_unbounded, video_jobs_full, workspace_unknown (deleted
   * meanwhile), idempotency_mismatch, busy.
   */
  accept(input: VideoInput): Promise<Outcome<VideoView>>
  /** Reads the live view, or the row when there is no view. Failure: video_unknown. */
  get(workspaceId: string, id: string): Promise<Outcome<VideoView>>
  /** Newest first. @param after id of a job, which may have been deleted */
  list(
    workspaceId: string,
    page: { readonly after: string | null; readonly limit: number },
  ): Promise<Outcome<VideoPage>>
  /** Ends a job that has not ended, and returns its hold. Failures: video_unknown, video_ended. */
  cancel(workspaceId: string, id: string): Promise<Outcome<VideoView>>
  /** Failures: video_unknown, video_unfinished, video_output_unknown (no such index), video_expired (the clip has been removed). */
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
  /** Stores a view, unless the stored view has a newer status; waits at most VIDEO_VIEW_MS_MAX. @returns false when Redis did not accept the view */
  put(view: VideoView): Promise<boolean>
  /** @param msMax left out: the same as for `put`; may be longer when no caller waits */
  putAll(views: readonly VideoView[], msMax?: number): Promise<boolean>
  get(id: string): Promise<VideoView | null>
  /** Notifies runners of rows to claim. */
  wake(what: VideoWake): void
  /** @returns a function that removes the listener */
  onWake(listener: (what: VideoWake) => void): () => void
}

/** `jobs`: a job was accepted or released. `cancelled`: a job was cancelled, for the runner that holds it. `webhooks`: a delivery is due. */
export type VideoWake =
  | { readonly kind: 'jobs'; readonly provider: string }
  | { readonly kind: 'cancelled'; readonly id: string }
  | { readonly kind: 'webhooks' }
