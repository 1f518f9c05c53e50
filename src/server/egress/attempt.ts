import type { Dispatcher } from 'undici'
import { endedBy } from '../../schemas/values/call-ended.ts'
import { fail, ok, type Failure, type FailureName, type Outcome } from '../../schemas/failures.ts'
import { UPSTREAM_ERROR_BYTES_MAX } from '../../schemas/models/provider-limits.ts'
import type { EgressAnswer, EgressRequest } from '../ports/egress/egress.ts'
import type { AnswerBudget } from './answer-budget.ts'
import { readHeaders, type AnswerHeaders } from './answer-headers.ts'
import { decode, isPlain } from './decode.ts'
import { HeldBody } from './held-body.ts'
import { failureOf } from './connection-failure.ts'

/** A request that waits for a connection. */
export interface Queued {
  /** undici has the request and has not given it a connection. Only the home writes this field. */
  isQueued: boolean
}

/** The operations of its origin that an attempt uses. */
export interface AttemptHome {
  /** The attempt has a connection, or will have none. */
  unqueued(attempt: Queued): void
  readonly budget: AnswerBudget
  /** True when the error is the end of a connection that had served answers before. */
  isStale(error: Error): boolean
  /** Sends the attempt once more. */
  repeat(attempt: Attempt): void
  /** The attempt no longer needs watching. */
  settled(attempt: Attempt): void
  /** undici has finished with the attempt, perhaps long after it was settled. */
  ended(attempt: Attempt): void
}

/**
 * One request and its answer: undici's handler in the form with raw headers, which saves parsing them all.
 * The attempt settles exactly once; later events only return resources.
 */
export class Attempt implements Dispatcher.DispatchHandler, Queued {
  readonly request: EgressRequest
  isSent = false
  isQueued = false
  isSettled = false
  /** True once a tick of its origin has found the attempt unsent. */
  isWaiting = false
  /** Index in its origin's list of open attempts. */
  place = -1
  readonly #home: AttemptHome
  readonly #settle: (outcome: Outcome<EgressAnswer>) => void
  #isRepeated = false
  #hasAnswerBegun = false
  /** Enough of the answer has arrived; undici's report of its end changes nothing. */
  #isComplete = false
  /** Cuts the connection; undici provides it when it writes the request. */
  #cut: ((error: Error) => void) | null = null
  #resume: (() => void) | null = null
  #unwatch: (() => void) | null = null
  #status = 0
  #headers: AnswerHeaders | null = null
  #body: HeldBody | null = null

  constructor(request: EgressRequest, home: AttemptHome, settle: (outcome: Outcome<EgressAnswer>) => void) {
    this.request = request
    this.#home = home
    this.#settle = settle
    if (request.mayCutSent) this.watch()
  }

  /** Begins to watch for the caller's leave; only a request that waits pays for a signal. C24. */
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
    this.#cut?.(CUT)
  }

  timeUp(): void {
    this.end(this.#body?.isWaiting === true ? 'busy' : 'upstream_slow')
  }

  onConnect(cut: (error?: Error) => void): void {
    this.#home.unqueued(this)
    if (!this.isSettled && this.request.mayWrite?.() === false) this.#finish(fail('client_gone'))
    // The connection comes too late. undici drops a request that throws; `cut` would end the connection.
    if (this.isSettled) throw CUT
    this.#cut = cut
    this.isSent = true
    this.request.call.sent?.(true)
    if (this.#unwatch !== null && !this.request.mayCutSent) this.#stopWatching()
  }

  onResponseStarted(): void {
    this.#hasAnswerBegun = true
  }

  onHeaders(status: number, raw: Buffer[], resume: () => void): boolean {
    if (status < 200 || this.isSettled) return true
    const headers = readHeaders(raw)
    this.#status = status
    this.#headers = headers
    this.#resume = resume
    if (!this.#isSuccess) {
      this.#body = new HeldBody(this.#home.budget, 0, this.request.caller)
      return true
    }
    if (headers.contentLength > this.request.answerBytesMax) {
      this.#tooLarge()
      return true
    }
    this.#body = new HeldBody(this.#home.budget, headers.contentLength, this.request.caller)
    return headers.contentLength <= 0 || this.#body.hold(headers.contentLength, this.#goOn)
  }

  onData(chunk: Buffer): boolean {
    const body = this.#body
    // undici reports a resumed connection with an empty chunk first, which must not pause the connection
    // again.
    if (this.isSettled || this.#isComplete || body === null || chunk.length === 0) return true
    const hasRoom = body.push(chunk, this.#goOn)
    if (this.#isSuccess) {
      if (body.sizeBytes > this.request.answerBytesMax) this.#tooLarge()
      return hasRoom
    }
    // The rest of a long error is of no use: a new connection is cheaper than reading it.
    if (body.sizeBytes >= UPSTREAM_ERROR_BYTES_MAX) {
      this.#complete()
      this.#cut?.(CUT)
    }
    return true
  }

  onComplete(): void {
    this.#home.ended(this)
    this.#complete()
  }

  onError(error: Error): void {
    this.#home.unqueued(this)
    if (this.#mayRepeat(error)) {
      this.#isRepeated = true
      this.isSent = false
      this.#cut = null
      this.#home.repeat(this)
      return
    }
    this.#home.ended(this)
    if (this.isSettled || this.#isComplete) return
    this.#finish({ ok: false, failure: failureOf(error, this.isSent) })
  }

  get #isSuccess(): boolean {
    return this.#status >= 200 && this.#status < 300
  }

  #mayRepeat(error: Error): boolean {
    if (this.isSettled || this.#isRepeated || this.#hasAnswerBegun || !this.isSent) return false
    return this.request.mayRepeat && this.#home.isStale(error)
  }

  #complete(): void {
    if (this.isSettled || this.#isComplete || this.#body === null || this.#headers === null) return
    this.#isComplete = true
    const joined = this.#body.join()
    const { contentEncoding } = this.#headers
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
    // The text of an error is optional: an error whose text cannot be read stays the same error.
    if (decoded.ok || !isSuccess) this.#answer(decoded.ok ? decoded.value : new Uint8Array(), body)
    else if (!this.isSettled) this.#finish(decoded)
  }

  #room(bytes: number, body: HeldBody): true | Promise<boolean> {
    let answered: (isGranted: boolean) => void = () => undefined
    const granted = new Promise<boolean>((resolve) => (answered = resolve))
    return body.hold(bytes, answered) ? true : granted
  }

  readonly #goOn = (isGranted: boolean): void => {
    if (!isGranted) return this.end('busy')
    // The parser of another answer may be on the call stack, and undici runs one at a time.
    queueMicrotask(() => {
      if (this.#body?.isWaiting === false) this.#resume?.()
    })
  }

  #answer(bytes: Uint8Array, body: HeldBody): void {
    if (this.isSettled) return
    const retryAfter = this.#headers?.retryAfter ?? null
    const isSuccess = this.#isSuccess
    this.#finish(
      ok({ status: this.#status, isSuccess, retryAfter, body: bytes, release: body.handOver(bytes.length) }),
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

const CUT = new Error('cut by the gate')
