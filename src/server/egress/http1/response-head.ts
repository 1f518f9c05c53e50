/** Bytes of the extensions of one chunk in a provider's response, which are dropped. Decision. */
export const UPSTREAM_CHUNK_EXTENSION_BYTES_MAX = 256

/** The lines of a response's head, read where the socket wrote them. Follows RFC 9112, without the deviations that it permits to tolerate. */

/** Results of a scan that are not positions. */
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

export interface HeadLines {
  onStatus(status: number, isHttp10: boolean): void
  /** One header, without the white space around its value. @returns false when the header makes the head invalid */
  onHeader(bytes: Buffer, name: number, nameEnd: number, value: number, valueEnd: number): boolean
}

/** @returns the position after the line, MORE or INVALID */
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
 * @returns the position after the line, MORE or INVALID. After the empty line that ends a head, the position
 * is two bytes beyond `from`.
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
  // Setting this bit turns only a capital letter into its small letter: no other byte of a name becomes a
  // letter or a hyphen.
  for (let nth = 0; nth < name.length; nth++)
    if (((bytes[from + nth] ?? 0) | 0x20) !== name[nth]) return false
  return true
}

/** The number that these decimal digits form; -1 when there are other bytes. */
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

/** The value of a digit; above 9 for any other byte. */
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

const SEMICOLON = 0x3b

const EQUALS = 0x3d

const QUOTE = 0x22

const BACKSLASH = 0x5c

const DELETE = 0x7f

/** Hexadecimal digits of a size: all such numbers are exact. */
const DIGITS_MAX = 13

const DIGITS = 0

/** State after a semicolon or an equals sign, where a token has to follow. */
const TOKEN_BEGINS = 1

const IN_TOKEN = 2

const ENDS = 3

const IN_QUOTES = 4

/** State after a backslash in quotes. */
const QUOTED_PAIR = 5

/** After the second quote. */
const BEHIND_QUOTES = 6

/** The line before the bytes of a chunk. RFC 9112 §7.1. Extensions are dropped. */
export class ChunkSize {
  bytes = 0
  #state = DIGITS
  #digits = 0
  #extensionBytes = 0
  #hasValue = false

  begin(): void {
    this.bytes = 0
    this.#state = DIGITS
    this.#digits = 0
    this.#extensionBytes = 0
  }

