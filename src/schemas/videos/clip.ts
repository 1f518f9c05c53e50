/**
 * The capabilities of `sluice/clip-1`, for the catalogue, the validation and the renderer. The longest clips
 * of the largest size take one second of CPU for three seconds of video.
 */

export const CLIP_FRAMES_PER_SECOND = 12
export const CLIP_DURATIONS: readonly number[] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
export const CLIP_RESOLUTIONS = ['360p', '480p', '720p'] as const
export const CLIP_ASPECT_RATIOS = ['16:9', '9:16', '1:1'] as const

export type ClipResolution = (typeof CLIP_RESOLUTIONS)[number]
export type ClipAspectRatio = (typeof CLIP_ASPECT_RATIOS)[number]

/** Pixels; both are even, since yuv420p has one color for two pixels each way. */
export interface ClipSize {
  readonly width: number
  readonly height: number
}

/** A resolution names the shorter side. 480p at 16:9 is 854 × 480: the nearest even width. */
export function clipSize(resolution: ClipResolution, aspectRatio: ClipAspectRatio): ClipSize {
  const short = Number.parseInt(resolution, 10)
  if (aspectRatio === '1:1') return { width: short, height: short }
  const long = 2 * Math.round((short * WIDE) / 2)
  return aspectRatio === '16:9' ? { width: long, height: short } : { width: short, height: long }
}

const WIDE = 16 / 9

/** Every size, as `<W>x<H>` on the wire. */
export const CLIP_SIZES: readonly string[] = CLIP_RESOLUTIONS.flatMap((resolution) =>
  CLIP_ASPECT_RATIOS.map((aspectRatio) => {
    const { width, height } = clipSize(resolution, aspectRatio)
    return `${width}x${height}`
  }),
)
