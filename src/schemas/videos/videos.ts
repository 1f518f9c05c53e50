import Type, { type Static } from 'typebox'
import { API_PREFIX } from '../api-prefix.ts'
import { CALLBACK_URL_CHARS_MAX } from '../workspaces/workspace-limits.ts'
import { SESSION_ID_CHARS_MAX } from '../limits/limits.ts'
import { MODEL_OR_PRESET, PresetName } from '../presets/preset-references.ts'
import { Trace } from '../trace.ts'
import { VIDEO_STATUSES, type VideoStatus } from './video-jobs.ts'
import {
  VIDEO_FRAMES_MAX,
  VIDEO_ID_CHARS_MAX,
  VIDEO_PROMPT_CHARS_MAX,
  VIDEO_URL_CHARS_MAX,
  VIDEOS_PAGE_DEFAULT,
  VIDEOS_PAGE_MAX,
} from './video-limits.ts'
import { VIDEO_SECONDS_MAX } from './video-model-limits.ts'
import { FRAME_TYPES, VIDEO_ASPECT_RATIOS, VIDEO_RESOLUTIONS, VIDEO_SIZE_PATTERN } from './video-models.ts'
import { clipUrls } from '../webhooks/webhook-body.ts'
import { usdOfNano } from '../money/costs.ts'

/** Entries of `input_references`. Decision. */
export const VIDEO_REFERENCES_MAX = 16
/** Characters of a `data:` URL: a body of JSON_BODY_BYTES_MAX has room for the URL and the other members. Decision. */
export const VIDEO_DATA_URL_CHARS_MAX = 4_000_000
/** Characters of `user`. Decision: as in §8 for responses. */
export const VIDEO_USER_CHARS_MAX = 256

const IMAGE_TYPES = 'image/(png|jpeg|webp|gif)'
const IMAGE_URL_WORDS = 'an https: URL, or a data: URL with a base64-encoded PNG, JPEG, WebP or GIF'

/** The URL or the data of a reference, checked by the schema in a short job: reading four megabytes of base64 would block the loop. */
function referenceUrl(mediaTypes: string, title: string) {
  const https = `https://[!-~]{1,${VIDEO_URL_CHARS_MAX}}`
  return Type.Object({
    url: Type.String({
      maxLength: VIDEO_DATA_URL_CHARS_MAX,
      pattern: `^(${https}|data:${mediaTypes};base64,[A-Za-z0-9+/]+={0,2})$`,
      title,
    }),
  })
}

const ImageUrl = referenceUrl(IMAGE_TYPES, IMAGE_URL_WORDS)

const FrameImage = Type.Object({
  type: Type.Literal('image_url'),
  image_url: ImageUrl,
  frame_type: Type.Enum([...FRAME_TYPES], { description: 'Frame for which the image is used.' }),
})

const InputReference = Type.Union([
  Type.Object({ type: Type.Literal('image_url'), image_url: ImageUrl }),
  Type.Object({
    type: Type.Literal('audio_url'),
    audio_url: referenceUrl(
      'audio/[a-z0-9.+-]{1,40}',
      'an https: URL, or a data: URL with base64-encoded audio',
    ),
  }),
  Type.Object({
    type: Type.Literal('video_url'),
    video_url: referenceUrl(
      'video/[a-z0-9.+-]{1,40}',
      'an https: URL, or a data: URL with a base64-encoded video',
    ),
  }),
])

/** Options by the provider's slug. */
export type ProviderOptions = Readonly<Record<string, Readonly<Record<string, unknown>>>>

const SAFE = Number.MAX_SAFE_INTEGER

/** Body of POST /videos. §2.3, B1.1; unknown fields are ignored. */
export const VideoBody = Type.Object({
  model: Type.Optional(
    Type.String({
      minLength: 1,
      description: `Id of a video model, optionally with a variant, or an alias. ${MODEL_OR_PRESET}`,
    }),
  ),
  preset: Type.Optional(PresetName),
  prompt: Type.Optional(
    Type.String({
      maxLength: VIDEO_PROMPT_CHARS_MAX,
      description:
        'Description of the video. `prompt` is required unless the call has an image and the model can generate a video from it.',
    }),
  ),
  aspect_ratio: Type.Optional(Type.Enum([...VIDEO_ASPECT_RATIOS])),
  resolution: Type.Optional(Type.Enum([...VIDEO_RESOLUTIONS])),
  size: Type.Optional(
    Type.String({
      pattern: `^${VIDEO_SIZE_PATTERN}$`,
      title: 'a size in pixels as WIDTHxHEIGHT, such as 1280x720',
      description: 'Size in pixels as `<WIDTH>x<HEIGHT>`, instead of `resolution` and `aspect_ratio`.',
    }),
  ),
  duration: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: VIDEO_SECONDS_MAX,
      title: `a whole number of seconds from 1 to ${VIDEO_SECONDS_MAX}`,
      description: 'Seconds.',
    }),
  ),
  seed: Type.Optional(
    Type.Integer({
      minimum: -SAFE,
      maximum: SAFE,
      title: 'integer',
      description: 'Seed for repeatable results, sent to models that accept one.',
    }),
  ),
  generate_audio: Type.Optional(
    Type.Boolean({
      description: 'Whether to generate sound; defaults to the `generate_audio` of the model, or to false.',
    }),
  ),
  callback_url: Type.Optional(
    Type.String({
      maxLength: CALLBACK_URL_CHARS_MAX,
      description:
        "HTTPS URL for the webhook that is sent when the job ends; overrides the workspace's default.",
    }),
  ),
  frame_images: Type.Optional(
    Type.Array(FrameImage, {
      maxItems: VIDEO_FRAMES_MAX,
      description:
        'First and last frame of the video; `frame_images` takes precedence over `input_references`.',
    }),
  ),
  input_references: Type.Optional(
    Type.Array(InputReference, {
      maxItems: VIDEO_REFERENCES_MAX,
      description:
        'Reference images, audio and video. Audio and video are dropped for models that do not support them.',
    }),
  ),
  provider: Type.Optional(
    Type.Object({
      options: Type.Optional(
        Type.Unsafe<ProviderOptions>(
          Type.Object(
            {},
            {
              additionalProperties: Type.Object({}, { additionalProperties: true }),
              description:
                'Provider-specific fields by provider slug. Sluice sends only the fields that the model allows.',
            },
          ),
        ),
      ),
    }),
  ),
  creativity: Type.Optional(
    Type.Integer({
      minimum: -SAFE,
      maximum: SAFE,
      title: 'integer',
      description: 'Creativity level, for models that enlarge videos.',
    }),
  ),
  upscale_factor: Type.Optional(
    Type.Number({
      exclusiveMinimum: 0,
      maximum: SAFE,
      title: 'a number above 0',
      description: 'Creativity level, for models that enlarge videos.',
    }),
  ),
  previous_job_id: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: VIDEO_ID_CHARS_MAX,
      description: 'Id of a completed job of the workspace to continue, on models that support it.',
    }),
  ),
  session_id: Type.Optional(
    Type.String({
      maxLength: SESSION_ID_CHARS_MAX,
      pattern: '^[^\\u0000]*$',
      title: `a string of at most ${SESSION_ID_CHARS_MAX} characters`,
      description: 'Groups calls of one conversation; takes precedence over `x-session-id`.',
    }),
  ),
  trace: Type.Optional(Trace),
  user: Type.Optional(
    Type.String({
      maxLength: VIDEO_USER_CHARS_MAX,
      description: 'Your id for the end user, sent to providers that accept one.',
    }),
  ),
})
export type VideoBody = Static<typeof VideoBody>