  /** @returns the position after the line, MORE or INVALID */
  read(bytes: Buffer, from: number, to: number): number {
    for (let at = from; at < to; at++) {
      const byte = bytes[at] ?? 0
      if (this.#state === ENDS) return byte === LF ? at + 1 : INVALID
      if (this.#state === DIGITS ? !this.#digit(byte) : !this.#extension(byte)) return INVALID
    }
    return MORE
  }

  #digit(byte: number): boolean {
    const value = hexOf(byte)
    if (value < 0) return this.#digits > 0 && this.#behindToken(byte)
    this.bytes = 16 * this.bytes + value
    return ++this.#digits <= DIGITS_MAX
  }

  #extension(byte: number): boolean {
    if (++this.#extensionBytes > UPSTREAM_CHUNK_EXTENSION_BYTES_MAX) return false
    if (this.#state >= IN_QUOTES) return this.#quoted(byte)
    if (TOKEN[byte] === 1) {
      this.#state = IN_TOKEN
      return true
    }
    if (this.#state === TOKEN_BEGINS) {
      if (byte !== QUOTE || !this.#hasValue) return false
      this.#state = IN_QUOTES
      return true
    }
    if (byte !== EQUALS) return this.#behindToken(byte)
    if (this.#hasValue) return false
    this.#hasValue = true
    this.#state = TOKEN_BEGINS
    return true
  }

  /** A value in quotes. RFC 9110 §5.6.4. */
  #quoted(byte: number): boolean {
    if (this.#state === BEHIND_QUOTES) return this.#behindToken(byte)
    if (byte === DELETE || (byte < SPACE && byte !== TAB)) return false
    if (this.#state === QUOTED_PAIR) this.#state = IN_QUOTES
    else if (byte === QUOTE) this.#state = BEHIND_QUOTES
    else if (byte === BACKSLASH) this.#state = QUOTED_PAIR
    return true
  }

  #behindToken(byte: number): boolean {
    this.#hasValue = false
    if (byte === CR) this.#state = ENDS
    else if (byte === SEMICOLON) this.#state = TOKEN_BEGINS
    return byte === CR || byte === SEMICOLON
  }
}

/** The value of a hexadecimal digit; -1 for any other byte. */
function hexOf(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30
  const letter = byte | 0x20
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1
}

const CONNECTION = Buffer.from('connection')

const KEEP_ALIVE = Buffer.from('keep-alive')

const RETRY_AFTER = Buffer.from('retry-after')

const CONTENT_LENGTH = Buffer.from('content-length')

const CONTENT_ENCODING = Buffer.from('content-encoding')

const TRANSFER_ENCODING = Buffer.from('transfer-encoding')

const CHUNKED = Buffer.from('chunked')

const KEEP_ALIVE_TIMEOUT = /(?:^|[\s,;])timeout=(\d{1,9})/i

/** The parts of a head that decide how the response is read. The length of a name rules out nearly all others. */
export class ResponseFields implements HeadLines {
  status = 0
  contentLength = -1
  contentEncoding = ''
  retryAfter: string | null = null
  keepAliveMs = -1
  isChunked = false
  isKeptAlive = true
  /** True when the following headers are trailers, which are checked and dropped. */
  isTrailing = false
  #isHttp10 = false
  #isToClose = false
  #isToStay = false

  begin(): void {
    this.contentLength = -1
    this.contentEncoding = ''
    this.retryAfter = null
    this.keepAliveMs = -1
    this.isChunked = false
    this.isTrailing = false
    this.#isToClose = false
    this.#isToStay = false
  }

  onStatus(status: number, isHttp10: boolean): void {
    this.status = status
    this.#isHttp10 = isHttp10
  }

  onHeader(bytes: Buffer, name: number, nameEnd: number, value: number, valueEnd: number): boolean {
    switch (nameEnd - name) {
      case CONNECTION.length:
        return this.#onConnection(bytes, name, value, valueEnd)
      case CONTENT_LENGTH.length:
        return !isNamed(bytes, name, CONTENT_LENGTH) || this.#onLength(bytes, value, valueEnd)
      case TRANSFER_ENCODING.length:
        return !isNamed(bytes, name, TRANSFER_ENCODING) || this.#onCoding(bytes, value, valueEnd)
      case RETRY_AFTER.length:
        if (!this.isTrailing && isNamed(bytes, name, RETRY_AFTER))
          this.retryAfter = bytes.toString('latin1', value, valueEnd)
        return true
      case CONTENT_ENCODING.length:
        if (!this.isTrailing && isNamed(bytes, name, CONTENT_ENCODING))
          this.contentEncoding = bytes.toString('latin1', value, valueEnd).toLowerCase()
        return true
      default:
        return true
    }
  }

  /** Called after the last header. @returns false when the headers contradict each other, or contain something that was not requested */
  complete(): boolean {
    const hasNoFraming = this.contentLength === -1 && !this.isChunked
    // These requests ask neither for an upgrade nor for permission to send the body (`100-continue`).
    if (this.isInformational) return hasNoFraming && this.status > 101 && !this.#isToClose && !this.#isHttp10
    if (this.contentLength >= 0 && this.isChunked) return false
    if (this.#isHttp10 && this.isChunked) return false
    const isUntilClose = this.hasBody && hasNoFraming
    // The status means that no chunk follows, but some servers send one. RFC 9112 §6.1.
    const isUnclear = this.isChunked && !this.hasBody
    this.isKeptAlive = !isUntilClose && !isUnclear && !this.#isToClose && (!this.#isHttp10 || this.#isToStay)
    return this.status !== 204 || this.contentLength <= 0
  }

  get isInformational(): boolean {
    return this.status < 200
  }

  get hasBody(): boolean {
    return this.status !== 204 && this.status !== 304
  }

  #onConnection(bytes: Buffer, name: number, value: number, valueEnd: number): boolean {
    if (this.isTrailing) return true
    if (isNamed(bytes, name, CONNECTION)) {
      for (const option of bytes.toString('latin1', value, valueEnd).toLowerCase().split(',')) {
        const word = option.trim()
        if (word === 'close') this.#isToClose = true
        else if (word === 'keep-alive') this.#isToStay = true
      }
    } else if (isNamed(bytes, name, KEEP_ALIVE)) {
      const seconds = KEEP_ALIVE_TIMEOUT.exec(bytes.toString('latin1', value, valueEnd))?.[1]
      if (seconds !== undefined) this.keepAliveMs = 1_000 * Number(seconds)
    }
    return true
  }

  #onLength(bytes: Buffer, from: number, to: number): boolean {
    if (this.contentLength >= 0 || this.isTrailing || !endsInSpaces(bytes, to)) return false
    this.contentLength = lengthIn(bytes, from, to)
    return this.contentLength >= 0
  }

  #onCoding(bytes: Buffer, from: number, to: number): boolean {
    if (this.isChunked || this.isTrailing || !endsInSpaces(bytes, to)) return false
    this.isChunked = to - from === CHUNKED.length && isNamed(bytes, from, CHUNKED)
    return this.isChunked
  }
}

/** The value of a framing header must not be followed by a tab: undici reads a different value then. */
function endsInSpaces(bytes: Buffer, valueEnd: number): boolean {
  let at = valueEnd
  while (bytes[at] === SPACE) at++
  return bytes[at] === CR
}
