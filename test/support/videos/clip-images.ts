import { deflateSync } from 'node:zlib'
import { encode } from 'jpeg-js'
import { chunk } from '../corpus/images.ts'

/** A PNG of one colour, red, green and blue, or with a header that says otherwise. */
export function plainPng(
  { width, height }: { readonly width: number; readonly height: number },
  [red, green, blue]: readonly [number, number, number],
): Uint8Array<ArrayBuffer> {
  const row = Buffer.concat([Buffer.of(0), Buffer.alloc(3 * width, Buffer.of(red, green, blue))])
  return pngOf(
    { width, height, depth: 8, colourType: 2 },
    Buffer.concat(Array.from({ length: height }, () => row)),
  )
}

export interface PngInput {
  readonly width: number
  readonly height: number
  readonly depth: number
  readonly colourType: number
  readonly isInterlaced?: boolean
  readonly palette?: Uint8Array
  readonly covers?: Uint8Array
}

/** @param rows filtered rows, each after the number of its filter */
export function pngOf(
  { width, height, depth, colourType, isInterlaced = false, palette, covers }: PngInput,
  rows: Uint8Array,
): Uint8Array<ArrayBuffer> {
  const head = Buffer.alloc(13)
  head.writeUInt32BE(width, 0)
  head.writeUInt32BE(height, 4)
  head.set([depth, colourType, 0, 0, isInterlaced ? 1 : 0], 8)
  const data = deflateSync(rows)
  const half = data.length >> 1
  return new Uint8Array(
    Buffer.concat([
      Buffer.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a),
      chunk('IHDR', head),
      ...(palette === undefined ? [] : [chunk('PLTE', palette)]),
      ...(covers === undefined ? [] : [chunk('tRNS', covers)]),
      // Two parts, as most writers make of more than a few kilobytes.
      chunk('IDAT', data.subarray(0, half)),
      chunk('IDAT', data.subarray(half)),
      chunk('IEND', Buffer.alloc(0)),
    ]),
  )
}

/** A JPEG of one colour. */
export function plainJpeg(
  { width, height }: { readonly width: number; readonly height: number },
  [red, green, blue]: readonly [number, number, number],
): Uint8Array<ArrayBuffer> {
  const { data } = encode(
    { width, height, data: Buffer.alloc(4 * width * height, Buffer.of(red, green, blue, 255)) },
    90,
  )
  return new Uint8Array(data)
}
