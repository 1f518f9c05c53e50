import {
  BACKSLASH, CLOSE_LIST, CLOSE_OBJECT, COLON, COMMA, isSpace, OPEN_LIST, OPEN_OBJECT, QUOTE, type Span,
} from './json-bytes.ts'

/**
 * Where the value of a top-level member lies in JSON that was parsed successfully before; of duplicates the last.
 * @returns byte offsets, surrounding white space excluded; an empty span when there is no such member
 */
export function memberSpan(json: Uint8Array, name: string): Span {
  const bytes = Buffer.from(json.buffer, json.byteOffset, json.byteLength)
  let found: Span = { start: 0, end: 0 }
  let at = skipSpace(bytes, 0) + 1
  while (at < bytes.length) {
    const keyFrom = skipSpace(bytes, at)
    if (bytes[keyFrom] !== QUOTE) break
    const keyTo = stringEnd(bytes, keyFrom)
    const start = skipSpace(bytes, bytes.indexOf(COLON, keyTo) + 1)
    const end = valueEnd(bytes, start)
    if (JSON.parse(bytes.toString('utf8', keyFrom, keyTo)) === name) found = { start, end }
    at = bytes.indexOf(COMMA, end) + 1
    // After the last member there is no comma left; one inside what follows cannot exist, the text is valid JSON.
    if (at === 0) break
  }
  return found
}

function valueEnd(bytes: Buffer, from: number): number {
  const first = bytes[from]
  if (first === QUOTE) return stringEnd(bytes, from)
  if (first === OPEN_LIST || first === OPEN_OBJECT) return nestedEnd(bytes, from)
  let at = from
  while (at < bytes.length && !isAfterScalar(bytes[at])) at++
  return at
}

function nestedEnd(bytes: Buffer, from: number): number {
  let depth = 0
  for (let at = from; at < bytes.length; at++) {
    const byte = bytes[at]
    if (byte === QUOTE) at = stringEnd(bytes, at) - 1
    else if (byte === OPEN_LIST || byte === OPEN_OBJECT) depth++
    else if ((byte === CLOSE_LIST || byte === CLOSE_OBJECT) && --depth === 0) return at + 1
  }
  return bytes.length
}

/** Offset after the closing quote: the first quote that an even count of back-slashes precedes. */
function stringEnd(bytes: Buffer, from: number): number {
  let quote = from
  for (;;) {
    quote = bytes.indexOf(QUOTE, quote + 1)
    if (quote < 0) return bytes.length
    let slashes = 0
    while (bytes[quote - 1 - slashes] === BACKSLASH) slashes++
    if (slashes % 2 === 0) return quote + 1
  }
}

function skipSpace(bytes: Buffer, from: number): number {
  let at = from
  while (isSpace(bytes[at])) at++
  return at
}

function isAfterScalar(byte: number | undefined): boolean {
  return byte === COMMA || byte === CLOSE_OBJECT || isSpace(byte)
}
