import { endedBy } from '../../schemas/values/call-ended.ts'
import { fail, ok, type Failure, type FailureName, type Outcome } from '../../schemas/failures.ts'
import { UPSTREAM_ERROR_BYTES_MAX } from '../../schemas/models/provider-limits.ts'
import type { EgressAnswer, EgressRequest } from '../ports/egress/egress.ts'
import type { AnswerBudget } from './answer-budget.ts'
import { headerOf } from './answer-headers.ts'
import { HeldBody, type RoomWaiter } from './held-body.ts'
import { failureOf } from './connection-failure.ts'
import { CUT, type Breakage, type ExchangeHandler, type Line, type ResponseHead } from './handler.ts'
import { decode, isPlain } from './decoded-body.ts'

/** The operations of its origin that an attempt uses. */
export interface AttemptHome {
  readonly budget: AnswerBudget
  /** Sends the attempt once more. */
  repeat(attempt: Attempt): void
  /** The attempt no longer needs watching. */
  settled(attempt: Attempt): void
  /** The client has finished with the attempt, perhaps long after it was settled. */
  ended(attempt: Attempt): void
}

/** One request and its answer. The attempt settles exactly once; later events only return resources. */
export class Attempt implements ExchangeHandler, RoomWaiter {
  readonly request: EgressRequest
  isSent = false
  isSettled = false
  isQueued = false
  /** True once a tick of its origin has found the attempt unsent. */
  isWaiting = false
  /** Index in its origin's list of open attempts. */
  place = -1
  readonly #home: AttemptHome
  readonly #settle: (outcome: Outcome<EgressAnswer>) => void
  #isRepeated = false
  #hasAnswerBegun = false
  /** True once enough of the answer has arrived: the client's report of the end then changes nothing. */
  #isComplete = false
  /** The connection; null while the request has none: another exchange may use it afterwards. */
  #line: Line | null = null
  #unwatch: (() => void) | null = null
  #status = 0
  #contentLength = -1
  #contentEncoding = ''
  #retryAfter: string | null = null
  #wanted: string | null = null
  #body: HeldBody | null = null

  constructor(request: EgressRequest, home: AttemptHome, settle: (outcome: Outcome<EgressAnswer>) => void) {
    this.request = request
    this.#home = home
    this.#settle = settle
    if (request.mayCutSent) this.watch()
  }

