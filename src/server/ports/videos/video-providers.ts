import type { Outcome } from '../../../schemas/failures.ts'
import type { ByteReader } from '../byte-streams.ts'
import type { ProviderVideo } from '../models/models.ts'
import type { VideoRequest, VideoTarget } from './videos.ts'

export interface VideoOrder {
  readonly jobId: string
  readonly organizationId: string
  readonly workspaceId: string
  /** For the audit event of a released credential. */
  readonly keyHash: string
  readonly requestId: string
  readonly target: VideoTarget
  readonly request: VideoRequest
  readonly submitToken: string
}

export interface VideoCallTimes {
  /** `performance.now()` milliseconds. */
  readonly endsAt: number
  readonly signal: AbortSignal
  /**
   * Called in the tick that writes the request. False: the lease has expired by this process's clock; nothing
   * is sent, and the result is `unsent`.
   */
  readonly mayWrite: () => boolean
}

/** The result of a submission. Texts may reach the caller; they contain no credential and no host. */
export type Submitted =
  | { readonly kind: 'taken'; readonly upstreamId: string }
  /** The provider will never generate the video: the job fails. */
  | { readonly kind: 'refused'; readonly error: string }
  /** Certainly not accepted: the job may be sent again after `retryInMs`. */
  | { readonly kind: 'unsent'; readonly retryInMs: number; readonly error: string }
  /** It may have been accepted. The text is `provider_outcome_unknown: …`, which the caller sees if nothing else becomes known. */
  | { readonly kind: 'unknown'; readonly error: string }

export type Polled =
  | { readonly kind: 'running'; readonly retryInMs: number | null }
  | { readonly kind: 'made'; readonly sources: readonly VideoSource[] }
  /** The job failed, was refused by the provider's filter, or no longer exists. */
  | { readonly kind: 'failed'; readonly error: string }
  /** The poll has no result; the next poll may have one. */
  | { readonly kind: 'unavailable'; readonly retryInMs: number | null; readonly error: string }

/** Source of a clip, for `download` of the same provider. Stored in the row. */
export type VideoSource =
  | { readonly kind: 'content'; readonly index: number }
  /** A URL that the provider returned: the connection is vetted. */
  | { readonly kind: 'url'; readonly url: string }
  /** Bytes in base64, contained in the response to the poll. */
  | { readonly kind: 'inline'; readonly base64: string }

export type LookedUp =
  /** The list is complete back to the given time; the job is one of these entries or was not accepted. Newest first. */
  | { readonly kind: 'complete'; readonly upstreamIds: readonly string[] }
  /** The job may be one of these entries, or one that the list does not contain. */
  | { readonly kind: 'partial'; readonly upstreamIds: readonly string[] }
  | { readonly kind: 'unavailable'; readonly error: string }

/** No method rejects or throws. */
export interface VideoProvider {
  readonly slug: string
  readonly video: ProviderVideo
  submit(order: VideoOrder, times: VideoCallTimes): Promise<Submitted>
  poll(order: VideoOrder, upstreamId: string, times: VideoCallTimes): Promise<Polled>
  /** Jobs of the provider since the given time that look like this one; only for `submit: 'lookup'`. */
  lookup(order: VideoOrder, sinceMs: number, times: VideoCallTimes): Promise<LookedUp>
  /** Failures: upstream_failed, upstream_slow, upstream_invalid (another type), destination_refused, video_clip_gone. */
  download(
    order: VideoOrder,
    upstreamId: string,
    source: VideoSource,
    times: VideoCallTimes,
  ): Promise<Outcome<ByteReader>>
  /** Asks the provider to stop; the result is ignored. */
  cancel(order: VideoOrder, upstreamId: string, times: VideoCallTimes): Promise<void>
}

export interface VideoProviders {
  /** Null: the catalogue no longer has such an endpoint. */
  of(target: Pick<VideoTarget, 'endpoint' | 'provider'>): VideoProvider | null
  readonly all: readonly VideoProvider[]
}
