import encoders, { type H264MP4Encoder } from 'h264-mp4-encoder'
import { decode } from 'jpeg-js'
import { CLIP_SIZES } from '../../schemas/videos/clip.ts'
import {
  CLIP_FRAMES_PER_SECOND,
  CLIP_REFERENCES_MAX,
  CLIP_SECONDS_MAX,
  CLIP_SECONDS_MIN,
} from '../../schemas/videos/clip-limits.ts'
import type { ShortJobTypes } from '../../server/ports/short-jobs.ts'
import { newCaption } from './caption.ts'
import { newFrame } from './frame.ts'
import { drawPicture, fitInto, type Box, type Picture } from './picture.ts'
import { randomFrom } from './random.ts'
import { newScene } from './scene.ts'
import { type Image, ImageFault, type ImageSize } from './image.ts'
import { pngSize, readPng } from './png.ts'
import { fastStart, type Timing } from './fast-start.ts'

/**
 * Pixels of an image that is decoded for a clip (4096 × 3072). The image's header gives them before it is
 * decoded. Decision.
 */
export const CLIP_IMAGE_PIXELS_MAX = 12_582_912
/** Pixels of the longer side of an image that is decoded for a clip. Decision. */
export const CLIP_IMAGE_SIDE_MAX = 16_384
/**
 * Pixels of all images of one clip: a large progressive JPEG takes seconds, and a short job has
 * SHORT_JOB_MS_MAX. Decision.
 */
export const CLIP_IMAGES_PIXELS_MAX = 25_165_824
/** Scans of a JPEG. Each scan is a pass over the whole image; encoders write about ten. Decision. */
export const CLIP_JPEG_SCANS_MAX = 20

type Rendering = ShortJobTypes['render_clip']

/** Shares of the clip between which the first image fades into the scene. */
const FIRST_FADES = [0.2, 0.45] as const
/** Shares of the clip between which the scene fades into the last image. */
const LAST_FADES = [0.6, 0.85] as const

/**
 * The clip of `sluice/clip-1`: a scene computed from seed and prompt, the prompt's words, and the images. The
 * same input gives the same bytes.
 */
export async function renderClip(input: Rendering['in']): Promise<Rendering['out']> {
  assertBounded(input)
  const pictures = placeImages(input)
  if (typeof pictures === 'string') return { ok: false, detail: pictures }
  const { prompt, seed, width, height, framesPerSecond } = input
  const frames = input.seconds * framesPerSecond
  const frame = newFrame(input)
  const scene = newScene(randomFrom(seed, prompt ?? ''))
  const caption = newCaption(prompt, input)
  const draw = (nth: number): Uint8Array => {
    // The share is 0 at the first frame and 1 at the last: frame images are compared with these two.
    const share = frames === 1 ? 0 : nth / (frames - 1)
    scene.draw(frame, nth / framesPerSecond)
    for (const [at, reference] of pictures.references.entries())
      drawPicture(frame, bobbing(reference, at, nth / framesPerSecond), 1)
    if (pictures.first !== null) drawPicture(frame, pictures.first, 1 - between(share, FIRST_FADES))
    if (pictures.last !== null) drawPicture(frame, pictures.last, between(share, LAST_FADES))
    caption?.draw(frame, share)
    return frame.bytes
  }
  return { ok: true, mp4: await encode({ width, height, framesPerSecond, frames, draw }) }
}

/** The caller has checked these values against those that the model advertises. */
function assertBounded({ seconds, width, height, framesPerSecond }: Rendering['in']): void {
  const isBounded =
    CLIP_SIZES.includes(`${width}x${height}`) &&
    Number.isInteger(seconds) &&
    seconds >= CLIP_SECONDS_MIN &&
    seconds <= CLIP_SECONDS_MAX &&
    framesPerSecond === CLIP_FRAMES_PER_SECOND
  if (!isBounded) throw new RangeError('the model does not offer a clip of this size, length or frame rate')
}

interface Pictures {
  readonly first: Picture | null
  readonly last: Picture | null
  readonly references: readonly Picture[]
}

