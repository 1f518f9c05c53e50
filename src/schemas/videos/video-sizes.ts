export interface Pixels {
  readonly width: number
  readonly height: number
}

/** Pixels of the sides that a resolution's name may mean: the short side, or the long side. */
interface Sides {
  readonly short: readonly number[]
  readonly long: readonly number[]
}

/**
 * `720p` means the short side. The names in K have several meanings in use, so each has all of them here;
 * Sluice's own is the short side.
 */
const SIDES_OF_K: Readonly<Record<string, Sides>> = {
  '1K': { short: [1_024], long: [1_024] },
  '2K': { short: [1_440], long: [2_048, 2_560] },
  '4K': { short: [2_160], long: [3_840, 4_096] },
}

/** Percent by which the sides of a size may miss its aspect ratio: 854x480 is 16:9. Decision. */
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
