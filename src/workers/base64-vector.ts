import { isAt, QUOTE } from '../schemas/values/json-bytes.ts'
import type { NumberBytes } from './number-list.ts'

const FLOAT32_BYTES = 4

/** Returned when the code here cannot prove that the string is valid. */
const FAILED = -1

/** The endings of a text whose number count is no multiple of three: the characters of the last one or two numbers, and their padding. */
const RESTS = [
  // The last character has four or two unused bits, which are zero.
  { characters: 6, padding: Buffer.from('=="'), last: charactersOf('AQgw') },
  { characters: 11, padding: Buffer.from('="'), last: charactersOf('AEIMQUYcgkosw048') },
] as const

/**
 * Reads to the end of a string of at least one whole finite float32 number in the canonical form of base64.
 * @param open the opening quote
 * @returns the place after the closing quote, or -1
 */
export function endOfBase64({ bytes, window }: NumberBytes, open: number): number {
  const known = window.endOfBase64(open + 1)
  if (bytes[known] === QUOTE && known > open + 1) return known + 1
  for (const { characters, padding, last } of RESTS) {
    const end = known + characters
    if (!last.has(bytes[end - 1] ?? 0) || !isAt(bytes, end, padding)) continue
    if (window.isBase64(known, characters)) return end + padding.length
  }
  return endOfOther(bytes, known)
}

/** Reads the part that the vectorized code did not read: the text is canonical when decoding and encoding it again gives the same text. */
function endOfOther(bytes: Buffer, at: number): number {
  const close = bytes.indexOf(QUOTE, at)
  if (close === -1) return FAILED
  const text = bytes.toString('latin1', at, close)
  const floats = Buffer.from(text, 'base64')
  if (floats.length === 0 || floats.length % FLOAT32_BYTES !== 0) return FAILED
  return areFinite(floats) && floats.toString('base64') === text ? close + 1 : FAILED
}

function charactersOf(text: string): ReadonlySet<number> {
  return new Set(Buffer.from(text))
}

/** Little-endian: an exponent of ones is NaN or Infinity. */
function areFinite(floats: Uint8Array): boolean {
  for (let at = FLOAT32_BYTES - 1; at < floats.length; at += FLOAT32_BYTES) {
    if (((floats[at] ?? 0) & 0x7f) === 0x7f && (floats[at - 1] ?? 0) > 0x7f) return false
  }
  return true
}
