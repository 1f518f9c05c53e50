import { inflateSync } from 'node:zlib'
import { type Image, ImageFault, type ImageSize } from './image.ts'

const SIGNATURE_BYTES = 8
/** Length, type and checksum of a chunk. */
const CHUNK_EXTRA_BYTES = 12
/** Bytes of the contents of `IHDR`. */
const IHDR_BYTES = 13

/**
 * A separately stored part of the picture: the place of its first pixel, and the distances between its
 * pixels.
 */
interface Pass {
  readonly x: number
  readonly y: number
  readonly dx: number
  readonly dy: number
}

const WHOLE: readonly Pass[] = [{ x: 0, y: 0, dx: 1, dy: 1 }]
/** The passes of Adam7. */
const INTERLACED: readonly Pass[] = [
  { x: 0, y: 0, dx: 8, dy: 8 },
  { x: 4, y: 0, dx: 8, dy: 8 },
  { x: 0, y: 4, dx: 4, dy: 8 },
  { x: 2, y: 0, dx: 4, dy: 4 },
  { x: 0, y: 2, dx: 2, dy: 4 },
  { x: 1, y: 0, dx: 2, dy: 2 },
  { x: 0, y: 1, dx: 1, dy: 2 },
]

/**
 * Sluice's own reader, since no small library bounds the inflated size of an interlaced image. It ignores
 * checksums. Source: PNG, third edition.
 */
export function readPng(bytes: Uint8Array): Image {
  const chunks = [...chunksOf(bytes)]
  const head = headOf(bytes)
  const find = (type: string): Uint8Array | null => chunks.find((chunk) => chunk.type === type)?.data ?? null
  const pixels = newPixels(head, find('PLTE'), find('tRNS'))
  const passes = head.isInterlaced ? INTERLACED : WHOLE
  const parts = passes.map((pass) => ({ pass, ...partOf(head, pass, pixels.bits) }))
  const length = parts.reduce((sum, { rowBytes, rows }) => sum + (rowBytes + 1) * rows, 0)
  const stored = Buffer.concat(chunks.filter(({ type }) => type === 'IDAT').map(({ data }) => data))
  const raw = inflateSync(stored, { maxOutputLength: length })
  if (raw.length < length) throw new ImageFault('ends too early')
  const rgba = new Uint8Array(head.width * head.height * 4)
  let at = 0
  for (const part of parts) {
    const end = at + (part.rowBytes + 1) * part.rows
    drawPart(rgba, raw.subarray(at, end), { ...part, pixels, width: head.width })
    at = end
  }
  return { width: head.width, height: head.height, rgba }
}

/** From the header alone. */
export function pngSize(bytes: Uint8Array): ImageSize {
  return headOf(bytes)
}

function headOf(bytes: Uint8Array): PngHead {
  const [first] = chunksOf(bytes)
  if (first?.type !== 'IHDR' || first.data.length !== IHDR_BYTES) throw new ImageFault('has no header')
  const view = viewOf(first.data)
  const [depth, colorType, packing, filtering, interlacing] = first.data.subarray(8)
  if (depth === undefined || colorType === undefined || packing !== 0 || filtering !== 0)
    throw new ImageFault('has an invalid PNG header')
  return {
    width: view.getUint32(0),
    height: view.getUint32(4),
    depth,
    colorType,
    isInterlaced: interlacing === 1,
  }
}

/** Chunks up to `IEND`. */
function* chunksOf(bytes: Uint8Array): Generator<{ readonly type: string; readonly data: Uint8Array }> {
  const view = viewOf(bytes)
  for (let at = SIGNATURE_BYTES; at + CHUNK_EXTRA_BYTES <= bytes.length;) {
    const length = view.getUint32(at)
    const type = String.fromCharCode(...bytes.subarray(at + 4, at + 8))
    if (type === 'IEND') return
    if (at + CHUNK_EXTRA_BYTES + length > bytes.length) break
    yield { type, data: bytes.subarray(at + 8, at + 8 + length) }
    at += CHUNK_EXTRA_BYTES + length
  }
  throw new ImageFault('ends too early')
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
}

function partOf(
  { width, height }: PngHead,
  { x, y, dx, dy }: Pass,
  bits: number,
): { readonly columns: number; readonly rows: number; readonly rowBytes: number } {
  const columns = Math.ceil(Math.max(0, width - x) / dx)
  return {
    columns,
    rows: columns === 0 ? 0 : Math.ceil(Math.max(0, height - y) / dy),
    rowBytes: Math.ceil((columns * bits) / 8),
  }
}

interface Part {
  readonly pass: Pass
  readonly columns: number
  readonly rows: number
  readonly rowBytes: number
  readonly pixels: Pixels
  /** Width of the whole picture. */
  readonly width: number
}

function drawPart(
  rgba: Uint8Array,
  raw: Uint8Array,
  { pass, columns, rows, rowBytes, pixels, width }: Part,
): void {
  const step = Math.max(1, pixels.bits >> 3)
  let before: Uint8Array = new Uint8Array(rowBytes)
  for (let nth = 0; nth < rows; nth++) {
    const at = nth * (rowBytes + 1)
    const row = raw.subarray(at + 1, at + 1 + rowBytes)
    if (!unfilter(raw[at] ?? 0, { row, before, step })) throw new ImageFault('has an unknown PNG filter')
    const to = (pass.y + nth * pass.dy) * width + pass.x
    for (let column = 0; column < columns; column++)
      pixels.put(row, column, { rgba, at: 4 * (to + column * pass.dx) })
    before = row
  }
}

/** A stored row, the decoded row above, and the bytes from a pixel to its neighbor. */
interface Row {
  readonly row: Uint8Array
  readonly before: Uint8Array
  readonly step: number
}

/** Undoes a filter of PNG in place; false for an unknown filter. */
function unfilter(filter: number, { row, before, step }: Row): boolean {
  if (filter === 0) return true
  if (filter === 1) for (let at = step; at < row.length; at++) row[at] = of(row, at) + of(row, at - step)
  else if (filter === 2) for (let at = 0; at < row.length; at++) row[at] = of(row, at) + of(before, at)
  else if (filter === 3)
    for (let at = 0; at < row.length; at++)
      row[at] = of(row, at) + ((of(row, at - step) + of(before, at)) >> 1)
  else if (filter === 4)
    for (let at = 0; at < row.length; at++)
      row[at] = of(row, at) + nearest(of(row, at - step), of(before, at), of(before, at - step))
  else return false
  return true
}

/** All is 0 outside of a row. */
function of(row: Uint8Array, at: number): number {
  return at < 0 ? 0 : (row[at] ?? 0)
}

/** The neighbor that is closest to left + above - corner, in this order. */
function nearest(left: number, above: number, corner: number): number {
  const [toLeft, toAbove, toCorner] = [
    Math.abs(above - corner),
    Math.abs(left - corner),
    Math.abs(left + above - 2 * corner),
  ]
  if (toLeft <= toAbove && toLeft <= toCorner) return left
  return toAbove <= toCorner ? above : corner
}

interface PngHead extends ImageSize {
  /** Bits of a sample. */
  readonly depth: number
  readonly colorType: number
  readonly isInterlaced: boolean
}

/** Converts the pixels of a row to red, green, blue and opacity. */
interface Pixels {
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
function newPixels(
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
