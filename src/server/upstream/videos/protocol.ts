import type { Outcome } from '../../../schemas/failures.ts'
import type { ByteReader } from '../../ports/byte-streams.ts'
import type { Egress } from '../../ports/egress/egress.ts'
import type { Endpoint, ProviderVideo } from '../../ports/models/models.ts'
import type {
  LookedUp,
  Polled,
  Submitted,
  VideoCallTimes,
  VideoOrder,
  VideoSource,
} from '../../ports/videos/video-providers.ts'
import type { Images } from './images.ts'
import type { GoneWatch } from './poll-verdict.ts'
import type { VideoLink } from './video-link.ts'

/** Everything that an order's calls need: the key's link and the services around it. */
export interface WayDeps {
  readonly link: VideoLink
  readonly egress: Egress
  readonly images: Images
  readonly video: ProviderVideo
  /** The endpoint of the catalogue; null when the catalogue no longer has it. */
  readonly endpoint: Endpoint | null
  readonly gone: GoneWatch
}

export interface ClipAt {
  readonly upstreamId: string
  readonly source: Exclude<VideoSource, { kind: 'inline' }>
}

/** A wire protocol of video jobs, as `VideoProvider`. Design §10. */
export interface VideoProtocol {
  submit(order: VideoOrder, deps: WayDeps, times: VideoCallTimes): Promise<Submitted>
  poll(order: VideoOrder, upstreamId: string, deps: WayDeps, times: VideoCallTimes): Promise<Polled>
  lookup(order: VideoOrder, sinceMs: number, deps: WayDeps, times: VideoCallTimes): Promise<LookedUp>
  download(
    order: VideoOrder,
    clip: ClipAt,
    deps: WayDeps,
    times: VideoCallTimes,
  ): Promise<Outcome<ByteReader>>
  cancel(order: VideoOrder, upstreamId: string, deps: WayDeps, times: VideoCallTimes): Promise<void>
}
