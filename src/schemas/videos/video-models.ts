import Type, { type Static } from 'typebox'

/** Values that describe videos and video models. */

export const FRAME_TYPES = ['first_frame', 'last_frame'] as const
export type FrameType = (typeof FRAME_TYPES)[number]

/** Resolutions in requests and replies. B1.1; clients know `360p` in addition to §2.3. */
export const VIDEO_RESOLUTIONS = ['360p', '480p', '720p', '768p', '1080p', '1K', '2K', '4K'] as const
/** Aspect ratios in requests and replies. */
export const VIDEO_ASPECT_RATIOS = [
  '16:9',
  '9:16',
  '1:1',
  '4:3',
  '3:4',
  '3:2',
  '2:3',
  '21:9',
  '9:21',
] as const
/** `<width>x<height>` in pixels. */
export const VIDEO_SIZE_PATTERN = '[1-9]\\d{0,4}x[1-9]\\d{0,4}'

/** Recovery that a provider allows for a submission with unknown outcome. Design §7. */
export const SUBMIT_KINDS = ['token', 'lookup', 'blind'] as const
export type SubmitKind = (typeof SUBMIT_KINDS)[number]

/** Resolutions by pixels of the shorter side. */
const SHORTER_SIDES: Readonly<Record<number, (typeof VIDEO_RESOLUTIONS)[number]>> = {
  360: '360p',
  480: '480p',
  720: '720p',
  768: '768p',
  1024: '1K',
  1080: '1080p',
  1440: '2K',
  2160: '4K',
}

/** The resolution of a size, by its shorter side; null for an unknown size or another text. @param size `1280x720` */
export function resolutionOfSize(size: string): (typeof VIDEO_RESOLUTIONS)[number] | null {
  if (!SIZE.test(size)) return null
  return SHORTER_SIDES[Math.min(...size.split('x').map(Number))] ?? null
}
const SIZE = new RegExp(`^${VIDEO_SIZE_PATTERN}$`)

const nullable = <T extends Type.TSchema>(shape: T) => Type.Union([shape, Type.Null()])
const list = <T extends Type.TSchema>(items: T, description: string) =>
  nullable(Type.Array(items, { description }))

/**
 * A video model in replies. Nullable members are always present; null means that the value is unknown, so any
 * value is accepted.
 */
export const VideoModel = Type.Object({
  id: Type.String(),
  canonical_slug: Type.String(),
  name: Type.String(),
  created: Type.Integer({ description: 'Unix time of the release, in seconds; 0 when unknown.' }),
  description: Type.Optional(Type.String()),
  hugging_face_id: Type.Optional(nullable(Type.String())),
  allowed_passthrough_parameters: Type.Array(Type.String(), {
    description: 'Fields of `provider.options` that are sent to the provider.',
  }),
  creativity: list(Type.Integer(), 'Creativity levels, for models that enlarge videos.'),
  generate_audio: nullable(
    Type.Boolean({
      description: 'True when the model generates sound unless a call sets `generate_audio` to false.',
    }),
  ),
  pricing_skus: nullable(
    Type.Record(Type.String(), Type.String(), {
      description:
        '`duration_seconds` is the price in USD per second; the name can end with `_with_audio` or `_without_audio` and a resolution. ' +
        '`per_video` is the price in USD per video. `pricing_skus` is null when the model is free.',
    }),
  ),
  seed: nullable(Type.Boolean()),
  supported_aspect_ratios: list(Type.String(), 'Ratio of width to height, such as `16:9`.'),
  supported_durations: list(Type.Integer(), 'Seconds.'),
  supported_frame_images: list(
    Type.Enum(FRAME_TYPES),
    'Frames that a call can give as images; null when the model does not accept frames.',
  ),
  supported_resolutions: list(Type.String(), 'Names of resolutions, such as `720p`.'),
  supported_sizes: list(Type.String(), 'Sizes in pixels, such as `1280x720`.'),
  upscale_factor: nullable(
    Type.Object({ min: Type.Optional(Type.Number()), max: Type.Optional(Type.Number()) }),
  ),
})
export type VideoModel = Static<typeof VideoModel>

export const VideoModelsAnswer = Type.Object({ data: Type.Array(VideoModel) })
