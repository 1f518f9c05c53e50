import Type, { type Static, type TSchema } from 'typebox'
import { PROVIDER_TIMEOUT_MS_MAX } from '../../schemas/models/provider-limits.ts'
import {
  VIDEO_CONCURRENCY_MAX,
  VIDEO_POLL_MS_MAX,
  VIDEO_POLLS_PER_SECOND_MAX,
  VIDEO_SECONDS_MAX,
} from '../../schemas/videos/video-model-limits.ts'
import {
  FRAME_TYPES,
  SUBMIT_KINDS,
  VIDEO_ASPECT_RATIOS,
  VIDEO_RESOLUTIONS,
  VIDEO_SIZE_PATTERN,
} from '../../schemas/videos/video-models.ts'

const closed = { additionalProperties: false, description: 'an object' } as const
const among = (values: readonly string[]) => ({ description: `one of ${values.join(', ')}` })
const Resolution = Type.Enum(VIDEO_RESOLUTIONS, among(VIDEO_RESOLUTIONS))
const AspectRatio = Type.Enum(VIDEO_ASPECT_RATIOS, among(VIDEO_ASPECT_RATIOS))
const whole = (unit: string, minimum: number, maximum: number) =>
  Type.Integer({ minimum, maximum, description: `whole ${unit}, ${minimum} to ${maximum}` })
const Flag = Type.Boolean({ description: 'true or false' })
/** A set is absent when its values are unknown; an empty set would refuse every request. */
const set = <T extends TSchema>(items: T, description: string) =>
  Type.Optional(
    Type.Array(items, { minItems: 1, uniqueItems: true, description: `a list of ${description}, each once` }),
  )
const Factor = Type.Number({ exclusiveMinimum: 0, description: 'a number above 0' })
const Seconds = whole('seconds', 1, VIDEO_SECONDS_MAX)

/** USD by SKU; an endpoint without prices and without `free` is unpriced. */
const PricingSkus = Type.Optional(
  Type.Record(
    Type.String(),
    Type.String({ pattern: '^\\d+(\\.\\d+)?$', description: 'USD as a decimal string' }),
    { description: 'an object of decimal strings' },
  ),
)

/** The requests that a video model accepts: the members of B2.1 without `supported_`, and further members for routes. */
export const ModelVideoEntry = Type.Object(
  {
    durations: set(Seconds, 'seconds'),
    resolutions: set(Resolution, 'resolutions'),
    aspect_ratios: set(AspectRatio, 'aspect ratios'),
    sizes: set(
      Type.String({ pattern: `^${VIDEO_SIZE_PATTERN}$`, description: 'a size like `1280x720`' }),
      'sizes',
    ),
    frame_images: set(Type.Enum(FRAME_TYPES, among(FRAME_TYPES)), 'frame types'),
    generate_audio: Type.Optional(Flag),
    seed: Type.Optional(Flag),
    creativity: set(Type.Integer({ description: 'a whole number' }), 'whole numbers'),
    upscale_factor: Type.Optional(
      Type.Object({ min: Type.Optional(Factor), max: Type.Optional(Factor) }, closed),
    ),
    passthrough_parameters: set(Type.String({ minLength: 1, description: 'a non-empty string' }), 'strings'),
    prompt_optional: Type.Optional(Flag),
    audio_references: Type.Optional(Flag),
    video_references: Type.Optional(Flag),
    previous_job: Type.Optional(Flag),
    defaults: Type.Optional(
      Type.Object(
        {
          seconds: Type.Optional(Seconds),
          resolution: Type.Optional(Resolution),
          aspect_ratio: Type.Optional(AspectRatio),
        },
        closed,
      ),
    ),
    /** Prices of all endpoints without their own. */
    pricing_skus: PricingSkus,
  },
  closed,
)
export type ModelVideoEntry = Static<typeof ModelVideoEntry>

/** The prices of an endpoint's videos, if they differ from those of its model. */
export const EndpointVideoEntry = Type.Object({ pricing_skus: PricingSkus }, closed)
export type EndpointVideoEntry = Static<typeof EndpointVideoEntry>

/** How Sluice runs the video jobs of a provider. Design §7. */
export const ProviderVideoEntry = Type.Object(
  {
    submit: Type.Optional(Type.Enum(SUBMIT_KINDS, among(SUBMIT_KINDS))),
    token_header: Type.Optional(
      Type.String({ pattern: '^[A-Za-z0-9-]{1,64}$', description: 'the name of a header' }),
    ),
    polls_per_second: Type.Optional(
      Type.Number({
        exclusiveMinimum: 0,
        maximum: VIDEO_POLLS_PER_SECOND_MAX,
        description: `a number above 0, at most ${VIDEO_POLLS_PER_SECOND_MAX}`,
      }),
    ),
    poll_first_ms: Type.Optional(whole('milliseconds', 1, VIDEO_POLL_MS_MAX)),
    poll_max_ms: Type.Optional(whole('milliseconds', 1, VIDEO_POLL_MS_MAX)),
    lookup_quiet_ms: Type.Optional(whole('milliseconds', 0, PROVIDER_TIMEOUT_MS_MAX)),
    submit_timeout_ms: Type.Optional(whole('milliseconds', 1, PROVIDER_TIMEOUT_MS_MAX)),
    concurrency: Type.Optional(whole('calls', 1, VIDEO_CONCURRENCY_MAX)),
    takes_urls: Type.Optional(Flag),
  },
  closed,
)
export type ProviderVideoEntry = Static<typeof ProviderVideoEntry>
