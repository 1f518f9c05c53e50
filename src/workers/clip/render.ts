import { CLIP_SIZES } from '../../schemas/videos/clip.ts'
import {
  CLIP_FRAMES_PER_SECOND,
  CLIP_IMAGES_PIXELS_MAX,
  CLIP_REFERENCES_MAX,
  CLIP_SECONDS_MAX,
  CLIP_SECONDS_MIN,
} from '../../schemas/videos/clip-limits.ts'
import type { ShortJobTypes } from '../../server/ports/short-jobs.ts'
import { newCaption } from './caption.ts'
import { encode } from './encode.ts'
import { newFrame } from './frame.ts'
import { drawPicture, fitInto, type Box, type Picture } from './picture.ts'
import { randomFrom } from './random.ts'
import { readImage } from './read-image.ts'
import { newScene } from './scene.ts'

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

/**
 * Decodes images one after the other, so that a single decoded image is in memory at a time; a returned text
 * is the fault.
 */
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

/** Places the references beside each other in the upper half, with room to move. */
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
