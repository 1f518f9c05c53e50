import type { Issue } from '../../schemas/failure-metadata.ts'
import { pointer } from '../../schemas/issues.ts'
import { hasVideo, type Protocol } from '../../schemas/models/protocols.ts'
import { UNIT_PRICE_PLACES } from '../../schemas/money/prices.ts'
import { VIDEO_PRICE_USD_MAX } from '../../schemas/videos/video-model-limits.ts'
import { resolutionOfSize } from '../../schemas/videos/video-models.ts'
import { isPriced, isVideoSku, videoPricing, videoSkuNano } from '../../schemas/videos/video-prices.ts'
import { makesVideo, submitKindOf } from './build-video.ts'
import type { EndpointEntry, ModelEntry, ProviderEntry } from './format.ts'
import type { ModelVideoEntry } from './video-format.ts'

type Skus = ModelVideoEntry['pricing_skus']
const SKU_NAMES =
  '`duration_seconds`, optionally followed by `_with_audio` or `_without_audio` and a resolution such as `_720p`; or `per_video`'

export function checkProviderVideo({ protocol, video }: ProviderEntry): readonly Issue[] {
  if (video === undefined) return []
  if (!hasVideo(protocol)) {
    return [
      {
        path: '/video',
        message: `has no effect: the protocol ${protocol} has no video calls`,
        expected: 'the member to be absent',
      },
    ]
  }
  const issues: Issue[] = []
  const { token_header: header, poll_first_ms: first, poll_max_ms: most } = video
  if (header !== undefined && submitKindOf(protocol, video) !== 'token') {
    issues.push({
      path: '/video/token_header',
      message: 'is never sent without `"submit": "token"`',
      expected: '`token_header` together with `"submit": "token"`',
    })
  }
  if (first !== undefined && most !== undefined && first > most) {
    issues.push({
      path: '/video/poll_first_ms',
      message: 'is longer than poll_max_ms',
      expected: `at most ${most}`,
    })
  }
  return issues
}

/** Checks only the model's video facts; its endpoints are checked separately. */
export function checkModelVideo(model: ModelEntry): readonly Issue[] {
  const { video, pricing } = model
  if (!makesVideo(model)) {
    return video === undefined
      ? []
      : [{ path: '/video', message: 'belongs to a model without video output', expected: NEEDS_VIDEO }]
  }
  return [
    ...checkTokenPrice(model, pricing, '/pricing'),
    ...(video === undefined ? [] : [...checkDefaults(video), ...checkFactor(video)]),
    ...checkSkus(video?.pricing_skus, '/video/pricing_skus', model),
  ]
}

const NEEDS_VIDEO = '`video` in the output modalities'

/** @param place path of the endpoint, and its protocol: null when its provider is not known */
export function checkEndpointVideo(
  model: ModelEntry,
  endpoint: EndpointEntry,
  place: { path: string; protocol: Protocol | null },
): readonly Issue[] {
  const { path, protocol } = place
  if (!makesVideo(model)) {
    return endpoint.video === undefined
      ? []
      : [{ path: `${path}/video`, message: 'belongs to a model without video output', expected: NEEDS_VIDEO }]
  }
  const issues = [
    ...checkTokenPrice(model, endpoint.pricing, `${path}/pricing`),
    ...checkSkus(endpoint.video?.pricing_skus, `${path}/video/pricing_skus`, model),
  ]
  if (protocol === null || hasVideo(protocol)) return issues
  return [
    ...issues,
    {
      path: `${path}/provider`,
      message: `cannot make videos: its protocol is ${protocol}`,
      expected: 'a provider whose protocol supports video',
    },
  ]
}

/** Refuses a token price of a video model: replies would show the price although no call is charged with it. */
export function checkTokenPrice(
  model: ModelEntry,
  pricing: ModelEntry['pricing'],
  path: string,
): readonly Issue[] {
  const isVideoAlone = model.architecture?.output_modalities?.every((name) => name === 'video') === true
  if (pricing === undefined || !isVideoAlone) return []
  return [{ path, message: 'is not a video price', expected: '`pricing_skus` within `video`' }]
}

/** Checks that every price can be counted and that every advertised kind of video has a price. */
function checkSkus(skus: Skus, path: string, model: ModelEntry): readonly Issue[] {
  if (skus === undefined) return []
  const issues = Object.entries(skus).flatMap(([name, usd]): Issue[] => {
    if (!isVideoSku(name))
      return [{ path: pointer(path, name), message: 'is not a known SKU', expected: SKU_NAMES }]
    if (videoSkuNano(usd) !== null) return []
    const expected = `USD with at most ${UNIT_PRICE_PLACES} decimal places, and at most ${VIDEO_PRICE_USD_MAX}`
    return [{ path: pointer(path, name), message: 'has too many decimal places or is too large', expected }]
  })
  return issues.length > 0 ? issues : checkCover(skus, path, model.video ?? {})
}

function checkCover(skus: NonNullable<Skus>, path: string, video: ModelVideoEntry): readonly Issue[] {
  const pricing = videoPricing(skus)
  if (pricing === null) return []
  return advertised(video).flatMap((resolution) => {
    // If the model can make sound, a request may turn sound on or off.
    const unpriced = (video.generate_audio === true ? [true, false] : [false]).filter(
      (hasAudio) => !isPriced(pricing, resolution, hasAudio),
    )
    return unpriced.map((hasAudio) => {
      const kind = `${resolution ?? 'whatever resolution'} ${hasAudio ? 'with' : 'without'} sound`
      return {
        path,
        message: `has no price for ${kind}`,
        expected: 'a price for every kind of video the model can make',
      }
    })
  })
}

/** Resolutions that the model offers. Null stands for every resolution: if the catalogue names none, Sluice accepts any. */
function advertised({ resolutions, sizes }: ModelVideoEntry): readonly (string | null)[] {
  if (resolutions === undefined && sizes === undefined) return [null]
  return [...new Set([...(resolutions ?? []), ...(sizes ?? []).map(resolutionOfSize)])]
}

function checkDefaults({
  defaults = {},
  durations,
  resolutions,
  aspect_ratios: ratios,
}: ModelVideoEntry): readonly Issue[] {
  const one = <T>(name: string, value: T | undefined, set: readonly T[] | undefined): readonly Issue[] => {
    if (value === undefined || set === undefined || set.includes(value)) return []
    return [
      {
        path: `/video/defaults/${name}`,
        message: 'is not supported by the model',
        expected: `one of ${set.join(', ')}`,
      },
    ]
  }
  return [
    ...one('seconds', defaults.seconds, durations),
    ...one('resolution', defaults.resolution, resolutions),
    ...one('aspect_ratio', defaults.aspect_ratio, ratios),
  ]
}

function checkFactor({ upscale_factor: factor }: ModelVideoEntry): readonly Issue[] {
  if (factor?.min === undefined || factor.max === undefined || factor.min <= factor.max) return []
  return [{ path: '/video/upscale_factor/min', message: 'is above max', expected: `at most ${factor.max}` }]
}
