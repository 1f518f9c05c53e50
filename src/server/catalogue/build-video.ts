import { hasVideo, type Protocol, type VideoProtocolName } from '../../schemas/models/protocols.ts'
import {
  VIDEO_CONCURRENCY_DEFAULT,
  VIDEO_LOCAL_CONCURRENCY_DEFAULT,
  VIDEO_LOCAL_POLL_FIRST_MS_DEFAULT,
  VIDEO_LOCAL_POLL_MAX_MS_DEFAULT,
  VIDEO_LOCAL_POLLS_PER_SECOND_DEFAULT,
  VIDEO_POLL_FIRST_MS_DEFAULT,
  VIDEO_POLL_MAX_MS_DEFAULT,
  VIDEO_POLLS_PER_SECOND_DEFAULT,
  VIDEO_SECONDS_DEFAULT,
  VIDEO_SUBMIT_TIMEOUT_MS_DEFAULT,
} from '../../schemas/videos/video-model-limits.ts'
import type { SubmitKind } from '../../schemas/videos/video-models.ts'
import { videoPricing, type VideoPricing } from '../../schemas/videos/video-prices.ts'
import type { ProviderVideo, VideoFacts } from '../ports/models/models.ts'
import type { EndpointEntry, ModelEntry } from './format.ts'
import type { ModelVideoEntry, ProviderVideoEntry } from './video-format.ts'

export const TOKEN_HEADER_DEFAULT = 'Idempotency-Key'
/**
 * How a submission is recognized when its answer was lost. OpenAI lists its jobs; Google does not list a
 * model's operations, so a submission is repeated blindly.
 */
const SUBMIT: Readonly<Record<VideoProtocolName, SubmitKind>> = {
  openai: 'lookup',
  google: 'blind',
  local: 'token',
}

export function submitKindOf(protocol: Protocol, entry: ProviderVideoEntry = {}): SubmitKind | null {
  return hasVideo(protocol) ? (entry.submit ?? SUBMIT[protocol]) : null
}

/** @param entry a checked entry @returns null when the protocol has no calls for video */
export function buildProviderVideo(protocol: Protocol, entry: ProviderVideoEntry = {}): ProviderVideo | null {
  const submit = submitKindOf(protocol, entry)
  if (submit === null) return null
  const standard = protocol === 'local' ? OWN : REMOTE
  const first = entry.poll_first_ms ?? Math.min(standard.first, entry.poll_max_ms ?? Infinity)
  return {
    submit,
    tokenHeader: submit === 'token' ? (entry.token_header ?? TOKEN_HEADER_DEFAULT) : null,
    pollsPerSecond: entry.polls_per_second ?? standard.perSecond,
    pollFirstMs: first,
    pollMaxMs: entry.poll_max_ms ?? Math.max(standard.max, first),
    submitTimeoutMs: entry.submit_timeout_ms ?? VIDEO_SUBMIT_TIMEOUT_MS_DEFAULT,
    concurrency: entry.concurrency ?? standard.concurrency,
    takesUrls: entry.takes_urls ?? false,
    ...(entry.lookup_quiet_ms === undefined ? {} : { lookupQuietMs: entry.lookup_quiet_ms }),
  }
}

const REMOTE = {
  perSecond: VIDEO_POLLS_PER_SECOND_DEFAULT,
  first: VIDEO_POLL_FIRST_MS_DEFAULT,
  max: VIDEO_POLL_MAX_MS_DEFAULT,
  concurrency: VIDEO_CONCURRENCY_DEFAULT,
} as const
const OWN = {
  perSecond: VIDEO_LOCAL_POLLS_PER_SECOND_DEFAULT,
  first: VIDEO_LOCAL_POLL_FIRST_MS_DEFAULT,
  max: VIDEO_LOCAL_POLL_MAX_MS_DEFAULT,
  concurrency: VIDEO_LOCAL_CONCURRENCY_DEFAULT,
} as const

export function makesVideo(entry: ModelEntry): boolean {
  return entry.architecture?.output_modalities?.includes('video') ?? false
}

/** Null when the model makes no video. A video model without facts in the file accepts any request. */
export function videoFacts(entry: ModelEntry): VideoFacts | null {
  return makesVideo(entry) ? factsOf(entry.video ?? {}) : null
}

function factsOf(entry: ModelVideoEntry): VideoFacts {
  return {
    durations: entry.durations ?? null,
    resolutions: entry.resolutions ?? null,
    aspectRatios: entry.aspect_ratios ?? null,
    sizes: entry.sizes ?? null,
    frameImages: entry.frame_images ?? null,
    generatesAudio: entry.generate_audio ?? null,
    takesSeed: entry.seed ?? null,
    creativity: entry.creativity ?? null,
    upscaleFactor: entry.upscale_factor ?? null,
    passthroughParameters: entry.passthrough_parameters ?? [],
    isPromptOptional: entry.prompt_optional ?? false,
    takesAudioReferences: entry.audio_references ?? false,
    takesVideoReferences: entry.video_references ?? false,
    takesPreviousJob: entry.previous_job ?? false,
    defaults: {
      seconds: entry.defaults?.seconds ?? entry.durations?.[0] ?? VIDEO_SECONDS_DEFAULT,
      resolution: entry.defaults?.resolution ?? entry.resolutions?.[0] ?? null,
      aspectRatio: entry.defaults?.aspect_ratio ?? entry.aspect_ratios?.[0] ?? null,
    },
  }
}

/** Price of a video that the catalogue marks as free. */
export const FREE_VIDEO: VideoPricing = { perSecond: [], perVideoNano: 0 }

/** Null = unpriced. Throws for a price that cannot be counted, so that a bug in the check does not make videos free. */
export function endpointPricing(model: ModelEntry, { video }: EndpointEntry): VideoPricing | null {
  const skus = video?.pricing_skus ?? model.video?.pricing_skus
  if (skus === undefined) return null
  const pricing = videoPricing(skus)
  if (pricing === null) throw new Error('internal: a video price was not checked')
  return pricing
}
