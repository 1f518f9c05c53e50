import { BACKSLASH, COMMA, OPEN_LIST, OPEN_OBJECT, QUOTE } from './json-bytes.ts'

/**
 * Whether JSON has more objects, lists and members than that: each takes many times its bytes once it is
 * parsed. Reads no value, and takes a millisecond for some 500 KB.
 */
export function hasMoreValues(json: Uint8Array, most: number): boolean {
  // Each has a byte of its own.
  if (json.length <= most) return false
  const bytes = Buffer.from(json.buffer, json.byteOffset, json.length)
  let values = 0
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]
    if (byte === QUOTE) at = endOfText(bytes, at)
    else if (byte === COMMA || byte === OPEN_OBJECT || byte === OPEN_LIST) values++
    if (values > most) return true
  }
  return false
}

/** @param from of the quote before the text. @returns the place of the one behind it, or the last byte */
function endOfText(bytes: Buffer, from: number): number {
  for (let at = bytes.indexOf(QUOTE, from + 1); at !== -1; at = bytes.indexOf(QUOTE, at + 1)) {
    let escapes = 0
    while (bytes[at - 1 - escapes] === BACKSLASH) escapes++
    if (escapes % 2 === 0) return at
  }
  return bytes.length
}