/** Decodes images one after the other, so that a single decoded image is in memory at a time; a returned text is the fault. */
function placeImages({
  firstFrame,
  lastFrame,
  references,
  width,
  height,
}: Rendering['in']): Pictures | string {
  if (references.length > CLIP_REFERENCES_MAX)
    return `There are more than ${CLIP_REFERENCES_MAX} reference images.`
  const whole = { x: 0, y: 0, width, height }
  const wanted = [
    { name: 'The first frame', bytes: firstFrame, box: whole },
    { name: 'The last frame', bytes: lastFrame, box: whole },
    ...references.map((bytes, nth) => ({
      name: `Reference image ${nth + 1}`,
      bytes,
      box: shelf(nth, { width, height }),
    })),
  ]
  const pictures: (Picture | null)[] = []
  let pixelsLeft = CLIP_IMAGES_PIXELS_MAX
  for (const { name, bytes, box } of wanted) {
    const image = bytes === null ? null : readImage(bytes, pixelsLeft)
    if (typeof image === 'string') return `${name} ${image}.`
    pixelsLeft -= image === null ? 0 : image.width * image.height
    pictures.push(image === null ? null : fitInto(box, image))
  }
  const [first = null, last = null, ...placed] = pictures
  return { first, last, references: placed.filter((picture) => picture !== null) }
}

/** Places the references side by side in the upper half, with room to move. */
function shelf(nth: number, { width, height }: Pick<Box, 'width' | 'height'>): Box {
  const place = Math.floor(width / CLIP_REFERENCES_MAX / 2) * 2
  const margin = 2 * Math.floor(Math.min(width, height) / 40)
  return {
    x: nth * place + margin,
    y: 2 * margin,
    width: place - 2 * margin,
    height: 2 * Math.floor(height / 6),
  }
}

function bobbing(picture: Picture, nth: number, seconds: number): Picture {
  const rise = 2 * Math.round(3 * Math.sin(2 * Math.PI * (seconds / 2 + nth / 3)))
  return { ...picture, y: picture.y + rise }
}

/** 0 before the interval, 1 after it, and linear between. */
function between(share: number, [from, to]: readonly [number, number]): number {
  return Math.min(1, Math.max(0, (share - from) / (to - from)))
}

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

/** Memory that the decoder may allocate: 13 bytes a pixel of the largest image with three components. Decision. */
const MEMORY_MIB_MAX = 512

const START_OF_SCAN = 0xda

/** Markers of Huffman tables, of a reserved marker and of arithmetic tables lie among those of frame headers. */
const TABLES: ReadonlySet<number> = new Set([0xc4, 0xc8, 0xcc])

function readJpeg(bytes: Uint8Array): Image {
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
function jpegSize(bytes: Uint8Array): ImageSize {
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

/** From 0, the most careful, to 10: at 8 a clip takes twice the time, and is as large. */
const SPEED = 10
/** From 10, the best picture, to 51: at this value letters have sharp edges, and waves no bands. */
const QUANTIZER = 28

export interface Film extends Timing {
  readonly frames: number
  /** Draws a frame; may return the same bytes each time. */
  draw(nth: number): Uint8Array
}

/** Encodes frames of yuv420p as H.264 in an MP4 file that plays while it loads. Throws the errors of `draw`. */
export async function encode({
  width,
  height,
  framesPerSecond,
  frames,
  draw,
}: Film): Promise<Uint8Array<ArrayBuffer>> {
  const encoder = await encoders.createH264MP4Encoder()
  Object.assign(encoder, {
    width,
    height,
    frameRate: framesPerSecond,
    speed: SPEED,
    quantizationParameter: QUANTIZER,
  })
  // A key frame, from which a player may begin, every two seconds.
  encoder.groupOfPictures = 2 * framesPerSecond
  try {
    write(encoder, frames, draw)
    return fastStart(encoder.FS.readFile(encoder.outputFilename), { width, height, framesPerSecond })
  } finally {
    // All encoders of a thread share one memory and one file system, which exist as long as the thread.
    encoder.FS.unlink(encoder.outputFilename)
    encoder.delete()
  }
}

/** An encoder that was initialized and is dropped without `finalize` aborts all encoders of the thread forever. */
function write(encoder: H264MP4Encoder, frames: number, draw: Film['draw']): void {
  encoder.initialize()
  try {
    for (let nth = 0; nth < frames; nth++) encoder.addFrameYuv(draw(nth))
  } finally {
    encoder.finalize()
  }
}
