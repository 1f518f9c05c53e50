import encoders from 'h264-mp4-encoder'
import { CLIP_DURATIONS, CLIP_FRAMES_PER_SECOND, CLIP_SIZES, type ClipSize } from '../schemas/videos/clip.ts'
import type { ShortJobTypes } from '../server/ports/short-jobs.ts'
import { fastStart } from './fast-start.ts'

type Rendering = ShortJobTypes['render_clip']

/**
 * The clip of `sluice/clip-1`: waves of color that depend on the seed, with the words of the prompt on top.
 * The same input gives the same bytes.
 */
export async function renderClip({
  prompt,
  seed,
  seconds,
  ...size
}: Rendering['in']): Promise<Rendering['out']> {
  const { width, height } = size
  // The caller has checked these values against those that the model advertises.
  if (!CLIP_SIZES.includes(`${width}x${height}`) || !CLIP_DURATIONS.includes(seconds))
    throw new RangeError('the model does not offer a clip of this size or duration')
  const pixels = width * height
  const frame = new Uint8Array(1.5 * pixels)
  const luma = frame.subarray(0, pixels)
  const half = { width: width / 2, height: height / 2 }
  const random = randomFrom(seed)
  const tint = (): number => Math.round(NO_COLOR + TINT * (2 * random() - 1))
  // The planes of yuv420p, one after the other, with one color for two by two pixels.
  const planes = [
    newPlane(luma, { ...size, mean: LUMA, random }),
    newPlane(frame.subarray(pixels, 1.25 * pixels), { ...half, mean: tint(), random }),
    newPlane(frame.subarray(1.25 * pixels), { ...half, mean: tint(), random }),
  ]
  const frames = seconds * CLIP_FRAMES_PER_SECOND
  const drawCaption = newCaption(prompt ?? '', size)
  return encode(size, frames, (nth) => {
    for (const draw of planes) draw(nth / CLIP_FRAMES_PER_SECOND)
    drawCaption(luma, nth / frames)
    return frame
  })
}

/** Mean brightness of the scene, dark enough for white letters. Black is 16, white is 235. */
const LUMA = 80
const WHITE = 235
/** Value of both color planes where there is no color. */
const NO_COLOR = 128
/** Greatest distance of the mean color of a clip from gray. */
const TINT = 44
/** Height of each wave. With three waves every plane stays within the range of video. */
const WAVE = 15

interface Plane extends ClipSize {
  readonly mean: number
  readonly random: () => number
}

/** Returns a function that draws one plane at a time in seconds: waves to the right, downwards and diagonally. */
function newPlane(bytes: Uint8Array, { width, height, mean, random }: Plane): (seconds: number) => void {
  const waveRight = newWave(width, random)
  const waveDown = newWave(height, random)
  const waveDiagonal = newWave(width + height, random)
  return (seconds) => {
    const [right, down, diagonal] = [waveRight(seconds), waveDown(seconds), waveDiagonal(seconds)]
    let at = 0
    for (let y = 0; y < height; y++) {
      const level = mean + (down[y] ?? 0)
      for (let x = 0; x < width; x++) bytes[at++] = level + (right[x] ?? 0) + (diagonal[x + y] ?? 0)
    }
  }
}

/** A wave as a table along its direction, so that a pixel costs three additions but no sine. */
function newWave(length: number, random: () => number): (seconds: number) => Int32Array {
  const [crests, phase, speed] = [0.4 + 1.6 * random(), random(), random() - 0.5]
  const heightAt = (turns: number): number => Math.round(WAVE * Math.sin(2 * Math.PI * turns))
  return (seconds) =>
    Int32Array.from({ length }, (_, nth) => heightAt((nth / length) * crests + phase + speed * seconds))
}

