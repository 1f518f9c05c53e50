import type { Model } from '../../schemas/models/models.ts'
import type { VideoModel } from '../../schemas/videos/video-models.ts'
import type { VideoFacts } from '../ports/models/models.ts'
import type { EndpointEntry, ModelEntry } from './format.ts'

/**
 * Item of GET /videos/models. B2.1. @param endpoints endpoints of the shown id; the first priced one gives
 * the prices
 */
export function wireVideoModel(
  wire: Model,
  facts: VideoFacts,
  { video }: ModelEntry,
  endpoints: readonly EndpointEntry[],
): VideoModel {
  const priced = endpoints.find((endpoint) => endpoint.video?.pricing_skus !== undefined)
  return {
    id: wire.id,
    canonical_slug: wire.canonical_slug,
    name: wire.name,
    created: wire.created,
    ...(wire.description === undefined ? {} : { description: wire.description }),
    ...(wire.hugging_face_id === undefined ? {} : { hugging_face_id: wire.hugging_face_id }),
    allowed_passthrough_parameters: [...facts.passthroughParameters],
    creativity: copied(facts.creativity),
    generate_audio: facts.generatesAudio,
    pricing_skus: video?.pricing_skus ?? priced?.video?.pricing_skus ?? null,
    seed: facts.takesSeed,
    supported_aspect_ratios: copied(facts.aspectRatios),
    supported_durations: copied(facts.durations),
    supported_frame_images: copied(facts.frameImages),
    supported_resolutions: copied(facts.resolutions),
    supported_sizes: copied(facts.sizes),
    upscale_factor: facts.upscaleFactor,
  }
}

function copied<T>(values: readonly T[] | null): T[] | null {
  return values === null ? null : [...values]
}
