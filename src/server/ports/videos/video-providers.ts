import type { Outcome } from '../../../schemas/failures.ts'
import type { ByteReader } from '../byte-streams.ts'
import type { ProviderVideo } from '../models/models.ts'
import type { VideoRequest, VideoTarget } from './videos.ts'

/** A job as a provider is asked for it. */
export interface VideoOrder {
  readonly jobId: string
  readonly organizationId: string
  readonly workspaceId: string
  /** Of the key that submitted it, for the audit of a released credential. */
  readonly keyHash: string
  readonly requestId: string
  readonly target: VideoTarget
  readonly request: VideoRequest
  readonly submitToken: string
}

/** When a call has to end, and who may end it. */
export interface VideoCallTimes {
  /** `performance.now()` milliseconds. */
  readonly endsAt: number
  readonly signal: AbortSignal
  /**
   * Asked in the tick that writes the request: false when the job's lease is over by our clock, and then
   * nothing is sent and the answer is `unsent`. Design §7.
   */
  readonly mayWrite: () => boolean
}

/** What became of a submission. Texts may reach the caller; they hold no credential and no host. */
export type Submitted =
  | { readonly kind: 'taken'; readonly upstreamId: string }
  /** The provider will not make it, now or later: the job fails. */
  | { readonly kind: 'refused'; readonly error: string }
  /** Surely not taken: it may be sent again after so long. */
  | { readonly kind: 'unsent'; readonly retryInMs: number; readonly error: string }
  /**
   * It may have been taken. The text says `provider_outcome_unknown: …`: a caller reads it where nothing else
   * is learned.
   */
  | { readonly kind: 'unknown'; readonly error: string }

export type Polled =
  | { readonly kind: 'running'; readonly retryInMs: number | null }
  | { readonly kind: 'made'; readonly sources: readonly VideoSource[] }
  /** It failed, was refused by its filter, or is gone. */
  | { readonly kind: 'failed'; readonly error: string }
  /** Nothing was learned; the next poll may. */
  | { readonly kind: 'unavailable'; readonly retryInMs: number | null; readonly error: string }

/** Where the bytes of one clip are: what `download` of the same provider understands. Kept in the row. */
export type VideoSource =
  | { readonly kind: 'content'; readonly index: number }
  /** Of the caller's world or a result host: vetted. */
  | { readonly kind: 'url'; readonly url: string }
  /** Bytes that the answer to the poll held, base64. */
  | { readonly kind: 'inline'; readonly base64: string }

export type LookedUp =
  /** The list is complete back to the given instant: these may be ours, newest first. */
  | { readonly kind: 'complete'; readonly upstreamIds: readonly string[] }
  /** These may be ours, and there may be others. */
  | { readonly kind: 'partial'; readonly upstreamIds: readonly string[] }
  | { readonly kind: 'unavailable'; readonly error: string }

/** One provider, as the engine uses it. Nothing here rejects or throws. */
export interface VideoProvider {
  readonly slug: string
  readonly video: ProviderVideo
  submit(order: VideoOrder, times: VideoCallTimes): Promise<Submitted>
  poll(order: VideoOrder, upstreamId: string, times: VideoCallTimes): Promise<Polled>
  /** Jobs of the provider since an instant that look like this one; only of `submit: 'lookup'`. */
  lookup(order: VideoOrder, sinceMs: number, times: VideoCallTimes): Promise<LookedUp>
  /**
   * The bytes of a clip. Failures: upstream_failed, upstream_slow, upstream_invalid (another type),
   * destination_refused, video_clip_gone.
   */
  download(
    order: VideoOrder,
    upstreamId: string,
    source: VideoSource,
    times: VideoCallTimes,
  ): Promise<Outcome<ByteReader>>
  /** Asks to stop; nobody waits for what comes of it. */
  cancel(order: VideoOrder, upstreamId: string, times: VideoCallTimes): Promise<void>
}

export interface VideoProviders {
  /** Null: the catalogue has no such endpoint any more. */
  of(target: Pick<VideoTarget, 'endpoint' | 'provider'>): VideoProvider | null
  /** All that can make videos. */
  readonly all: readonly VideoProvider[]
}
