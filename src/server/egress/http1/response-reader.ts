import type { ResponseHead } from '../handler.ts'
import { headerLine, INVALID, listOf, MORE, statusLine, ChunkSize, ResponseFields } from './response-head.ts'

/** Informational responses that are dropped before a provider's response; more are treated as invalid HTTP. Decision. */
export const UPSTREAM_HINTS_MAX = 16

/** Receives the parts of a response. Each function may call `stop`. */
export interface ResponseSink {
  /** @returns false to pause */
  onHead(head: ResponseHead): boolean
  /** @returns false to pause */
  onBody(bytes: Buffer): boolean
  onEnd(): void
}

const HEAD = 0
const LENGTH = 1
const CHUNK_SIZE = 2
const CHUNK = 3
const CHUNK_END = 4
const TRAILERS = 5
const UNTIL_CLOSE = 6
const ENDED = 7
const BROKEN = 8

const CR = 0x0d
const LF = 0x0a

/**
 * Reads the responses of one connection, each after `begin`. The reader refuses all deviations that RFC 9112
 * permits it to tolerate, since another reader could understand such a response differently. It keeps only the
 * bytes of a head or of trailers that arrive in several reads.
 */
export class ResponseReader implements ResponseHead {
  readonly #sink: ResponseSink
  readonly #fields = new ResponseFields()
  readonly #held: HeldHead
  readonly #chunk = new ChunkSize()
  #phase = ENDED
  #hasStatus = false
  #hints = 0
  /** Bytes of the body, or of its chunk, that are still missing. */
  #missingBytes = 0
  #isPaused = false
  /** Bytes read of the CR and LF after a chunk. */
  #chunkEnds = 0
  /** The buffer with the head while it is passed to the sink. */
  #head: Buffer = NOTHING
  #headFrom = 0
  #headTo = 0
  /** Start of the line that has not arrived completely. */
  #lineAt = 0

  /** @param headBytesMax of a head or of trailers */
  constructor(sink: ResponseSink, headBytesMax: number) {
    this.#sink = sink
    this.#held = new HeldHead(headBytesMax)
  }

  get status(): number {
    return this.#fields.status
  }

  get contentLength(): number {
    return this.#fields.contentLength
  }

  get contentEncoding(): string {
    return this.#fields.contentEncoding
  }

  get retryAfter(): string | null {
    return this.#fields.retryAfter
  }

  /** Milliseconds for which the other side keeps the idle connection; -1: not stated. */
  get keepAliveMs(): number {
    return this.#fields.keepAliveMs
  }

  /** Whether the connection may carry another response. */
  get isKeptAlive(): boolean {
    return this.#fields.isKeptAlive
  }

  get isPaused(): boolean {
    return this.#isPaused
  }

  get isBroken(): boolean {
    return this.#phase === BROKEN
  }

  list(): readonly string[] {
    return listOf(this.#head, this.#headFrom, this.#headTo)
  }

  /** Called when a request has been written. */
  begin(): void {
    this.#hints = 0
    this.#beginHead()
  }

  /** Stops reading: further bytes are not needed. */
  stop(): void {
    this.#phase = ENDED
    this.#held.drop()
  }

  /**
   * @returns the position of the first byte that was not read: `to`, or an earlier one when the response has
   * ended, when the sink has paused it, or when it is broken
   */
  read(bytes: Buffer, from: number, to: number): number {
    this.#isPaused = false
    let at = from
    while (this.#phase < ENDED && !this.#isPaused) {
      const next = this.#step(bytes, at, to)
      if (next === INVALID) this.#phase = BROKEN
      if (next < 0) return next === MORE ? to : at
      at = next
    }
    return at
  }

  /** Called when the connection has ended. @returns whether this is the end of the response */
  close(): boolean {
    if (this.#phase !== UNTIL_CLOSE) return false
    this.#end()
    return true
  }

  #step(bytes: Buffer, at: number, to: number): number {
    switch (this.#phase) {
      case HEAD:
      case TRAILERS:
        return this.#readLines(bytes, at, to)
      case CHUNK_SIZE:
        return this.#readChunkSize(bytes, at, to)
      case CHUNK_END:
        return this.#readChunkEnd(bytes, at, to)
      default:
        return this.#readBody(bytes, at, to)
    }
  }

  #beginHead(): void {
    this.#fields.begin()
    this.#hasStatus = false
    this.#phase = HEAD
  }

  #readLines(bytes: Buffer, from: number, to: number): number {
    if (this.#held.bytes > 0) return this.#readHeld(bytes, from, to)
    const end = this.#walk(bytes, from, to)
    if (end === MORE) return this.#held.add(bytes, from, to) ? this.#heldFrom(from) : INVALID
    if (end < 0 || end - from > this.#held.bytesMax) return INVALID
    return this.#linesEnd(bytes, from, end) ? end : INVALID
  }

  #heldFrom(from: number): typeof MORE {
    this.#lineAt -= from
    return MORE
  }

