import { decode } from 'jpeg-js'
import { CLIP_IMAGE_PIXELS_MAX, CLIP_JPEG_SCANS_MAX } from '../../schemas/videos/clip-limits.ts'
import { ImageFault, type Image, type ImageSize } from './image.ts'

/**
 * Memory that the decoder may allocate: 13 bytes a pixel of the largest image with three components.
 * Decision.
 */
const MEMORY_MIB_MAX = 512

const START_OF_SCAN = 0xda

export function readJpeg(bytes: Uint8Array): Image {
  if (countScans(bytes) > CLIP_JPEG_SCANS_MAX)
    throw new ImageFault(`has more than ${CLIP_JPEG_SCANS_MAX} scans`)
  const { width, height, data } = decode(bytes, {
    useTArray: true,
    tolerantDecoding: false,
    maxResolutionInMP: CLIP_IMAGE_PIXELS_MAX / 1e6,
    maxMemoryUsageInMB: MEMORY_MIB_MAX,
  })
  return { width, height, rgba: data }
}

/** From the first frame header: baseline, extended or progressive. */
export function jpegSize(bytes: Uint8Array): ImageSize {
  for (let at = 2; at + 9 <= bytes.length;) {
    if (bytes[at] !== 0xff) break
    const marker = bytes[at + 1] ?? 0
    if (marker === 0xff) {
      at++
      continue
    }
    if (marker >= 0xc0 && marker <= 0xc2) return { height: u16(bytes, at + 5), width: u16(bytes, at + 7) }
    if (marker === START_OF_SCAN || (marker >= 0xc3 && marker <= 0xcf && !TABLES.has(marker))) break
    at += 2 + u16(bytes, at + 2)
  }
  throw new ImageFault('has no baseline or progressive JPEG frame')
}

/**
 * Markers of Huffman tables, of a reserved marker and of arithmetic tables lie among those of frame headers.
 */
const TABLES: ReadonlySet<number> = new Set([0xc4, 0xc8, 0xcc])

/** In compressed data the first byte of a marker is never followed by this second byte. */
function countScans(bytes: Uint8Array): number {
  let scans = 0
  for (let at = bytes.indexOf(0xff); at !== -1; at = bytes.indexOf(0xff, at + 1))
    if (bytes[at + 1] === START_OF_SCAN) scans++
  return scans
}

function u16(bytes: Uint8Array, at: number): number {
  return ((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0)
}
