/** The lines of a response's head, read where the socket wrote them. RFC 9112, without its leniencies. */

/** Results of a walk that are no position. */
export const MORE = -1
export const INVALID = -2

const TAB = 0x09
const LF = 0x0a
const CR = 0x0d
const SPACE = 0x20
const COLON = 0x3a
const ZERO = 0x30

/** 1 for the bytes of a header's name, RFC 9110 §5.6.2. */
export const TOKEN = tableOf((code) => /[!#$%&'*+\-.^_`|~0-9A-Za-z]/.test(String.fromCharCode(code)))
/** 1 for the bytes of a header's value and of a reason: no control character but the tab. */
const TEXT = tableOf((code) => code === TAB || (code >= SPACE && code !== 0x7f))

const VERSION = Buffer.from('HTTP/1.')
/** Bytes of a status line without its reason, up to the status. */
const STATUS_AT = VERSION.length + 2

/** Digits of a length: all such numbers are exact. */
const LENGTH_DIGITS_MAX = 15

/** Takes the lines of a head as they are found. */
export interface HeadLines {
  onStatus(status: number, isHttp10: boolean): void
  /**
   * One header, without the white space around its value.
   * @returns false when the header makes the head invalid
   */
  onHeader(bytes: Buffer, name: number, nameEnd: number, value: number, valueEnd: number): boolean
}

/** @returns the position behind the line, MORE or INVALID */
export function statusLine(bytes: Buffer, from: number, to: number, lines: HeadLines): number {
  for (let nth = 0; nth < VERSION.length && from + nth < to; nth++)
    if (bytes[from + nth] !== VERSION[nth]) return INVALID
  const at = from + STATUS_AT
  if (at + 4 > to) return MORE
  const minor = digit(bytes, at - 2)
  if (minor > 1 || bytes[at - 1] !== SPACE) return INVALID
  const [hundreds, tens, ones] = [digit(bytes, at), digit(bytes, at + 1), digit(bytes, at + 2)]
  if (hundreds < 1 || hundreds > 9 || tens > 9 || ones > 9) return INVALID
  const behind = bytes[at + 3]
  if (behind !== SPACE && behind !== CR) return INVALID
  const end = textEnd(bytes, at + 3, to)
  const next = lineEnd(bytes, end, to)
  if (next > 0) lines.onStatus(100 * hundreds + 10 * tens + ones, minor === 0)
  return next
}

/**
 * Reads one line of headers or trailers.
 * @returns the position behind the line, MORE or INVALID. Behind the empty line that ends a head, the
 * position is two bytes behind `from`.
 */
export function headerLine(bytes: Buffer, from: number, to: number, lines: HeadLines): number {
  let colon = from
  while (colon < to && TOKEN[bytes[colon] ?? 0] === 1) colon++
  if (colon >= to) return MORE
  if (colon === from) return lineEnd(bytes, from, to)
  if (bytes[colon] !== COLON) return INVALID
  let value = colon + 1
  while (value < to && isBlank(bytes[value])) value++
  const end = textEnd(bytes, value, to)
  const next = lineEnd(bytes, end, to)
  if (next < 0) return next
  let valueEnd = end
  while (valueEnd > value && isBlank(bytes[valueEnd - 1])) valueEnd--
  return lines.onHeader(bytes, from, colon, value, valueEnd) ? next : INVALID
}

/** The headers of a whole head, the status line included, as a flat list with names in lower case. */
export function listOf(bytes: Buffer, from: number, to: number): readonly string[] {
  const list: string[] = []
  const lines: HeadLines = {
    onStatus: () => undefined,
    onHeader(_bytes, name, nameEnd, value, valueEnd) {
      list.push(
        bytes.toString('latin1', name, nameEnd).toLowerCase(),
        bytes.toString('latin1', value, valueEnd),
      )
      return true
    },
  }
  for (let at = statusLine(bytes, from, to, lines); at > 0 && at < to;) at = headerLine(bytes, at, to, lines)
  return list
}

/** @param name lower case */
export function isNamed(bytes: Buffer, from: number, name: Uint8Array): boolean {
  // No byte of a name becomes a letter or a hyphen by this bit but the capital of that letter.
  for (let nth = 0; nth < name.length; nth++)
    if (((bytes[from + nth] ?? 0) | 0x20) !== name[nth]) return false
  return true
}

/** The number that these decimal digits are; -1 when they are none. */
export function lengthIn(bytes: Buffer, from: number, to: number): number {
  if (from === to || to - from > LENGTH_DIGITS_MAX) return -1
  let length = 0
  for (let at = from; at < to; at++) {
    const value = digit(bytes, at)
    if (value > 9) return -1
    length = 10 * length + value
  }
  return length
}

/** Above 9 for every byte that is no digit. */
function digit(bytes: Buffer, at: number): number {
  const value = (bytes[at] ?? 0) - ZERO
  return value < 0 ? 10 : value
}

function textEnd(bytes: Buffer, from: number, to: number): number {
  let at = from
  while (at < to && TEXT[bytes[at] ?? 0] === 1) at++
  return at
}

function lineEnd(bytes: Buffer, at: number, to: number): number {
  if (at < to && bytes[at] !== CR) return INVALID
  if (at + 1 >= to) return MORE
  return bytes[at + 1] === LF ? at + 2 : INVALID
}

function isBlank(byte: number | undefined): boolean {
  return byte === SPACE || byte === TAB
}

function tableOf(has: (code: number) => boolean): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, code) => (has(code) ? 1 : 0))
}
