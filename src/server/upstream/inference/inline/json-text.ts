import { BACKSLASH, QUOTE, SPACE } from '../../../../schemas/values/json-bytes.ts'

/** Letters of the short escapes, by the byte that each stands for. */
const SHORT: ReadonlyMap<number, number> = new Map(
  Object.entries({ '"': 0x22, '\\': 0x5c, b: 8, t: 9, n: 10, f: 12, r: 13 }).map(([letter, byte]) => [
    byte,
    letter.charCodeAt(0),
  ]),
)
const SHORT_BYTES = 2
/** Bytes of a control character that no letter stands for. */
const LONG_BYTES = 6
const HEX_DIGITS = 2

function needsEscape(byte: number): boolean {
  return byte < SPACE || byte === QUOTE || byte === BACKSLASH
}

/** Bytes that a part of a UTF-8 text has within a string of JSON. */
export function jsonTextBytes(text: Uint8Array): number {
  let bytes = text.length
  for (const byte of text) if (needsEscape(byte)) bytes += (SHORT.has(byte) ? SHORT_BYTES : LONG_BYTES) - 1
  return bytes
}

/** A part of a UTF-8 text as it stands within a string of JSON; a character may lie across two parts. */
export function jsonText(text: Uint8Array): Uint8Array {
  const written = Buffer.allocUnsafeSlow(jsonTextBytes(text))
  if (written.length === text.length) {
    written.set(text)
    return written
  }
  let at = 0
  for (const byte of text) {
    if (!needsEscape(byte)) {
      written[at++] = byte
      continue
    }
    const letter = SHORT.get(byte)
    if (letter === undefined) at += written.write(`\\u00${byte.toString(16).padStart(HEX_DIGITS, '0')}`, at)
    else {
      written[at++] = BACKSLASH
      written[at++] = letter
    }
  }
  return written
}
