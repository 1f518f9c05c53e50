import { fail, ok, type Failure, type Outcome } from '../../../schemas/failures.ts'
import { FILE_BYTES_MAX, FORM_EXTRA_BYTES_MAX } from '../../../schemas/files/file-limits.ts'
import { KIB, BODY_PACE_MS, BODY_STALL_MS, TINY_CHUNKS_MAX } from '../../../schemas/limits/limits.ts'
import type { Upload, UploadSink } from '../../ports/byte-streams.ts'
import { encodingRefusal, partialRefusal, type RequestHead } from '../call/head.ts'
import type { Timer, Timers } from '../timers.ts'
import { type BodySocket, type BodyTaker, ChunkSizes } from './body.ts'
import { boundaryOf, FormUpload, type BodySink, type BodySource } from './multipart.ts'

/** Least bytes per second of a streamed body, measured over each BODY_PACE_MS of reading. Decision. */
export const BODY_BYTES_PER_S_MIN = KIB
/** Bytes of a streamed body that are gathered, for at most 100 ms, before they are passed to their reader. Decision. */
export const GATHERED_BYTES_MIN = 4 * KIB

export interface UploadBodyOptions {
  /** Announced bytes; null when the body comes in chunks. */
  readonly declared: number | null
  readonly bytesMax: number
  readonly timers: Pick<Timers, 'start'>
  readonly socket: UploadSocket
}

export interface UploadSocket extends BodySocket {
  /** Called when the last byte has arrived: the operation's time starts. @param now `performance.now()` milliseconds */
  restartDeadline(now: number): void
}

/**
 * Passes a body on as it arrives, under a byte limit that is checked while receiving. Before `flow` the body
 * is paused: bytes that arrived with the headers are kept, at most one read of the library, and the socket is
 * paused. Small pieces are gathered, so that the sink may keep each piece. Failures: file_too_large, body_slow
 * (`BodyPace`), body_invalid (TINY_CHUNKS_MAX), client_gone.
 */
export class UploadBody implements BodyTaker, BodySource {
  readonly #options: UploadBodyOptions
  readonly #gathered = new SmallPieces()
  readonly #chunks = new ChunkSizes(TINY_CHUNKS_MAX)
  readonly #pace: BodyPace
  /** Timer that runs while gathered bytes wait for more bytes. */
  #gathering: Timer | null = null
  #sink: BodySink | null = null
  #received = 0
  #isComplete: boolean
  #isOver = false
  #failure: Failure = { name: 'client_gone' }

  constructor(options: UploadBodyOptions) {
    this.#options = options
    this.#isComplete = options.declared === 0
    this.#pace = new BodyPace(options.timers, () => this.#fail({ name: 'body_slow' }))
  }

  get isComplete(): boolean {
    return this.#isComplete
  }

  get isReceiving(): boolean {
    return this.#sink !== null && !this.#isComplete && !this.#isOver
  }