  /** Begins to watch whether the caller disconnects; only a request that waits pays for listening to the signal. */
  watch(): void {
    if (this.#unwatch !== null) return
    const { signal } = this.request.call
    const onLeave = (): void => {
      if (!this.isSent || this.request.mayCutSent) this.end(endedBy(signal).name)
    }
    signal.addEventListener('abort', onLeave)
    this.#unwatch = () => signal.removeEventListener('abort', onLeave)
    if (signal.aborted) onLeave()
  }

  /** Settles with a failure and cuts the connection in use. */
  end(name: FailureName, more?: Omit<Failure, 'name'>): void {
    if (this.isSettled) return
    this.#finish(fail(name, more))
    this.#line?.cut(CUT)
  }

  timeUp(): void {
    // A provider that was not called was not slow.
    this.end(this.isQueued || this.#body?.isWaiting === true ? 'busy' : 'upstream_slow')
  }

  get isOver(): boolean {
    return this.isSettled
  }

  onConnect(line: Line): boolean {
    if (!this.isSettled && this.request.mayWrite?.() === false) this.#finish(fail('client_gone'))
    // The connection comes too late.
    if (this.isSettled) return false
    this.#line = line
    this.isSent = true
    this.request.call.sent?.(true)
    if (this.#unwatch !== null && !this.request.mayCutSent) this.#stopWatching()
    return true
  }

  onResponseStarted(): void {
    this.#hasAnswerBegun = true
  }

  onHead(head: ResponseHead): boolean {
    if (this.isSettled) return true
    const { contentLength } = head
    this.#status = head.status
    this.#contentLength = contentLength
    this.#contentEncoding = head.contentEncoding.trim()
    this.#retryAfter = head.retryAfter
    const { wantedHeader } = this.request
    // The list of all headers is built only for requests that want an additional header.
    this.#wanted = wantedHeader === undefined ? null : headerOf(head.list(), wantedHeader)
    if (!this.#isSuccess) {
      this.#body = new HeldBody(this.#home.budget, 0, this.request.caller)
      return true
    }
    if (contentLength > this.request.answerBytesMax) {
      this.#tooLarge()
      return true
    }
    this.#body = new HeldBody(this.#home.budget, contentLength, this.request.caller)
    return contentLength <= 0 || this.#body.hold(contentLength, this)
  }

  onData(chunk: Buffer): boolean {
    const body = this.#body
    if (this.isSettled || this.#isComplete || body === null) return true
    const isToCopy = this.#line?.isLent === true && !this.#mayLend(chunk)
    const hasRoom = body.push(chunk, this, isToCopy)
    if (this.#isSuccess) {
      if (body.sizeBytes > this.request.answerBytesMax) this.#tooLarge()
      return hasRoom
    }
    // The rest of a long error is not needed: opening a new connection is cheaper than reading it.
    if (body.sizeBytes >= UPSTREAM_ERROR_BYTES_MAX) {
      this.#complete()
      this.#line?.cut(CUT)
    }
    return true
  }

  onComplete(): void {
    this.#line = null
    this.#home.ended(this)
    this.#complete()
  }

  onError(error: Error, breakage: Breakage): void {
    this.#line = null
    if (this.#mayRepeat(breakage)) {
      this.#isRepeated = true
      this.isSent = false
      this.#home.repeat(this)
      return
    }
    this.#home.ended(this)
    if (this.isSettled || this.#isComplete) return
    this.#finish({ ok: false, failure: failureOf(error, this.isSent) })
  }

  /** True if the chunk is the whole body and can be used without a copy: the body ends in this turn. */
  #mayLend(chunk: Buffer): boolean {
    if (this.request.mayLend !== true || chunk.length !== this.#contentLength) return false
    return this.#isSuccess && isPlain(this.#contentEncoding)
  }

  get #isSuccess(): boolean {
    return this.#status >= 200 && this.#status < 300
  }

  #mayRepeat({ isStale }: Breakage): boolean {
    if (this.isSettled || this.#isRepeated || this.#hasAnswerBegun || !this.isSent) return false
    return this.request.mayRepeat && isStale
  }

  #complete(): void {
    if (this.isSettled || this.#isComplete || this.#body === null) return
    this.#isComplete = true
    const joined = this.#body.join()
    const contentEncoding = this.#contentEncoding
    if (joined instanceof Uint8Array && isPlain(contentEncoding)) this.#answer(joined, this.#body)
    else void this.#decode(joined, contentEncoding, this.#body)
  }

  async #decode(
    joining: Uint8Array | Promise<Uint8Array>,
    contentEncoding: string,
    body: HeldBody,
  ): Promise<void> {
    const joined = await joining
    if (isPlain(contentEncoding) || this.isSettled) {
      this.#answer(joined, body)
      return
    }
    const isSuccess = this.#isSuccess
    const decoded = await decode(joined, contentEncoding, {
      bytesMax: isSuccess ? this.request.answerBytesMax : UPSTREAM_ERROR_BYTES_MAX,
      room: (bytes) => !this.isSettled && (!isSuccess || this.#room(bytes, body)),
    })
    // The text of an error is optional: if it cannot be decoded, the error is reported without it.
    if (decoded.ok || !isSuccess) this.#answer(decoded.ok ? decoded.value : new Uint8Array(), body)
    else if (!this.isSettled) this.#finish(decoded)
  }

  #room(bytes: number, body: HeldBody): true | Promise<boolean> {
    let answered: (isGranted: boolean) => void = () => undefined
    const granted = new Promise<boolean>((resolve) => (answered = resolve))
    return body.hold(bytes, { granted: answered }) ? true : granted
  }

  /** The budget has room for the rest of the body, or never will. */
  granted(isGranted: boolean): void {
    if (!isGranted) return this.end('busy')
    // Deferred: the parser of another answer may be on the call stack, and undici can run only one at a time.
    queueMicrotask(() => {
      if (this.#body?.isWaiting === false) this.#line?.resume()
    })
  }

  #answer(bytes: Uint8Array, body: HeldBody): void {
    if (this.isSettled) return
    this.#finish(
      ok({
        status: this.#status,
        isSuccess: this.#isSuccess,
        retryAfter: this.#retryAfter,
        ...(this.#wanted !== null && { wanted: this.#wanted }),
        body: bytes,
        release: body.handOver(bytes.length),
      }),
    )
  }

  #tooLarge(): void {
    this.end('upstream_too_large', { fields: { limit: this.request.answerBytesMax } })
  }

  #finish(outcome: Outcome<EgressAnswer>): void {
    this.isSettled = true
    this.#home.settled(this)
    this.#stopWatching()
    this.#body?.drop()
    this.#settle(outcome)
  }

  #stopWatching(): void {
    this.#unwatch?.()
    this.#unwatch = null
  }
}
