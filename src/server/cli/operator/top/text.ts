import { escapeControls, inTone, type Tone } from '../../parts/terminal-text.ts'

export interface Piece {
  readonly text: string
  readonly tone: Tone
}

export type Line = readonly Piece[]

export function piece(text: string, tone: Tone = 'plain'): Piece {
  return { text, tone }
}

/** A line for a terminal, no wider than `columns`: longer text is cut, and an ellipsis shows the cut. */
export function lineText(line: Line, columns: number, hasColour: boolean): string {
  return cutLine(line, columns)
    .map(({ text, tone }) => (hasColour ? inTone(text, tone) : text))
    .join('')
    .trimEnd()
}

function cutLine(line: Line, columns: number): Line {
  const clean = line.map(({ text, tone }) => ({ text: escapeControls(text), tone }))
  if (clean.reduce((sum, { text }) => sum + widthOf(text), 0) <= columns) return clean
  let left = Math.max(0, columns - 1)
  const cut: Piece[] = []
  for (const { text, tone } of clean) {
    const part = head(text, left)
    cut.push({ text: part, tone })
    left -= widthOf(part)
    if (part !== text) break
  }
  return columns < 1 ? [] : [...cut, piece('…', 'faint')]
}

/** Columns that a text takes on a terminal. */
export function widthOf(text: string): number {
  let width = 0
  for (const sign of text) width += widthOfSign(sign)
  return width
}

/** The longest beginning that fits into the columns. */
export function head(text: string, columns: number): string {
  let width = 0
  let end = 0
  for (const sign of text) {
    width += widthOfSign(sign)
    if (width > columns) break
    end += sign.length
  }
  return text.slice(0, end)
}

/** Pads a text to a width, or cuts it to the width. */
export function fitted(text: string, columns: number, side: 'left' | 'right'): string {
  const clean = escapeControls(text)
  const width = widthOf(clean)
  const kept = width <= columns ? clean : columns < 1 ? '' : `${head(clean, columns - 1)}…`
  const room = ' '.repeat(Math.max(0, columns - widthOf(kept)))
  return side === 'left' ? kept + room : room + kept
}

const NO_COLUMN = /^\p{M}$/u
/** Wide characters: those of East Asia and pictographs. */
const TWO_COLUMNS = new RegExp(
  [
    '^[\\u1100-\\u115f\\u2e80-\\u303e\\u3041-\\ua4cf\\uac00-\\ud7a3\\uf900-\\ufaff\\ufe30-\\ufe6f',
    '\\uff00-\\uff60\\uffe0-\\uffe6\\u{1f300}-\\u{1faff}\\u{20000}-\\u{3fffd}]$',
  ].join(''),
  'u',
)

function widthOfSign(sign: string): number {
  if (sign < '\u0300') return 1
  if (NO_COLUMN.test(sign)) return 0
  return TWO_COLUMNS.test(sign) ? 2 : 1
}
