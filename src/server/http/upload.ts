import { fail, ok, type Failure, type Outcome } from '../../schemas/failures.ts'
import { BODY_STALL_MS, FILE_BYTES_MAX, FORM_EXTRA_BYTES_MAX } from '../../schemas/limits.ts'
import type { Upload, UploadSink } from '../ports/byte-streams.ts'
import type { BodySocket, BodyTaker } from './body.ts'
import type { Head } from './head.ts'
import { encodingRefusal, partialRefusal } from './inputs.ts'
import { boundaryOf, FormUpload } from './multipart.ts'
import type { Timer, Timers } from './timers.ts'

/** What the bytes of a streamed body go to. */
export interface BodySink {
  /** @param bytes lent for the call only; @returns false: no more until `goOn` */
  take(bytes: Uint8Array): boolean
  end(): void
  fail(failure: Failure): void
}

export interface UploadBodyOptions {
  /** Bytes announced; null when the body comes in chunks. */
  readonly declared: number | null
  readonly bytesMax: number
  readonly timers: Pick<Timers, 'start'>
  readonly socket: UploadSocket
}

export interface UploadSocket extends BodySocket {
  /** The last byte is here: what follows is the operation's time. @param now `performance.now()` milliseconds */
  restartDeadline(now: number): void
}

/**
 * A body that is given on as it comes, under a byte limit that holds while receiving. Until `flow` it stands still: what
 * came with the headers is kept, at most one read of the library, and the socket is paused.
 * Failures: file_too_large, body_slow (BODY_STALL_MS without a byte while we read), client_gone.
 */
export class UploadBody implements BodyTaker {
  readonly #options: UploadBodyOptions
  #kept: Uint8Array[] = []
  #sink: BodySink | null = null
  #received = 0
  #isComplete: boolean
  #isOver = false
  #failure: Failure = { name: 'client_gone' }
  #stall: Timer | null = null

  constructor(options: UploadBodyOptions) {
    this.#options = options
    this.#isComplete = options.declared === 0
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
    const kept = this.#kept
    this.#kept = []
    let mayGoOn = true
    for (const bytes of kept) mayGoOn = this.#give(sink, bytes) && mayGoOn
    if (mayGoOn) this.#options.socket.resumeBody()
    this.#step(sink, mayGoOn)
  }

  goOn(): void {
    if (!this.isReceiving) return
    this.#options.socket.resumeBody()
    this.#watch()
  }

  /** Nothing more is wanted. The reply, which is to come, decides what becomes of the rest. */
  quit(): void {
    if (this.#isOver) return
    this.#finish()
    if (!this.#isComplete) this.#options.socket.pauseBody()
  }

  /** @param chunk detached when this returns */
  chunk(chunk: ArrayBuffer, isLast: boolean): void {
    this.#isComplete = isLast
    if (this.#isOver) return
    const sink = this.#sink
    const bytes = new Uint8Array(chunk)
    if (sink !== null) return this.#step(sink, this.#give(sink, bytes))
    this.#kept.push(bytes.slice())
    if (!isLast) this.#options.socket.pauseBody()
  }

  /** The call is over: its client left, or it was answered. */
  stop(): void {
    this.#fail({ name: 'client_gone' })
  }

  lend(): void {
    // Nothing of it is held.
  }

  returned(): void {
    // As above.
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
    if (mayGoOn) return this.#watch()
    this.#stall?.stop()
    this.#options.socket.pauseBody()
  }

  #watch(): void {
    this.#stall?.stop()
    this.#stall = this.#options.timers.start(BODY_STALL_MS, () => this.#fail({ name: 'body_slow' }))
  }

  #fail(failure: Failure): void {
    if (this.#isOver) return
    this.#failure = failure
    this.quit()
    this.#sink?.fail(failure)
  }

  #finish(): void {
    this.#isOver = true
    this.#stall?.stop()
    this.#kept = []
  }
}

/** Bytes of the body of an upload: of the file, and of the form around it. */
export function uploadBytesMax(kind: 'form' | 'raw'): number {
  return kind === 'raw' ? FILE_BYTES_MAX : FILE_BYTES_MAX + FORM_EXTRA_BYTES_MAX
}

/** Failures: file_too_large by the announced length alone; header_invalid. */
export function uploadOf(kind: 'form' | 'raw', head: Head, body: UploadBody): Outcome<Upload> {
  const { declared } = head
  const refusal = encodingRefusal(head) ?? (kind === 'raw' ? partialRefusal(head) : null)
  if (refusal !== null) return { ok: false, failure: refusal }
  if (kind === 'raw') {
    return declared !== null && declared > FILE_BYTES_MAX ? { ok: false, failure: TOO_LARGE } : ok(new RawUpload(body, declared))
  }
  const boundary = boundaryOf(head.contentType)
  if (boundary === null) {
    const expected = 'multipart/form-data with a boundary of at most 70 characters'
    return fail('header_invalid', { metadata: { issues: [{ path: '/content-type', message: 'is not that of a form', expected }] } })
  }
  const isTooLarge = declared !== null && declared > uploadBytesMax(kind)
  return isTooLarge ? { ok: false, failure: TOO_LARGE } : ok(new FormUpload(body, { declared, boundary }))
}

/** A body that is the file. */
class RawUpload implements Upload {
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
const TOO_LARGE: Failure = { name: 'file_too_large', fields: { limit: FILE_BYTES_MAX } }
