import { uOf, vOf, yOf, type Frame } from './frame.ts'
import type { Image } from './image.ts'

/** An image placed in the frame: its planes, its upper left corner and its size, all even. */
export interface Picture {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
  readonly planes: Pick<Frame, 'y' | 'u' | 'v'>
}

/** A part of the frame, in pixels. */
export interface Box {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

/** Points along each axis whose mean is a pixel of the smaller picture. */
const POINTS = 4
/** Brightness shown through a transparent pixel: white. */
const PAPER = 255

/** Scales an image into the middle of a box, as large as it fits; the uncovered rest is white. */
export function fitInto(box: Box, image: Image): Picture {
  const scale = Math.min(box.width / image.width, box.height / image.height)
  const [width, height] = [even(image.width * scale, box.width), even(image.height * scale, box.height)]
  const rgb = scaled(image, width, height)
  const planes = {
    y: new Uint8Array(width * height),
    u: new Uint8Array((width * height) / 4),
    v: new Uint8Array((width * height) / 4),
  }
  for (let at = 0, from = 0; at < width * height; at++, from += 3)
    planes.y[at] = yOf(rgb[from] ?? 0, rgb[from + 1] ?? 0, rgb[from + 2] ?? 0)
  tint(planes, rgb, width)
  const middle = (room: number, taken: number): number => 2 * Math.floor((room - taken) / 4)
  return { x: box.x + middle(box.width, width), y: box.y + middle(box.height, height), width, height, planes }
}

function even(length: number, lengthMax: number): number {
  return Math.min(2 * Math.floor(lengthMax / 2), Math.max(2, 2 * Math.round(length / 2)))
}

function tint({ u, v }: Picture['planes'], rgb: Uint8Array, width: number): void {
  const half = width / 2
  for (let pair = 0; pair < u.length; pair++) {
    const corner = 3 * (2 * Math.floor(pair / half) * width + 2 * (pair % half))
    const mean = (part: number): number => {
      const at = corner + part
      return (
        ((rgb[at] ?? 0) + (rgb[at + 3] ?? 0) + (rgb[at + 3 * width] ?? 0) + (rgb[at + 3 * width + 3] ?? 0)) >>
        2
      )
    }
    const [red, green, blue] = [mean(0), mean(1), mean(2)]
    u[pair] = uOf(red, green, blue)
    v[pair] = vOf(red, green, blue)
  }
}

/** Red, green and blue of a smaller or larger copy. */
function scaled({ width, height, rgba }: Image, toWidth: number, toHeight: number): Uint8Array {
  const columns = points(width, toWidth)
  const rows = points(height, toHeight)
  const rgb = new Uint8Array(toWidth * toHeight * 3)
  let to = 0
  for (let y = 0; y < toHeight; y++) {
    for (let x = 0; x < toWidth; x++) {
      let red = 0
      let green = 0
      let blue = 0
      for (let row = y * POINTS; row < (y + 1) * POINTS; row++) {
        const line = (rows[row] ?? 0) * width
        for (let column = x * POINTS; column < (x + 1) * POINTS; column++) {
          const at = 4 * (line + (columns[column] ?? 0))
          const cover = rgba[at + 3] ?? 0
          const bare = (255 - cover) * PAPER
          red += (rgba[at] ?? 0) * cover + bare
          green += (rgba[at + 1] ?? 0) * cover + bare
          blue += (rgba[at + 2] ?? 0) * cover + bare
        }
      }
      rgb[to++] = red / PARTS
      rgb[to++] = green / PARTS
      rgb[to++] = blue / PARTS
    }
  }
  return rgb
}

const PARTS = 255 * POINTS * POINTS

/** The position in the image of each point of each pixel of the copy, along one axis. */
function points(length: number, toLength: number): Int32Array {
  const count = toLength * POINTS
  return Int32Array.from({ length: count }, (_, nth) =>
    Math.min(length - 1, Math.floor(((nth + 0.5) * length) / count)),
  )
}

/** @param cover 0 leaves the frame unchanged, 1 shows the picture alone */
export function drawPicture(frame: Frame, { x, y, width, height, planes }: Picture, cover: number): void {
  const weight = Math.round(cover * 256)
  if (weight <= 0) return
  blend(planes.y, frame.y, { x, y, width, height, stride: frame.width, weight })
  const half = { x: x / 2, y: y / 2, width: width / 2, height: height / 2, stride: frame.width / 2, weight }
  blend(planes.u, frame.u, half)
  blend(planes.v, frame.v, half)
}

function blend(
  from: Uint8Array,
  to: Uint8Array,
  { x, y, width, height, stride, weight }: Box & { readonly stride: number; readonly weight: number },
): void {
  for (let row = 0; row < height; row++) {
    const at = (y + row) * stride + x
    if (weight >= 256) {
      to.set(from.subarray(row * width, (row + 1) * width), at)
      continue
    }
    for (let column = 0; column < width; column++) {
      const under = to[at + column] ?? 0
      to[at + column] = under + ((((from[row * width + column] ?? 0) - under) * weight) >> 8)
    }
  }
}