/** A job. Members without a value are omitted, never null. */
export const VideoAnswer = Type.Object({
  id: Type.String(),

  polling_url: Type.String({ description: 'Path for polling the job.' }),
  status: Type.Enum([...VIDEO_STATUSES]),
  generation_id: Type.Optional(Type.String()),
  error: Type.Optional(Type.String({ description: 'Reason why the job failed.' })),
  unsigned_urls: Type.Optional(
    Type.Array(Type.String(), {
      description: 'URLs of the clips of a completed job; downloading a clip requires an API key.',
    }),
  ),
  usage: Type.Optional(
    Type.Object({
      cost: Type.Union([Type.Number({ description: 'USD.' }), Type.Null()], {
        description: 'Cost in USD; null when the model has no price.',
      }),
      is_byok: Type.Boolean({ description: "True when the workspace's own provider key was used." }),
    }),
  ),
})
export type VideoAnswer = Static<typeof VideoAnswer>

export interface ShownVideo {
  readonly id: string
  readonly status: VideoStatus
  readonly generationId: string | null
  readonly error: string | null
  readonly outputs: number
  readonly usage: { readonly costNano: number | null; readonly isByok: boolean } | null
}

/** @param origin at which callers reach this installation */
export function videoAnswer(video: ShownVideo, origin: string): VideoAnswer {
  const { id, status, generationId, error, outputs, usage } = video
  return {
    id,
    polling_url: `${API_PREFIX}/videos/${id}`,
    status,
    ...(generationId !== null && { generation_id: generationId }),
    ...(error !== null && { error }),
    ...(status === 'completed' && { unsigned_urls: [...clipUrls(origin, id, outputs)] }),
    ...(usage !== null && {
      usage: { cost: usage.costNano === null ? null : usdOfNano(usage.costNano), is_byok: usage.isByok },
    }),
  }
}

export const VideoParams = Type.Object({
  job_id: Type.String({ minLength: 1, maxLength: VIDEO_ID_CHARS_MAX }),
})

export const VideoContentQuery = Type.Object({
  index: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: SAFE,
      title: 'an integer of at least 0',
      description: 'Position of the clip, starting at 0; defaults to the first.',
    }),
  ),
})

/** The bytes of a clip, or of a part of it. */
export const VideoContent = Type.String({ format: 'binary', description: 'An MP4.' })

export const ListVideosQuery = Type.Object({
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: VIDEOS_PAGE_MAX,
      description: `Jobs per page; ${VIDEOS_PAGE_DEFAULT} by default.`,
    }),
  ),
  after: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: VIDEO_ID_CHARS_MAX,
      description: 'Id of the last job on the previous page.',
    }),
  ),
})

/** Newest first. */
export const VideoListAnswer = Type.Object({
  data: Type.Array(VideoAnswer),
  has_more: Type.Boolean(),
  last_id: Type.Union([Type.String(), Type.Null()]),
})
export type VideoListAnswer = Static<typeof VideoListAnswer>

/** Body of a webhook after a job's end. */
export const VideoEvent = Type.Object({
  type: Type.Enum([
    'video.generation.completed',
    'video.generation.failed',
    'video.generation.cancelled',
    'video.generation.expired',
  ]),
  created_at: Type.String({ format: 'date-time' }),
  data: Type.Object({
    id: Type.String(),
    status: Type.Enum(['completed', 'failed', 'cancelled', 'expired']),
    generation_id: Type.Union([Type.String(), Type.Null()]),
    model: Type.Union([Type.String(), Type.Null()]),
    unsigned_urls: Type.Optional(Type.Array(Type.String())),
    usage: VideoAnswer.properties.usage,
    error: Type.Optional(Type.String()),
  }),
})
export type VideoEvent = Static<typeof VideoEvent>
