import type { VideoBody } from '../../../schemas/videos/videos.ts'
import { fail, ok, type Outcome } from '../../../schemas/failures.ts'
import {
  resolutionOfSize,
  VIDEO_ASPECT_RATIOS,
  VIDEO_RESOLUTIONS,
} from '../../../schemas/videos/video-models.ts'
import type { Issue } from '../../../schemas/failure-metadata.ts'
import { ISSUES_MAX } from '../../../schemas/limits/limits.ts'
import type { VideoFacts } from '../../ports/models/models.ts'
import type { VideoRequest } from '../../ports/videos/videos.ts'

/** Bytes, as JSON, of the `provider.options` that are passed on. Decision. */
export const VIDEO_PASSTHROUGH_BYTES_MAX = 65_536

export interface VideoRequestInput {
  readonly body: VideoBody
  readonly facts: VideoFacts
  /** Slug of the provider that generates the video. */
  readonly provider: string
  readonly previousUpstreamId: string | null
  /** Seconds of the clip that a remix changes, which is also the length of the remix; null: the job is not a remix. */
  readonly remixedSeconds: number | null
}

/**
 * The request for the provider: checked against the model's capabilities and completed with its defaults.
 * Failures: body_invalid (wrong for every model), video_unsupported; each names the members. §2.3, B1.1, C13,
 * C27.
 */
export function videoRequestOf({
  body,
  facts,
  provider,
  previousUpstreamId,
  remixedSeconds,
}: VideoRequestInput): Outcome<VideoRequest> {
  const findings = new Findings()
  findings.among('/duration', body.duration, remixedSeconds === null ? facts.durations : [remixedSeconds])
  const picture = pictureOf(body, facts, findings)
  const images = referencesOf(body, facts, findings)
  return findings.outcome({
    prompt: promptOf(body, { facts, images }, findings),
    seconds: remixedSeconds ?? body.duration ?? facts.defaults.seconds,
    ...picture,
    // Some providers do not support seeds and receive none. §2.3.
    seed: facts.takesSeed === false ? null : (body.seed ?? null),
    hasAudio: audioOf(body, facts, findings),
    ...images,
    ...enlargementOf(body, facts, findings),
    passthrough: passthroughOf(body, { facts, provider }, findings),
    previousUpstreamId,
    user: body.user ?? null,
  })
}

type Images = Pick<VideoRequest, 'frames' | 'references'>

interface WithImages {
  readonly facts: VideoFacts
  readonly images: Images
}

function promptOf(
  { prompt }: VideoBody,
  { facts, images: { frames, references } }: WithImages,
  findings: Findings,
): string | null {
  const isGiven = prompt !== undefined && prompt.trim() !== ''
  if (isGiven) return prompt
  const hasImage = frames.length > 0 || references.some(({ kind }) => kind === 'image')
  if (facts.isPromptOptional && hasImage) return null
  const expected = facts.isPromptOptional ? 'a non-blank text or an image' : 'a non-blank text'
  findings.invalid('/prompt', prompt === undefined ? 'is required' : 'is blank', expected)
  return null
}

function audioOf(
  { generate_audio: wanted }: VideoBody,
  { generatesAudio }: VideoFacts,
  findings: Findings,
): boolean {
  if (wanted === true && generatesAudio === false)
    findings.unsupported('/generate_audio', 'is not supported by the model', 'false')
  return wanted ?? generatesAudio ?? false
}

type Enlargement = Pick<VideoRequest, 'creativity' | 'upscaleFactor'>

function enlargementOf(
  body: VideoBody,
  { creativity, upscaleFactor }: VideoFacts,
  findings: Findings,
): Enlargement {
  const { creativity: wanted, upscale_factor: factor } = body
  if (wanted !== undefined && creativity === null)
    findings.unsupported('/creativity', 'is only for models that upscale videos', 'none')
  else findings.among('/creativity', wanted, creativity)
  if (factor !== undefined && upscaleFactor === null)
    findings.unsupported('/upscale_factor', 'is only for models that upscale videos', 'none')
  else if (factor !== undefined && upscaleFactor !== null) {
    const { min = 0, max = Infinity } = upscaleFactor
    const range = max === Infinity ? `at least ${min}` : `${min} to ${max}`
    if (factor < min || factor > max)
      findings.unsupported('/upscale_factor', 'is not supported by the model', range)
  }
  return { creativity: wanted ?? null, upscaleFactor: factor ?? null }
}

interface WithProvider {
  readonly facts: VideoFacts
  readonly provider: string
}

/**
 * Options for the provider. Options of other providers, and options that the model does not allow, are
 * dropped silently. §2.3.
 */
function passthroughOf(
  { provider: given }: VideoBody,
  { facts, provider }: WithProvider,
  findings: Findings,
): VideoRequest['passthrough'] {
  const all = given?.options ?? {}
  const own = Object.hasOwn(all, provider) ? (all[provider] ?? {}) : {}
  const kept = Object.fromEntries(
    facts.passthroughParameters.filter((name) => Object.hasOwn(own, name)).map((name) => [name, own[name]]),
  )
  if (Buffer.byteLength(JSON.stringify(kept)) > VIDEO_PASSTHROUGH_BYTES_MAX) {
    findings.invalid(
      `/provider/options/${provider}`,
      'is too large',
      `at most ${VIDEO_PASSTHROUGH_BYTES_MAX} bytes of JSON`,
    )
  }
  return kept
}