/** Numbers in [0, 1) that depend only on the seed, and are the same on every machine. */
function randomFrom(seed: number): () => number {
  let state = seed | 0
  return () => {
    state = (state + 0x9e3779b9) | 0
    let mixed = Math.imul(state ^ (state >>> 16), 0x21f0aaad)
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97)
    return ((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32
  }
}

/** UTF-16 units of a prompt that are drawn. */
const TEXT_UNITS_MAX = 2_048
const LINES_MAX = 3
/** Pages are shown equally long; with more of them there would be no time to read one. */
const PAGES_MAX = 8
/** Pixels of the shorter side for each pixel of a glyph. */
const SIDE_PER_DOT = 120

type Line = readonly string[]

/** Draws the words of the prompt, one page at a time; the share is the elapsed part of the clip, below 1. */
function newCaption(prompt: string, { width, height }: ClipSize): (luma: Uint8Array, share: number) => void {
  const dot = Math.max(2, Math.floor(Math.min(width, height) / SIDE_PER_DOT))
  const cell = { width: dot * (GLYPH_WIDTH + 1), height: dot * (GLYPH_HEIGHT + 3) }
  const pages = cut(linesOf(prompt, Math.floor(width / cell.width) - 2), LINES_MAX).slice(0, PAGES_MAX)
  return (luma, share) => {
    const lines = pages[Math.floor(share * pages.length)] ?? []
    for (const [nth, line] of lines.entries()) {
      const x = Math.floor((width - line.length * cell.width) / 2)
      const y = height - (height >> 4) - (lines.length - nth) * cell.height
      for (const [column, character] of line.entries())
        drawGlyph(luma, glyphOf(character), { at: y * width + x + column * cell.width, width, dot })
    }
  }
}

/** Characters of each line, without combining marks, controls, and characters that have no width. */
function linesOf(prompt: string, columns: number): readonly Line[] {
  const plain = prompt.slice(0, TEXT_UNITS_MAX).toWellFormed().normalize('NFKD').toUpperCase()
  const words = plain.split(/[\p{Z}\p{Cc}]+/u).map((word) => [...word.replace(/[\p{M}\p{C}]/gu, '')])
  const lines: string[][] = []
  // Words longer than a line continue on the next line.
  for (const word of words.flatMap((whole) => cut(whole, columns))) {
    const line = lines.at(-1)
    if (line === undefined || line.length + 1 + word.length > columns) lines.push([...word])
    else line.push(' ', ...word)
  }
  return lines
}

function cut<T>(list: readonly T[], size: number): readonly (readonly T[])[] {
  return Array.from({ length: Math.ceil(list.length / size) }, (_, nth) =>
    list.slice(nth * size, (nth + 1) * size),
  )
}

interface Place {
  /** Index of the upper left pixel. */
  readonly at: number
  readonly width: number
  readonly dot: number
}

function drawGlyph(luma: Uint8Array, glyph: Glyph, { at, width, dot }: Place): void {
  for (const [row, bits] of glyph.entries()) {
    for (let column = 0; column < GLYPH_WIDTH; column++) {
      if (((bits >> (GLYPH_WIDTH - 1 - column)) & 1) === 0) continue
      const from = at + row * dot * width + column * dot
      for (let sub = 0; sub < dot; sub++) luma.fill(WHITE, from + sub * width, from + sub * width + dot)
    }
  }
}

const GLYPH_WIDTH = 5
const GLYPH_HEIGHT = 7

/** Seven rows of five pixels; the leftmost pixel is the highest bit. */
type Glyph = readonly number[]

/** Each character, followed by the rows of its glyph as digits of base 32. */
const DRAWN = String.raw`
  Aehhvhhh Buhhuhhu Cehggghe Duhhhhhu Evgguggv Fvgguggg Gehgnhhe Hhhhvhhh Ie44444e J72222ic Khikokih Lggggggv
  Mhrllhhh Nhhpljhh Oehhhhhe Puhhuggg Qehhhlid Ruhhukih Sfgge11u Tv444444 Uhhhhhhe Vhhhhha4 Whhhllla Xhha4ahh
  Yhha4444 Zv1248gv 0ehjlphe 14c4444e 2eh1248v 3v2421he 426aiv22 5vgu11he 668guhhe 7v124888 8ehhehhe 9ehhf12c
  .00000cc ,0000c48 :0cc0cc0 ;0cc0c48 !4444404 ?eh12404 '4480000 "aa00000 -000v000 _000000v (2488842 )8422248
  [e88888e ]e22222e /01248g0 \0g84210 +044v440 =00v0v00 *04lel40 #aavavaa %op248j3 &cik8lid @eh1dlle $4fke5u4
  <248g842 >8421248`

const GLYPHS = new Map<string, Glyph>([[' ', []]])
for (const [character = '', ...rows] of DRAWN.trim().split(/\s+/))
  GLYPHS.set(
    character,
    rows.map((digit) => parseInt(digit, 32)),
  )

/**
 * Upper-case letters without marks have their own glyphs. Other characters get a symmetric pattern computed from the
 * character, so that a text in any script has an effect.
 */
function glyphOf(character: string): Glyph {
  const known = GLYPHS.get(character)
  if (known !== undefined) return known
  const random = randomFrom(character.codePointAt(0) ?? 0)
  return Array.from({ length: GLYPH_HEIGHT }, () => {
    const half = Math.floor(8 * random())
    return (half << 2) | (half & 0b010) | (half >> 2)
  })
}

/** From 0, the most careful, to 10. At 8 a clip takes twice the time and is no smaller. */
const SPEED = 10
/** From 10, the best picture, to 51: at this value letters have sharp edges, and waves no bands. */
const QUANTIZER = 28

/**
 * Encodes frames of yuv420p as H.264 in an MP4 file that plays while it loads. Throws the errors of `draw`.
 * @param draw draws a frame; may return the same bytes each time
 */
export async function encode(
  { width, height }: ClipSize,
  frames: number,
  draw: (nth: number) => Uint8Array,
): Promise<Uint8Array<ArrayBuffer>> {
  const encoder = await encoders.createH264MP4Encoder()
  Object.assign(encoder, {
    width,
    height,
    frameRate: CLIP_FRAMES_PER_SECOND,
    speed: SPEED,
    quantizationParameter: QUANTIZER,
    // A key frame, from which a player may begin, every two seconds.
    groupOfPictures: 2 * CLIP_FRAMES_PER_SECOND,
  })
  try {
    encoder.initialize()
    try {
      for (let nth = 0; nth < frames; nth++) encoder.addFrameYuv(draw(nth))
    } finally {
      // If an initialized encoder is dropped without this, it aborts all later encoders of the thread.
      encoder.finalize()
    }
    return fastStart(encoder.FS.readFile(encoder.outputFilename), { width, height })
  } finally {
    // All encoders of a thread share one memory and one file system, which last as long as the thread.
    encoder.FS.unlink(encoder.outputFilename)
    encoder.delete()
  }
}