  /** Continues to read a head or trailers of which a part arrived before. */
  #readHeld(bytes: Buffer, from: number, to: number): number {
    const before = this.#held.bytes
    const isFitting = this.#held.add(bytes, from, to)
    const { memory, bytes: held } = this.#held
    const end = this.#walk(memory, this.#lineAt, held)
    if (end === MORE) return isFitting ? MORE : INVALID
    if (end < 0) return INVALID
    this.#held.drop()
    return this.#linesEnd(memory, 0, end) ? from + end - before : INVALID
  }

  /** Scans whole lines. @returns the position after the empty line, MORE or INVALID */
  #walk(bytes: Buffer, from: number, to: number): number {
    let at = from
    if (!this.#hasStatus) {
      const next = statusLine(bytes, at, to, this.#fields)
      if (next < 0) return this.#unfinished(at, next)
      this.#hasStatus = true
      at = next
    }
    for (;;) {
      const next = headerLine(bytes, at, to, this.#fields)
      if (next < 0) return this.#unfinished(at, next)
      // Two bytes are the empty line, since a header has at least four.
      if (next === at + 2) return next
      at = next
    }
  }

  #unfinished(lineAt: number, result: number): number {
    this.#lineAt = lineAt
    return result
  }

  #linesEnd(bytes: Buffer, from: number, to: number): boolean {
    if (this.#phase === TRAILERS) {
      this.#end()
      return true
    }
    if (!this.#fields.complete()) return false
    if (this.#fields.isInformational) {
      this.#beginHead()
      return ++this.#hints <= UPSTREAM_HINTS_MAX
    }
    this.#phase = this.#bodyPhase()
    this.#head = bytes
    this.#headFrom = from
    this.#headTo = to
    this.#isPaused = !this.#sink.onHead(this)
    this.#head = NOTHING
    return true
  }

  #bodyPhase(): number {
    const { hasBody, isChunked, contentLength } = this.#fields
    this.#missingBytes = hasBody ? Math.max(0, contentLength) : 0
    if (hasBody && isChunked) {
      this.#chunk.begin()
      return CHUNK_SIZE
    }
    return !hasBody || contentLength >= 0 ? LENGTH : UNTIL_CLOSE
  }

  #readBody(bytes: Buffer, from: number, to: number): number {
    if (this.#phase === LENGTH && this.#missingBytes === 0) {
      this.#end()
      return from
    }
    if (from === to) return MORE
    const end = this.#phase === UNTIL_CLOSE ? to : Math.min(to, from + this.#missingBytes)
    this.#missingBytes -= end - from
    if (this.#phase === CHUNK && this.#missingBytes === 0) this.#phase = CHUNK_END
    this.#isPaused = !this.#sink.onBody(bytes.subarray(from, end))
    return end
  }

  #readChunkSize(bytes: Buffer, from: number, to: number): number {
    const next = this.#chunk.read(bytes, from, to)
    if (next < 0) return next
    this.#missingBytes = this.#chunk.bytes
    this.#chunkEnds = 0
    this.#phase = this.#missingBytes === 0 ? TRAILERS : CHUNK
    this.#fields.isTrailing = true
    return next
  }

  #readChunkEnd(bytes: Buffer, from: number, to: number): number {
    let at = from
    for (; at < to && this.#chunkEnds < 2; at++)
      if (bytes[at] !== (this.#chunkEnds++ === 0 ? CR : LF)) return INVALID
    if (this.#chunkEnds < 2) return MORE
    this.#chunk.begin()
    this.#phase = CHUNK_SIZE
    return at
  }

  #end(): void {
    this.#phase = ENDED
    this.#sink.onEnd()
  }
}

const NOTHING = Buffer.alloc(0)

/** Bytes that are copied at once, so that a head that arrives in single bytes is not copied for each of them. */
const STEP_BYTES = 1024

/** The lines of a head or of trailers that arrive in several reads. */
class HeldHead {
  readonly bytesMax: number
  memory: Buffer = NOTHING
  bytes = 0

  constructor(bytesMax: number) {
    this.bytesMax = bytesMax
  }

  /** Adds as many bytes as fit. @returns false when there were more */
  add(bytes: Buffer, from: number, to: number): boolean {
    const end = Math.min(to, from + this.bytesMax - this.bytes)
    const heldBytes = this.bytes + end - from
    if (heldBytes > this.memory.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(STEP_BYTES, 2 * heldBytes))
      this.memory.copy(larger, 0, 0, this.bytes)
      this.memory = larger
    }
    bytes.copy(this.memory, this.bytes, from, end)
    this.bytes = heldBytes
    return end === to
  }

  drop(): void {
    this.memory = NOTHING
    this.bytes = 0
  }
}
