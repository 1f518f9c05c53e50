import { fold } from './random.ts'

export const GLYPH_WIDTH = 5
export const GLYPH_HEIGHT = 7

/** Seven rows of five pixels; the leftmost pixel is the highest bit. */
export type Glyph = readonly number[]

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
export function glyphOf(character: string): Glyph {
  return GLYPHS.get(character) ?? pattern(character)
}

function pattern(character: string): Glyph {
  const bits = fold(character, 0x2c1b3c6d) >>> 0
  return Array.from({ length: GLYPH_HEIGHT }, (_, row) => {
    const half = (bits >>> (3 * row)) & 0b111
    return (half << 2) | (half & 0b010) | (half >> 2)
  })
}
