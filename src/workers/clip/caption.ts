import type { Frame } from './frame.ts'
import { fold } from './random.ts'

/** UTF-16 units of a prompt that are drawn as text; the whole prompt determines the scene. Decision. */
export const CLIP_TEXT_UNITS_MAX = 2_048

/** The words of a prompt over the picture, one page at a time. */
export interface Caption {
  /** @param share elapsed part of the clip, 0 to 1 */
  draw(frame: Frame, share: number): void
}

const LINES_MAX = 3
/** Pages have equal times; with more pages there would be no time to read one. */
const PAGES_MAX = 8
/** Pixels of the shorter side for each pixel of a glyph. */
const SIDE_PER_DOT = 120
/** Brightness of white in the range of video. */
const WHITE = 235
/** Brightness of black in the range of video. */
const BLACK = 16

/** Null when there is nothing to draw. */
export function newCaption(
  prompt: string | null,
  { width, height }: { readonly width: number; readonly height: number },
): Caption | null {
  const dot = Math.max(2, Math.floor(Math.min(width, height) / SIDE_PER_DOT))
  const columns = Math.floor(width / (dot * (GLYPH_WIDTH + 1))) - 2
  const pages = pagesOf(wordsOf(prompt ?? ''), columns)
  if (pages.length === 0) return null
  return {
    draw(frame, share) {
      const page = pages[Math.min(pages.length - 1, Math.floor(share * pages.length))] ?? []
      drawPage(frame, page, dot)
    },
  }
}

type Word = readonly string[]

/** Characters of each word that have a picture: no combining marks, no controls, none without width. */
function wordsOf(prompt: string): readonly Word[] {
  const plain = prompt.slice(0, CLIP_TEXT_UNITS_MAX).toWellFormed().normalize('NFKD').toUpperCase()
  return plain
    .split(/[\p{Z}\p{Cc}]+/u)
    .map((word) => [...word.replace(/[\p{M}\p{C}]/gu, '')])
    .filter((word) => word.length > 0)
}

/** Words longer than a line continue on the next line. */
function pagesOf(words: readonly Word[], columns: number): readonly (readonly Word[])[] {
  const lines: string[][] = []
  let line: string[] = []
  const end = (): void => {
    if (line.length > 0) lines.push(line)
    line = []
  }
  for (const word of words.flatMap((whole) => cut(whole, columns))) {
    if (line.length + 1 + word.length > columns) end()
    line = line.length === 0 ? [...word] : [...line, ' ', ...word]
  }
  end()
  return cut(lines, LINES_MAX).slice(0, PAGES_MAX)
}

function cut<T>(list: readonly T[], size: number): readonly (readonly T[])[] {
  return Array.from({ length: Math.ceil(list.length / size) }, (_, nth) =>
    list.slice(nth * size, (nth + 1) * size),
  )
}

function drawPage(frame: Frame, lines: readonly Word[], dot: number): void {
  const lineHeight = dot * (GLYPH_HEIGHT + 3)
  const bandHeight = lines.length * lineHeight + 3 * dot
  const top = frame.height - bandHeight - 2 * dot - (frame.height >> 4)
  darken(frame, top, bandHeight)
  for (const [nth, line] of lines.entries()) {
    const left = Math.floor((frame.width - line.length * dot * (GLYPH_WIDTH + 1)) / 2)
    drawLine(frame, line, { x: left, y: top + 3 * dot + nth * lineHeight, dot })
  }
}

/** Darkens the picture so that white letters are legible. */
function darken({ y: plane, width }: Frame, top: number, rows: number): void {
  for (let at = top * width; at < (top + rows) * width; at++)
    plane[at] = BLACK + ((((plane[at] ?? BLACK) - BLACK) * 3) >> 3)
}

interface Place {
  readonly x: number
  readonly y: number
  readonly dot: number
}

function drawLine({ y: plane, width }: Frame, line: Word, { x, y, dot }: Place): void {
  for (const [nth, character] of line.entries()) {
    if (character === ' ') continue
    const left = x + nth * dot * (GLYPH_WIDTH + 1)
    for (const [row, bits] of glyphOf(character).entries()) {
      for (let column = 0; column < GLYPH_WIDTH; column++) {
        if (((bits >> (GLYPH_WIDTH - 1 - column)) & 1) === 0) continue
        const from = (y + row * dot) * width + left + column * dot
        for (let sub = 0; sub < dot; sub++) plane.fill(WHITE, from + sub * width, from + sub * width + dot)
      }
    }
  }
}

const GLYPH_WIDTH = 5
const GLYPH_HEIGHT = 7

/** Seven rows of five pixels; the leftmost pixel is the highest bit. */
type Glyph = readonly number[]

/** Rows of each glyph as digits of base 32. */
const DRAWN: Readonly<Record<string, string>> = {
  A: 'ehhvhhh',
  B: 'uhhuhhu',
  C: 'ehggghe',
  D: 'uhhhhhu',
  E: 'vgguggv',
  F: 'vgguggg',
  G: 'ehgnhhe',
  H: 'hhhvhhh',
  I: 'e44444e',
  J: '72222ic',
  K: 'hikokih',
  L: 'ggggggv',
  M: 'hrllhhh',
  N: 'hhpljhh',
  O: 'ehhhhhe',
  P: 'uhhuggg',
  Q: 'ehhhlid',
  R: 'uhhukih',
  S: 'fgge11u',
  T: 'v444444',
  U: 'hhhhhhe',
  V: 'hhhhha4',
  W: 'hhhllla',
  X: 'hha4ahh',
  Y: 'hha4444',
  Z: 'v1248gv',
  '0': 'ehjlphe',
  '1': '4c4444e',
  '2': 'eh1248v',
  '3': 'v2421he',
  '4': '26aiv22',
  '5': 'vgu11he',
  '6': '68guhhe',
  '7': 'v124888',
  '8': 'ehhehhe',
  '9': 'ehhf12c',
  '.': '00000cc',
  ',': '0000c48',
  ':': '0cc0cc0',
  ';': '0cc0c48',
  '!': '4444404',
  '?': 'eh12404',
  "'": '4480000',
  '"': 'aa00000',
  '-': '000v000',
  _: '000000v',
  '(': '2488842',
  ')': '8422248',
  '[': 'e88888e',
  ']': 'e22222e',
  '/': '01248g0',
  '\\': '0g84210',
  '+': '044v440',
  '=': '00v0v00',
  '*': '04lel40',
  '#': 'aavavaa',
  '%': 'op248j3',
  '&': 'cik8lid',
  '@': 'eh1dlle',
  $: '4fke5u4',
  '<': '248g842',
  '>': '8421248',
  '…': '000000l',
}

const GLYPHS: ReadonlyMap<string, Glyph> = new Map(
  Object.entries(DRAWN).map(([character, rows]) => [
    character,
    [...rows].map((digit) => parseInt(digit, 32)),
  ]),
)

/**
 * Upper-case letters without marks have a glyph of their own. Other characters get a symmetric pattern
 * computed from the character, so that a text in any script has an effect.
 */
function glyphOf(character: string): Glyph {
  return GLYPHS.get(character) ?? pattern(character)
}

function pattern(character: string): Glyph {
  const bits = fold(character, 0x2c1b3c6d) >>> 0
  return Array.from({ length: GLYPH_HEIGHT }, (_, row) => {
    const half = (bits >>> (3 * row)) & 0b111
    return (half << 2) | (half & 0b010) | (half >> 2)
  })
}