type Reference = VideoRequest['references'][number]

/**
 * Inputs of the video in addition to the prompt. Frames take precedence over references; audio and video are
 * kept if the model accepts them. B1.1, C27.
 */
function referencesOf(body: VideoBody, facts: VideoFacts, findings: Findings): Images {
  const frames = framesOf(body, facts, findings)
  return frames.length > 0
    ? { frames, references: [] }
    : { frames, references: keptReferencesOf(body, facts, findings) }
}

function framesOf(
  { frame_images: given = [] }: VideoBody,
  { frameImages }: VideoFacts,
  findings: Findings,
): Images['frames'] {
  if (given.length > 0 && (frameImages === null || frameImages.length === 0)) {
    findings.unsupported('/frame_images', 'is not supported by the model', 'none')
    return []
  }
  return given.map(({ frame_type: frame, image_url: { url } }, index) => {
    const path = `/frame_images/${index}`
    findings.among(`${path}/frame_type`, frame, frameImages)
    if (given.findIndex((other) => other.frame_type === frame) < index) {
      findings.invalid(`${path}/frame_type`, 'is given twice', 'one image of each type')
    }
    checkUrl(url, `${path}/image_url/url`, findings)
    return { frame, url }
  })
}

function keptReferencesOf(
  { input_references: given = [] }: VideoBody,
  facts: VideoFacts,
  findings: Findings,
): readonly Reference[] {
  const takes = { image: true, audio: facts.takesAudioReferences, video: facts.takesVideoReferences }
  return given.flatMap((one, index): readonly Reference[] => {
    const [kind, url] =
      one.type === 'image_url'
        ? (['image', one.image_url.url] as const)
        : one.type === 'audio_url'
          ? (['audio', one.audio_url.url] as const)
          : (['video', one.video_url.url] as const)
    if (!takes[kind]) return []
    checkUrl(url, `/input_references/${index}/${one.type}/url`, findings)
    return [{ kind, url }]
  })
}

/** The schema checks the form of the URL; a user name and password in it would be passed to the process that fetches it. */
function checkUrl(url: string, path: string, findings: Findings): void {
  if (url.startsWith('data:')) return
  const parsed = URL.canParse(url) ? new URL(url) : null
  if (parsed === null || parsed.username !== '' || parsed.password !== '')
    findings.invalid(path, 'is not a URL', EXPECTED_URL)
}

const EXPECTED_URL = `${oneOf(['https:', 'data:'])} URL, without credentials`.replaceAll('"', '')

type Picture = Pick<VideoRequest, 'resolution' | 'aspectRatio' | 'size'>

/**
 * Size and aspect ratio of the picture. `size` is interchangeable with `resolution` and `aspect_ratio` (§2.3):
 * missing members are derived from the given ones, then from the model's defaults. Contradictions are invalid.
 * C27.
 */
function pictureOf(body: VideoBody, facts: VideoFacts, findings: Findings): Picture {
  findings.among('/resolution', body.resolution, facts.resolutions)
  findings.among('/aspect_ratio', body.aspect_ratio, facts.aspectRatios)
  return body.size === undefined
    ? byNames(body, facts, findings)
    : bySize(body.size, body, { facts, findings })
}

function byNames(
  body: VideoBody,
  { sizes, resolutions, aspectRatios, defaults }: VideoFacts,
  findings: Findings,
): Picture {
  const resolution = body.resolution ?? defaults.resolution
  const aspectRatio = body.aspect_ratio ?? defaults.aspectRatio
  if (resolution === null || aspectRatio === null) return { resolution, aspectRatio, size: null }
  if (sizes === null) return { resolution, aspectRatio, size: pixelsFor(resolution, aspectRatio) }
  const size = sizes
    .map(pixelsOf)
    .find((one) => isOfResolution(one, resolution) && isOfAspectRatio(one, aspectRatio))
  const given =
    body.aspect_ratio !== undefined ? '/aspect_ratio' : body.resolution !== undefined ? '/resolution' : null
  // The checks above have already reported a value that the model does not support.
  const isTaken = resolutions?.includes(resolution) !== false && aspectRatios?.includes(aspectRatio) !== false
  if (size === undefined && given !== null && isTaken)
    findings.unsupported(given, 'does not match a size of the model', `the value of ${oneOf(sizes)}`)
  return { resolution, aspectRatio, size: size ?? null }
}

interface PictureContext {
  readonly facts: VideoFacts
  readonly findings: Findings
}

