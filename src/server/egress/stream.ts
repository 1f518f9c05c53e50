import { Readable } from 'node:stream'
import { endedBy } from '../../schemas/values/call-ended.ts'
import { fail, ok, type Failure, type Outcome } from '../../schemas/failures.ts'
import { UPSTREAM_STREAM_BYTES_MAX } from '../../schemas/models/provider-limits.ts'
import type { ByteReader } from '../ports/byte-streams.ts'
import type { EgressExchange, EgressExchangeRequest } from '../ports/egress/egress.ts'
import type { AnswerBudget } from './answer-budget.ts'
import { headerOf } from './answer-headers.ts'
import { codeOf, failureOf } from './connection-failure.ts'
import { decodedBody } from './decoded-body.ts'
import {
  CUT,
  UNWRITABLE,
  type Breakage,
  type ExchangeHandler,
  type Line,
  type ResponseHead,
} from './handler.ts'
import { MovingTimer, TIMER_MS_MAX } from '../structures/moving-timer.ts'

/** The operations of its origin that a stream uses. */
export interface StreamHome {
  readonly budget: Pick<AnswerBudget, 'room'>
  /** Sends the request once more. */
  repeatStream(attempt: StreamAttempt): void
  /** The client has finished with the request. */
  streamEnded(attempt: StreamAttempt): void
}

type Settle<T> = (outcome: Outcome<T>) => void

/** Methods that may be sent twice, RFC 9110 §9.2.2. */
const REPEATABLE: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE', 'TRACE'])

/**
 * One request and its answer, read as fast as its reader asks. The client pushes bytes. Bytes that the reader
 * has not asked for are kept up to a limit; beyond it the connection is not read, so that the other side waits
 * too. The client pushes each chunk of the transfer coding separately. The chunks of one read of the socket
 * are joined, since a reader that writes once for each piece would write a hundred times for a burst of a
 * hundred events.
 */
export class StreamAttempt implements ExchangeHandler, ByteReader {
  /** The request; its body is removed once the response has begun, since its bytes would stay in memory until the end of the stream. */
  request: EgressExchangeRequest
  readonly #home: StreamHome
  readonly #aheadBytesMax: number
  /** Settles the exchange; null once the answer has begun or failed. */
  #settle: Settle<EgressExchange> | null
  /** The timeout of the request until the answer begins. */
  #timer: NodeJS.Timeout
  /**
   * The timeout of a waiting reader. While pieces are kept here the reader is slow, not the destination: then
   * the reader's own deadline decides.
   */
  readonly #stall = new MovingTimer(() => this.#onSlow())
  readonly #pieces: Uint8Array[] = []
  /** Chunks from the current read of the socket. */
  #fresh: Uint8Array[] = []
  /** Bytes of `#pieces` and `#fresh`. */
  #heldBytes = 0
  /** Bytes of the body that are still missing; NaN: the answer does not state its length. */
  #missingBytes = NaN
  /** The connection; null while the request has none: another exchange may use it afterwards. */
  #line: Line | null = null
  isQueued = false
  #isPaused = false
  #isRepeated = false
  #hasAnswerBegun = false
  #status = 0
  /** The outcome of the answer; null while more bytes may arrive. */
  #end: Outcome<null> | null = null
  #reader: Settle<Uint8Array | null> | null = null

