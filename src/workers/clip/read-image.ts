import {
  CLIP_IMAGE_PIXELS_MAX,
  CLIP_IMAGE_SIDE_MAX,
  CLIP_IMAGES_PIXELS_MAX,
} from '../../schemas/videos/clip-limits.ts'
import { ImageFault, type Image, type ImageSize } from './image.ts'
import { jpegSize, readJpeg } from './jpeg.ts'
import { pngSize, readPng } from './png.ts'

/**
 * Reads an image by its contents, PNG or JPEG.
 * @param pixelsLeft rest of the pixels that all images of a clip may have
 * @returns the fault of an unreadable image, without any of its bytes
 */
export function readImage(bytes: Uint8Array, pixelsLeft: number = CLIP_IMAGES_PIXELS_MAX): Image | string {
  const type = TYPES.find(({ begins }) => begins.every((byte, at) => bytes[at] === byte))
  if (type === undefined) return 'is neither a PNG nor a JPEG image'
  if (type.read === null) return `is a ${type.name} image; only PNG and JPEG are supported`
  try {
    const size = type.read.size(bytes)
    const problem = tooLarge(size, pixelsLeft)
    return problem ?? type.read.whole(bytes)
  } catch (fault) {
    // Every exception of a decoder means a faulty image, and its text may quote the image.
    return fault instanceof ImageFault ? fault.message : `is a broken ${type.name} image`
  }
}

/** Runs before decoding: a header of a few bytes may announce gigabytes. */
function tooLarge({ width, height }: ImageSize, pixelsLeft: number): string | null {
  if (width === 0 || height === 0) return 'has no size'
  if (Math.max(width, height) > CLIP_IMAGE_SIDE_MAX)
    return `is more than ${CLIP_IMAGE_SIDE_MAX} pixels wide or high`
  if (width * height > CLIP_IMAGE_PIXELS_MAX) return `has more than ${CLIP_IMAGE_PIXELS_MAX} pixels`
  return width * height > pixelsLeft
    ? `has, together with earlier images, more than ${CLIP_IMAGES_PIXELS_MAX} pixels`
    : null
}

interface ImageType {
  readonly name: string
  readonly begins: readonly number[]
  readonly read: { size(bytes: Uint8Array): ImageSize; whole(bytes: Uint8Array): Image } | null
}

const TYPES: readonly ImageType[] = [
  {
    name: 'PNG',
    begins: [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a],
    read: { size: pngSize, whole: readPng },
  },
  { name: 'JPEG', begins: [0xff, 0xd8, 0xff], read: { size: jpegSize, whole: readJpeg } },
  { name: 'GIF', begins: [0x47, 0x49, 0x46, 0x38], read: null },
  { name: 'WebP or other RIFF', begins: [0x52, 0x49, 0x46, 0x46], read: null },
]