function bySize(text: string, body: VideoBody, { facts, findings }: PictureContext): Picture {
  const size = pixelsOf(text)
  findings.among('/size', text, facts.sizes)
  if (body.resolution !== undefined && !isOfResolution(size, body.resolution)) {
    findings.invalid(
      '/size',
      'contradicts resolution',
      'a size with that resolution, or only one of the two fields',
    )
  }
  if (body.aspect_ratio !== undefined && !isOfAspectRatio(size, body.aspect_ratio)) {
    findings.invalid(
      '/size',
      'contradicts aspect_ratio',
      'a size with that aspect ratio, or only one of the two fields',
    )
  }
  const resolutions = facts.resolutions ?? VIDEO_RESOLUTIONS
  const usual = resolutions.find((name) => name === resolutionOfSize(text))
  const resolution =
    body.resolution ?? usual ?? resolutions.find((name) => isOfResolution(size, name)) ?? null
  const aspectRatio =
    body.aspect_ratio ??
    (facts.aspectRatios ?? VIDEO_ASPECT_RATIOS).find((name) => isOfAspectRatio(size, name)) ??
    null
  // When the model lists its sizes, they have been checked above.
  if (facts.sizes === null) {
    if (resolution === null && facts.resolutions !== null) {
      findings.unsupported(
        '/size',
        'does not match a resolution of the model',
        `a size of ${oneOf(facts.resolutions)}`,
      )
    }
    if (aspectRatio === null && facts.aspectRatios !== null) {
      findings.unsupported(
        '/size',
        'does not match an aspect ratio of the model',
        `a size of ${oneOf(facts.aspectRatios)}`,
      )
    }
  }
  return { resolution, aspectRatio, size }
}

/** Collects the faults of a request for a video, so that the caller sees all of them at once. C13. */
class Findings {
  /** Faults for every model. */
  readonly #invalid: Issue[] = []
  /** Faults for this model. */
  readonly #unsupported: Issue[] = []

  invalid(path: string, message: string, expected: string): void {
    this.#invalid.push({ path, message, expected })
  }

  unsupported(path: string, message: string, expected: string): void {
    this.#unsupported.push({ path, message, expected })
  }

  /** @param taken null: the catalogue has no list, and every value is accepted */
  among<T extends string | number>(path: string, value: T | undefined, taken: readonly T[] | null): void {
    if (value === undefined || taken === null || taken.includes(value)) return
    this.unsupported(path, 'is not supported by the model', oneOf(taken))
  }

  /** Failures: body_invalid, video_unsupported. */
  outcome<T>(value: T): Outcome<T> {
    const issues = [...this.#invalid, ...this.#unsupported].slice(0, ISSUES_MAX)
    if (issues.length === 0) return ok(value)
    return fail(this.#invalid.length > 0 ? 'body_invalid' : 'video_unsupported', { metadata: { issues } })
  }
}

function oneOf(values: readonly (string | number)[]): string {
  const words = values.map((value) => JSON.stringify(value)).join(', ')
  return values.length === 0 ? 'nothing' : values.length === 1 ? words : `one of ${words}`
}

interface Pixels {
  readonly width: number
  readonly height: number
}

/** Pixels of the sides that the name of a resolution may refer to: the short side, or the long side. */
interface Sides {
  readonly short: readonly number[]
  readonly long: readonly number[]
}

/**
 * `720p` means the short side. Names such as `4K` are used with several meanings, so each is listed here with
 * all of them; Sluice itself uses the short side.
 */
const SIDES_OF_K: Readonly<Record<string, Sides>> = {
  '1K': { short: [1_024], long: [1_024] },
  '2K': { short: [1_440], long: [2_048, 2_560] },
  '4K': { short: [2_160], long: [3_840, 4_096] },
}

/** Percent by which the sides of a size may deviate from its aspect ratio: 854x480 is 16:9. Decision. */
const RATIO_MISS_PERCENT_MAX = 2

/** @param size `<width>x<height>` */
export function pixelsOf(size: string): Pixels {
  const [width = 0, height = 0] = size.split('x').map(Number)
  return { width, height }
}

export function isOfResolution({ width, height }: Pixels, resolution: string): boolean {
  const { short, long } = sidesOf(resolution)
  return short.includes(Math.min(width, height)) || long.includes(Math.max(width, height))
}

/** @param aspectRatio `16:9` */
export function isOfAspectRatio({ width, height }: Pixels, aspectRatio: string): boolean {
  return Math.abs(width / height / ratioOf(aspectRatio) - 1) * 100 <= RATIO_MISS_PERCENT_MAX
}

/** The size for a resolution and an aspect ratio; its sides are even, as H.264 requires. */
export function pixelsFor(resolution: string, aspectRatio: string): Pixels {
  const [short = 0] = sidesOf(resolution).short
  const ratio = ratioOf(aspectRatio)
  const long = 2 * Math.round((short * Math.max(ratio, 1 / ratio)) / 2)
  return ratio >= 1 ? { width: long, height: short } : { width: short, height: long }
}

function sidesOf(resolution: string): Sides {
  return SIDES_OF_K[resolution] ?? { short: [Number.parseInt(resolution, 10)], long: [] }
}

function ratioOf(aspectRatio: string): number {
  const [wide = 1, high = 1] = aspectRatio.split(':').map(Number)
  return wide / high
}