  constructor(request: EgressExchangeRequest, home: StreamHome, settle: Settle<EgressExchange>) {
    this.request = request
    this.#home = home
    this.#aheadBytesMax = request.aheadBytesMax ?? UPSTREAM_STREAM_BYTES_MAX
    this.#settle = settle
    this.#timer = this.#lateAfter(request.beginsBy() - performance.now())
    request.signal.addEventListener('abort', this.#onLeave)
    // undici listens for errors only while it reads: without this listener, a body destroyed later would end
    // the process.
    if (request.body instanceof Readable) request.body.on('error', () => undefined)
  }

  next(): Promise<Outcome<Uint8Array | null>> {
    const piece = this.#pieces.shift()
    if (piece !== undefined) {
      this.#taken(piece)
      return Promise.resolve(ok(piece))
    }
    if (this.#end !== null) return Promise.resolve(this.#end)
    return new Promise((deliver) => {
      this.#reader = deliver
      this.#stall.start(this.request.stallMs)
    })
  }

  close(): void {
    this.#forget()
    // Only the end of the answer is missing: reading it keeps the connection usable.
    if (this.#missingBytes === 0) return this.#goOn()
    this.#stop(fail('client_gone'))
  }

  get isOver(): boolean {
    return this.#end !== null
  }

  onConnect(line: Line): boolean {
    // The connection comes too late.
    if (this.#end !== null) return false
    this.#line = line
    this.request.sent?.(true)
    return true
  }

  onResponseStarted(): void {
    this.#hasAnswerBegun = true
  }

  onHead(head: ResponseHead): boolean {
    const settle = this.#settle
    if (settle === null) return true
    const { status } = head
    this.#status = status
    // The head is a slice of a whole read, which a stream would keep in memory until its end.
    const headers = head.list()
    const header = (name: string): string | null => headerOf(headers, name)
    const length = header('content-length')
    if (length !== null) this.#missingBytes = Number(length)
    this.#settle = null
    if (!(this.request.body instanceof Readable)) this.request = { ...this.request, body: null }
    clearTimeout(this.#timer)
    if (this.request.signalEnds !== 'response') this.#leaveSignal()
    const body = this.request.isDecoded === true ? this.#decoded(header('content-encoding') ?? '') : this
    settle(ok({ status, isSuccess: status < 300, header, headers, body }))
    return true
  }

  #decoded(contentEncoding: string): ByteReader {
    const { caller } = this.request
    return decodedBody(this, contentEncoding, caller === undefined ? null : this.#home.budget.room(caller))
  }

  onData(chunk: Buffer): boolean {
    if (this.#end !== null) return true
    this.#missingBytes -= chunk.length
    // The whole read of the socket is processed before any microtask.
    if (this.#fresh.push(chunk) === 1) void READY.then(this.#join)
    this.#heldBytes += chunk.length
    // A waiting reader takes everything from this read of the socket.
    this.#isPaused = this.#reader === null && this.#heldBytes >= this.#aheadBytesMax
    return !this.#isPaused
  }

  onComplete(): void {
    this.#home.streamEnded(this)
    this.#finish(ok(null))
    this.#line = null
  }

  onError(cause: Error, breakage: Breakage): void {
    if (this.#mayRepeat(breakage)) {
      this.#isRepeated = true
      this.#line = null
      return this.#home.repeatStream(this)
    }
    this.#home.streamEnded(this)
    // A 304 states the length of its omitted body, which undici treats as an interrupted body.
    const isWhole = this.#status === 304 && codeOf(cause) === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH'
    this.#finish(isWhole ? ok(null) : { ok: false, failure: this.#failureOf(cause, breakage) })
    this.#line = null
  }

  #failureOf(cause: Error, breakage: Breakage): Failure {
    const code = codeOf(cause)
    if (cause === UNWRITABLE || code === 'UND_ERR_INVALID_ARG' || code === 'UND_ERR_NOT_SUPPORTED')
      return { name: 'header_invalid', cause }
    if (this.#isOfBody(cause, code, breakage)) return { name: 'client_gone', cause }
    return failureOf(cause, this.#line !== null)
  }

  /**
   * True if the request's body failed. undici reports the error of the body as that of the request, and the
   * error of the socket as that of the body.
   */
  #isOfBody(cause: Error, code: string, { isOfSocket }: Breakage): boolean {
    const { body } = this.request
    if (!(body instanceof Readable)) return false
    if (code === 'UND_ERR_ABORTED' || code === 'UND_ERR_REQ_CONTENT_LENGTH_MISMATCH') return true
    return body.errored === cause && !code.startsWith('UND_ERR_') && !isOfSocket
  }

  #mayRepeat({ isStale }: Breakage): boolean {
    const { method, body } = this.request
    if (!REPEATABLE.has(method) || body instanceof Readable) return false
    if (this.#end !== null || this.#isRepeated || this.#hasAnswerBegun || this.#line === null) return false
    return isStale
  }

  /** Joins the chunks of one read of the socket, and passes them to a waiting reader. */
  readonly #join = (): void => {
    const fresh = this.#fresh
    const [first] = fresh
    if (first === undefined) return
    this.#fresh = []
    const piece = fresh.length === 1 && this.#line?.isLent !== true ? first : Buffer.concat(fresh)
    const deliver = this.#reader
    if (deliver === null) return void this.#pieces.push(piece)
    this.#reader = null
    this.#stall.stop()
    this.#taken(piece)
    deliver(ok(piece))
  }

  #taken(piece: Uint8Array): void {
    this.#heldBytes -= piece.length
    if (this.#heldBytes <= this.#aheadBytesMax / 2) this.#goOn()
  }

  #forget(): void {
    this.#pieces.length = 0
    this.#fresh = []
    this.#heldBytes = 0
  }

  readonly #onLeave = (): void => {
    this.#forget()
    this.#stop({ ok: false, failure: endedBy(this.request.signal) })
  }

  readonly #onLate = (): void => {
    const leftMs = this.request.beginsBy() - performance.now()
    if (leftMs <= 0) return this.#onSlow()
    this.#timer = this.#lateAfter(leftMs)
  }

  /** Limits the time: Node fires a timer immediately when its time is too large. */
  #lateAfter(ms: number): NodeJS.Timeout {
    return setTimeout(this.#onLate, Math.min(ms, TIMER_MS_MAX)).unref()
  }

  #onSlow(): void {
    // A provider that was not called was not slow.
    this.#stop(fail(this.isQueued ? 'busy' : 'upstream_slow'))
  }

  #goOn(): void {
    if (!this.#isPaused) return
    this.#isPaused = false
    this.#line?.resume()
  }

  #stop(end: Outcome<never>): void {
    if (this.#end !== null) return
    this.#finish(end)
    this.#line?.cut(CUT)
  }

  #finish(end: Outcome<null>): void {
    if (this.#end !== null) return
    this.#join()
    this.#end = end
    const [settle, deliver] = [this.#settle, this.#reader]
    this.#settle = null
    this.#reader = null
    clearTimeout(this.#timer)
    this.#stall.close()
    this.#leaveSignal()
    // If the exchange ends before its answer began, it is always a failure.
    if (!end.ok) settle?.(end)
    deliver?.(end)
  }

  #leaveSignal(): void {
    this.request.signal.removeEventListener('abort', this.#onLeave)
  }
}

/** A resolved promise, to schedule microtasks without the tracing resource that each `queueMicrotask` creates. */
const READY = Promise.resolve()
