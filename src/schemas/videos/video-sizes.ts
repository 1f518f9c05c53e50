export interface Pixels {
  readonly width: number
  readonly height: number
}

/** Pixels of the sides that a name of a resolution may mean: of the short one, or of the long one. */
interface Sides {
  readonly short: readonly number[]
  readonly long: readonly number[]
}

/**
 * `720p` is the short side. The names in K are not used alike everywhere, so each has all its meanings; ours
 * is the short one.
 */
const SIDES_OF_K: Readonly<Record<string, Sides>> = {
  '1K': { short: [1_024], long: [1_024] },
  '2K': { short: [1_440], long: [2_048, 2_560] },
  '4K': { short: [2_160], long: [3_840, 4_096] },
}

/** Parts of a hundred by which the sides of a size may miss its aspect ratio: 854x480 is 16:9. Decision. */
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

/** The size that a resolution and an aspect ratio mean; its sides are even, as H.264 needs them. */
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
