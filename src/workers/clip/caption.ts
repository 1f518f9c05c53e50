import { CLIP_TEXT_UNITS_MAX } from '../../schemas/videos/clip-limits.ts'
import type { Frame } from './frame.ts'
import { GLYPH_HEIGHT, GLYPH_WIDTH, glyphOf } from './glyphs.ts'

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
