import { ImageFault, type ImageSize } from './image.ts'

export interface PngHead extends ImageSize {
  /** Bits of a sample. */
  readonly depth: number
  readonly colorType: number
  readonly isInterlaced: boolean
}

/** Converts the pixels of a row to red, green, blue and opacity. */
export interface Pixels {
  /** Bits of a stored pixel. */
  readonly bits: number
  put(row: Uint8Array, column: number, to: { readonly rgba: Uint8Array; readonly at: number }): void
}

/** Samples of a pixel, and the allowed depths, by color type. */
const KINDS: Readonly<Record<number, { readonly samples: number; readonly depths: readonly number[] }>> = {
  0: { samples: 1, depths: [1, 2, 4, 8, 16] },
  2: { samples: 3, depths: [8, 16] },
  3: { samples: 1, depths: [1, 2, 4, 8] },
  4: { samples: 2, depths: [8, 16] },
  6: { samples: 4, depths: [8, 16] },
}
const PALETTE = 3
const OPAQUE = 255

/**
 * A sample of 16 bits counts with its upper half. A single transparent color of PNG (`tRNS` without a
 * palette) stays opaque.
 */
export function newPixels(
  { depth, colorType }: PngHead,
  palette: Uint8Array | null,
  covers: Uint8Array | null,
): Pixels {
  const kind = KINDS[colorType]
  if (kind?.depths.includes(depth) !== true) throw new ImageFault('has an unknown colour type')
  const bits = kind.samples * depth
  if (colorType === PALETTE) {
    if (palette === null) throw new ImageFault('has no palette')
    return { bits, put: putPalette(sampler(depth), palette, covers) }
  }
  const sample = sampler(depth)
  const scale = depth < 8 ? OPAQUE / ((1 << depth) - 1) : 1
  if (kind.samples <= 2) return { bits, put: putGray(sample, kind.samples, scale) }
  return { bits, put: putColor(sample, kind.samples) }
}

type Sample = (row: Uint8Array, nth: number) => number

function sampler(depth: number): Sample {
  if (depth === 8) return (row, nth) => row[nth] ?? 0
  if (depth === 16) return (row, nth) => row[2 * nth] ?? 0
  const perByte = 8 / depth
  const mask = (1 << depth) - 1
  return (row, nth) => ((row[Math.floor(nth / perByte)] ?? 0) >> (8 - depth * ((nth % perByte) + 1))) & mask
}

function putGray(sample: Sample, samples: number, scale: number): Pixels['put'] {
  return (row, column, { rgba, at }) => {
    const grey = sample(row, column * samples) * scale
    rgba.fill(grey, at, at + 3)
    rgba[at + 3] = samples === 2 ? sample(row, column * samples + 1) : OPAQUE
  }
}

function putColor(sample: Sample, samples: number): Pixels['put'] {
  return (row, column, { rgba, at }) => {
    const from = column * samples
    rgba[at] = sample(row, from)
    rgba[at + 1] = sample(row, from + 1)
    rgba[at + 2] = sample(row, from + 2)
    rgba[at + 3] = samples === 4 ? sample(row, from + 3) : OPAQUE
  }
}

/** A color beyond the palette is black. */
function putPalette(sample: Sample, palette: Uint8Array, covers: Uint8Array | null): Pixels['put'] {
  return (row, column, { rgba, at }) => {
    const nth = sample(row, column)
    rgba[at] = palette[3 * nth] ?? 0
    rgba[at + 1] = palette[3 * nth + 1] ?? 0
    rgba[at + 2] = palette[3 * nth + 2] ?? 0
    rgba[at + 3] = covers?.[nth] ?? OPAQUE
  }
}