  /** Starts the flow; once. */
  flow(sink: BodySink): void {
    this.#sink = sink
    if (this.#isOver) return sink.fail(this.#failure)
    const mayGoOn = this.#give(sink, this.#gathered.take())
    if (mayGoOn) this.#options.socket.resumeBody()
    this.#step(sink, mayGoOn)
  }

  goOn(): void {
    if (!this.isReceiving) return
    this.#options.socket.resumeBody()
    this.#pace.progress(this.#received)
  }

  /** Called when the sink needs no more bytes. The reply decides what happens to the rest of the body. */
  quit(): void {
    if (this.#isOver) return
    this.#finish()
    if (!this.#isComplete) this.#options.socket.pauseBody()
  }

  /** @param chunk detached after the call */
  chunk(chunk: ArrayBuffer, isLast: boolean): void {
    this.#isComplete = isLast
    if (this.#isOver) return
    if (!this.#chunks.add(chunk.byteLength)) return this.#fail(TOO_TINY)
    const sink = this.#sink
    const bytes = new Uint8Array(chunk)
    if (sink !== null) return this.#take(sink, bytes)
    this.#gathered.add(bytes)
    if (!isLast) this.#options.socket.pauseBody()
  }

  /** Called when the call is over: its client disconnected, or it was answered. */
  stop(): void {
    this.#fail({ name: 'client_gone' })
  }

  lend(): void {
    // The upload holds no bytes.
  }

  returned(): void {
    // The upload holds no bytes.
  }

  #take(sink: BodySink, bytes: Uint8Array): void {
    if (this.#isComplete || this.#gathered.length + bytes.length >= GATHERED_BYTES_MIN)
      return this.#pass(sink, bytes)
    this.#gathered.add(bytes)
    // Passes the gathered bytes on at the next tick of the timers.
    this.#gathering ??= this.#options.timers.start(0, () => this.#pass(sink, EMPTY))
  }

  #pass(sink: BodySink, bytes: Uint8Array): void {
    this.#gathering?.stop()
    this.#gathering = null
    if (this.#gathered.length === 0) return this.#step(sink, this.#give(sink, bytes))
    const isSmall = bytes.length < GATHERED_BYTES_MIN
    if (isSmall) this.#gathered.add(bytes)
    const mayGoOn = this.#give(sink, this.#gathered.take())
    this.#step(sink, isSmall ? mayGoOn : this.#give(sink, bytes) && mayGoOn)
  }

  #give(sink: BodySink, bytes: Uint8Array): boolean {
    if (this.#isOver) return false
    this.#received += bytes.length
    if (this.#received > this.#options.bytesMax) this.#fail(TOO_LARGE)
    return !this.#isOver && (bytes.length === 0 || sink.take(bytes))
  }

  #step(sink: BodySink, mayGoOn: boolean): void {
    if (this.#isOver) return
    if (this.#isComplete) {
      this.#finish()
      this.#options.socket.restartDeadline(performance.now())
      return sink.end()
    }
    if (mayGoOn) return this.#pace.progress(this.#received)
    this.#pace.rest()
    this.#options.socket.pauseBody()
  }

  #fail(failure: Failure): void {
    if (this.#isOver) return
    this.#failure = failure
    this.quit()
    this.#sink?.fail(failure)
  }

  #finish(): void {
    this.#isOver = true
    this.#pace.rest()
    this.#gathering?.stop()
    this.#gathered.clear()
  }
}

/** Bytes that the body of an upload may have: the file and the form around it. */
export function uploadBytesMax(kind: 'form' | 'raw' | 'whole'): number {
  if (kind === 'whole') return Infinity
  return kind === 'raw' ? FILE_BYTES_MAX : FILE_BYTES_MAX + FORM_EXTRA_BYTES_MAX
}

/** Failures: file_too_large, from the announced length only; header_invalid. */
export function uploadOf(kind: 'form' | 'raw', head: RequestHead, body: UploadBody): Outcome<Upload> {
  const { declared } = head
  const refusal = encodingRefusal(head) ?? (kind === 'raw' ? partialRefusal(head) : null)
  if (refusal !== null) return { ok: false, failure: refusal }
  if (kind === 'raw') {
    return declared !== null && declared > FILE_BYTES_MAX
      ? { ok: false, failure: TOO_LARGE }
      : ok(new RawUpload(body, declared))
  }
  const boundary = boundaryOf(head.contentType)
  if (boundary === null) {
    const expected = 'multipart/form-data with a boundary of at most 70 characters'
    return fail('header_invalid', {
      metadata: { issues: [{ path: '/content-type', message: 'is not a form', expected }] },
    })
  }
  const isTooLarge = declared !== null && declared > uploadBytesMax(kind)
  return isTooLarge ? { ok: false, failure: TOO_LARGE } : ok(new FormUpload(body, { declared, boundary }))
}

/** A body that is the file itself. */
export class RawUpload implements Upload {
  readonly bytesAtMost: number | null
  readonly slackBytes = 0
  readonly #body: UploadBody

  constructor(body: UploadBody, declared: number | null) {
    this.#body = body
    this.bytesAtMost = declared
  }

  receive(sink: UploadSink): void {
    sink.begin(null)
    this.#body.flow({
      take: (bytes) => sink.take(bytes),
      end: () => sink.end(NO_FIELDS),
      fail: (failure) => sink.fail(failure),
    })
  }

  resume(): void {
    this.#body.goOn()
  }

  stop(): void {
    this.#body.quit()
  }
}

const NO_FIELDS: ReadonlyMap<string, string> = new Map()
const EMPTY = new Uint8Array(0)
const TOO_TINY: Failure = { name: 'body_invalid', detail: 'The body arrives in too many tiny chunks.' }
const TOO_LARGE: Failure = { name: 'file_too_large', fields: { limit: FILE_BYTES_MAX } }

/** Bytes of the first buffer; each further buffer has twice the size. */
const FIRST_BYTES = 1_024

/** Gathers small pieces in one buffer: an object for each piece would cost a hundred times its bytes. */
class SmallPieces {
  #buffer: Uint8Array | null = null
  #length = 0

  get length(): number {
    return this.#length
  }

  /** Copies the bytes. */
  add(bytes: Uint8Array): void {
    const needed = this.#length + bytes.length
    if (this.#buffer === null || needed > this.#buffer.length) this.#grow(needed)
    this.#buffer?.set(bytes, this.#length)
    this.#length = needed
  }

  /** @returns all bytes added since the last call; the caller owns them */
  take(): Uint8Array {
    const bytes = this.#buffer?.subarray(0, this.#length) ?? new Uint8Array(0)
    this.clear()
    return bytes
  }

  clear(): void {
    this.#buffer = null
    this.#length = 0
  }

  #grow(needed: number): void {
    const grown = new Uint8Array(Math.max(needed, FIRST_BYTES, 2 * (this.#buffer?.length ?? 0)))
    if (this.#buffer !== null) grown.set(this.#buffer.subarray(0, this.#length))
    this.#buffer = grown
  }
}

/**
 * Measures the pace of a body while it is read. Calls `slow` after BODY_STALL_MS without a byte, and after
 * BODY_PACE_MS with less than BODY_BYTES_PER_S_MIN, since the body holds memory and quota. Time in which the
 * front reads nothing does not count.
 */
class BodyPace {
  readonly #timers: Pick<Timers, 'start'>
  readonly #slow: () => void
  #stall: Timer | null = null
  #window: Timer | null = null
  #receivedBytes = 0
  /** Received bytes at the start of the window. */
  #countedBytes = 0

  constructor(timers: Pick<Timers, 'start'>, slow: () => void) {
    this.#timers = timers
    this.#slow = slow
  }

  /** Called when more bytes were read. @param receivedBytes of the whole body so far */
  progress(receivedBytes: number): void {
    this.#receivedBytes = receivedBytes
    if (this.#window === null) this.#openWindow()
    this.#stall?.stop()
    this.#stall = this.#timers.start(BODY_STALL_MS, this.#slow)
  }

  /** Called when reading pauses; the next `progress` ends the pause. */
  rest(): void {
    this.#stall?.stop()
    this.#window?.stop()
    this.#stall = this.#window = null
  }

  #openWindow(): void {
    this.#countedBytes = this.#receivedBytes
    this.#window = this.#timers.start(BODY_PACE_MS, () => {
      const isSlow = this.#receivedBytes - this.#countedBytes < (BODY_BYTES_PER_S_MIN * BODY_PACE_MS) / 1_000
      if (isSlow) this.#slow()
      else this.#openWindow()
    })
  }
}
