import { VIDEO_PASSTHROUGH_BYTES_MAX } from '../../../schemas/videos/video-limits.ts'
import type { VideoBody } from '../../../schemas/videos/videos.ts'
import type { Outcome } from '../../../schemas/failures.ts'
import type { VideoFacts } from '../../ports/models/models.ts'
import type { VideoRequest } from '../../ports/videos/videos.ts'
import { Findings } from './findings.ts'
import { pictureOf } from './picture.ts'
import { referencesOf } from './references.ts'

export interface VideoRequestInput {
  readonly body: VideoBody
  readonly facts: VideoFacts
  /** Slug of the provider that makes the video. */
  readonly provider: string
  readonly previousUpstreamId: string | null
  /** Seconds of the clip that a remix changes, and so of the remix; null: the job is no remix. */
  readonly remixedSeconds: number | null
}

/**
 * The request for the provider: checked against the model's facts and filled with its defaults. Failures:
 * body_invalid (wrong for every model), video_unsupported; each names the members. §2.3, B1.1, C13, C27.
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
    // Not every provider is deterministic; a provider without seeds gets none. §2.3.
    seed: facts.takesSeed === false ? null : (body.seed ?? null),
    hasAudio: audioOf(body, facts, findings),
    ...images,
    ...enlargementOf(body, facts, findings),
    passthrough: passthroughOf(body, { facts, provider }, findings),
    previousUpstreamId,
    user: body.user ?? null,
  })
}

interface WithImages {
  readonly facts: VideoFacts
  readonly images: Pick<VideoRequest, 'frames' | 'references'>
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
