import { inflateSync } from 'node:zlib'
import { ImageFault, type Image, type ImageSize } from './image.ts'
import { newPixels, type Pixels, type PngHead } from './png-pixels.ts'
import { unfilter } from './png-rows.ts'

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
