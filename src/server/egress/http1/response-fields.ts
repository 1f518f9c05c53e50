import { isNamed, lengthIn, type HeadLines } from './response-head.ts'

const CR = 0x0d
const SPACE = 0x20

const CONNECTION = Buffer.from('connection')
const KEEP_ALIVE = Buffer.from('keep-alive')
const RETRY_AFTER = Buffer.from('retry-after')
const CONTENT_LENGTH = Buffer.from('content-length')
const CONTENT_ENCODING = Buffer.from('content-encoding')
const TRANSFER_ENCODING = Buffer.from('transfer-encoding')
const CHUNKED = Buffer.from('chunked')

const KEEP_ALIVE_TIMEOUT = /(?:^|[\s,;])timeout=(\d{1,9})/i

/**
 * The parts of a head that decide how the response is read. The length of a name rules out nearly all others.
 */
export class ResponseFields implements HeadLines {
  status = 0
  contentLength = -1
  contentEncoding = ''
  retryAfter: string | null = null
  keepAliveMs = -1
  isChunked = false
  isKeptAlive = true
  /** The headers that follow are trailers, which are checked and dropped. */
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

  /** All headers have come. @returns false when they contradict each other, or say what was not asked for */
  complete(): boolean {
    const hasNoFraming = this.contentLength === -1 && !this.isChunked
    // A request here asks neither for an upgrade nor for leave to send its body.
    if (this.isInformational) return hasNoFraming && this.status > 101 && !this.#isToClose && !this.#isHttp10
    if (this.contentLength >= 0 && this.isChunked) return false
    if (this.#isHttp10 && this.isChunked) return false
    const isUntilClose = this.hasBody && hasNoFraming
    // The status says that no chunk follows, and some servers send one. RFC 9112 §6.1.
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

/** Behind what frames a response there is no tab: undici reads another value then. */
function endsInSpaces(bytes: Buffer, valueEnd: number): boolean {
  let at = valueEnd
  while (bytes[at] === SPACE) at++
  return bytes[at] === CR
}
