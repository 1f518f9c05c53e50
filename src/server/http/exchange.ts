import {
  REFUSED_BODY_BYTES_MAX,
  REPLY_BEAT_MS,
  UNKNOWN_CALLER_BODY_BYTES_MAX,
  UNREAD_MS,
} from '../../schemas/limits/limits.ts'
import { Body, type BodyTaker } from './body/body.ts'
import { CallTime, type TimedExchange } from './call/call-time.ts'
import { Discard } from './body/discard.ts'
import {
  LAST_BODILESS_SHARE,
  SWALLOW_BYTES_MAX,
  type ExchangeHost,
  type ExchangeOwner,
  type ExchangeDeps,
  type OpenExchange,
} from './exchange-deps.ts'
import { PartsWriter } from './reply/parts-writer.ts'
import { PullWriter } from './reply/pull-writer.ts'
import { RelayWriter } from './reply/relay-writer.ts'
import {
  isEmpty,
  isPulled,
  lengthOf,
  partsOf,
  unreadBytesOf,
  type RelayedBody,
  type Reply,
} from './reply/reply-body.ts'
import type { Timer } from './timers.ts'
import { UploadBody, type UploadSocket } from './body/upload.ts'
import type { WireResponse } from './reply/wire.ts'
import { isBodiless, writeBegin, writeHead, writeHeadAlone, writeWithoutBody } from './reply/write-reply.ts'

/**
 * One request and its reply. The only owner of the response object, which is null from the client's leaving
 * or the final write on.
 *
 * It settles once, when the reply is written or the client is gone, and no operation runs on its behalf any
 * more.
 */
export class Exchange implements UploadSocket, TimedExchange, OpenExchange {
  place = -1
  readonly time = new CallTime(this)
  /** Status of the reply; 0 before. */
  status = 0
  isClientGone = false
  readonly #host: ExchangeHost
  readonly #owner: ExchangeOwner
  readonly #isHead: boolean
  /** The client wants no further reply. */
  readonly #isLast: boolean
  /** Bytes of the request's body; null when it comes in chunks. */
  readonly #declared: number | null
  /** The client waits for `100 Continue`, which the library has sent by itself. */
  readonly #isExpecting: boolean
  #res: WireResponse | null
  #body: BodyTaker | null = null
  #discard: Discard | null = null
  #isReadAway = false
  /**
   * Closes the connection of an answer that was written, once so much of the body was read away as a refused
   * one may bring.
   */
  #close: (() => void) | null = null
  /** Runs while a connection whose answer is open is not read, and ends that. */
  #unread: Timer | null = null
  /** What is under way is charged for: the connection is not read before the answer. */
  #isHeld = false
  #writer: PartsWriter | PullWriter | RelayWriter | null = null
  /** What was sent and is not over yet: its `done` is owed. */
  #reply: Reply | null = null
  #giveUnread = (): void => undefined
  /** The caller has a key for what it asks. */
  #isLetIn = false
  #isPaused = false
  /** An operation runs that is waited for. */
  #isWorking = false
  #mayOutlive = false
  #isAnswered = false
  #isSettled = false

  constructor(res: WireResponse, { owner, host, head }: ExchangeDeps) {
    this.#res = res
    this.#owner = owner
    this.#host = host
    this.#isHead = head.method === 'head'
    this.#isLast = head.isLast
    this.#declared = head.declared
    this.#isExpecting = head.isExpecting
    res.onAborted(() => this.#guard(() => this.#abandon()))
    host.open.add(this)
  }

  /** True once the client left or was answered: nothing that is done now can reach it. */
  get isOver(): boolean {
    return this.#res === null || this.#isAnswered
  }

  get isReceiving(): boolean {
    return this.#body?.isReceiving === true
  }

  /** More of this body is read away, should it be refused. */
  letIn(): void {
    this.#isLetIn = true
  }

  /** A timer whose exception is this exchange's crash, and not the end of the process. */
  start(ms: number, fire: () => void, from?: number): Timer {
    return this.#host.timers.start(ms, () => this.#guard(fire), from)
  }

  /**
   * Attaches the request's body; only in the synchronous part of the handler, later the library has dropped
   * it.
   */
  receive(bytesMax: number): Body {
    const { budget } = this.#host
    return this.#attach(new Body({ declared: this.#declared, bytesMax, budget, timers: this, socket: this }))
  }

  /** The same for a body that is streamed. */
  receiveUpload(bytesMax: number): UploadBody {
    return this.#attach(new UploadBody({ declared: this.#declared, bytesMax, timers: this, socket: this }))
  }

  #attach<T extends BodyTaker>(body: T): T {
    this.#body = body
    this.#res?.onData((chunk, isLast) => this.#guard(() => this.#takeChunk(body, chunk, isLast)))
    return body
  }

  /** The body is here: the operation has its whole time from now on. */
  restartDeadline(now: number): void {
    this.time.restart(now)
  }

  pauseBody(): void {
    this.#isPaused = true
    this.#res?.pause()
  }

  /**
   * The library cuts a connection on which a request comes while another one has no answer: it is not read
   * meanwhile, and what comes waits in the kernel. A leave is not heard then, so that a call that ends with
   * its client waits UNREAD_MS and no longer. C24. Called behind the read: what is pipelined in the same one
   * cannot be held back.
   */
  #holdNext(): void {
    if (this.isOver || !this.#isWhole || this.#isPaused) return
    this.pauseBody()
    if (!this.#isHeld) this.#unread = this.start(UNREAD_MS, () => this.#readNext())
  }

  /**
   * The library cuts a connection that was resumed and brings nothing for 10 s, though it waits for its
   * answer: hence the beat.
   */
  #readNext(): void {
    this.#unread?.stop()
    this.#unread = null
    if (this.isOver || !this.#isWhole) return
    if (this.#isPaused) this.resumeBody()
    else this.#beat()
    this.#unread = this.start(REPLY_BEAT_MS, () => this.#readNext())
  }

  /** Whether nothing of this request is on its way. */
  get #isWhole(): boolean {
    return this.#body === null ? this.#declared === 0 : this.#body.isComplete
  }

  /** The handler returns, or the last of the body came, and there is no answer yet. */
  awaitAnswer(): void {
    if (!this.isOver && this.#isWhole) this.#host.readEnd.after(() => this.#guard(() => this.#holdNext()))
  }

  /**
   * Begins with `act` once the library has parsed all that it has read: had the client pipelined another
   * request, the connection is cut by then, and nothing was begun whose answer would be lost.
   */
  afterRead(act: () => void): void {
    this.#host.readEnd.after(() => this.#guard(() => void (this.isOver || act())))
  }

  /**
   * @param isHeld what was begun is charged for whether the client leaves or not; else its leave matters
   * again
   */
  hold(isHeld: boolean): void {
    if (isHeld === this.#isHeld) return
    this.#isHeld = isHeld
    if (!isHeld) return this.#readNext()
    this.#unread?.stop()
    this.#unread = null
    if (!this.#isPaused) this.awaitAnswer()
  }

  /**
   * Only when paused, and paused once more for that: the library stops reading for good when a socket that
   * reads is resumed.
   */
  resumeBody(): void {
    if (this.#isPaused) {
      this.#res?.pause()
      this.#res?.resume()
    }
    this.#isPaused = false
  }

  /**
   * An operation begins; `rest` ends it, once. Until then it holds the body's bytes, and this does not settle
   * unless the operation misses its deadline, or its client leaves and it does not outlive that.
   */
  work(outlivesClient: boolean): void {
    this.#isWorking = true
    this.#mayOutlive = outlivesClient
    this.#body?.lend()
  }

  rest(): void {
    this.#isWorking = false
    this.#body?.returned()
    this.time.stop()
    this.#settle()
  }

  /** Answers. A second answer, or one to a client that left, is dropped and its memory returned. */
  send(reply: Reply): void {
    if (this.isOver) return this.#guard(() => reply.done?.())
    this.#isAnswered = true
    this.#reply = reply
    this.status = reply.status
    this.time.stop()
    this.#unread?.stop()
    if (reply.relayed !== undefined) return this.#guard(() => this.#relay(reply, reply.relayed))
    this.#body?.stop()
    this.#guard(() => this.#begin(reply))
  }

  /** The request's body goes on while the answer does: whom it is for decides what of it he wants. */
  #relay(reply: Reply, body: RelayedBody | undefined): void {
    const res = this.#res
    if (res === null || body === undefined) return
    const isReceiving = this.#body?.isComplete === false
    if (!isReceiving) this.resumeBody()
    // As in `#begin`; this answer stays open by itself.
    const isLast = isReceiving || this.#declared === null || this.#isLast || this.#host.isClosing
    const writer = new RelayWriter({
      res,
      body,
      isLast,
      timers: this,
      over: () => this.#written(),
      broken: (failure) => this.#owner.broken(failure),
      guard: (act) => this.#guard(act),
      beat: () => this.#beat(),
      wrote: () => this.#wrote(),
      linger: (close) => this.#linger(close),
    })
    this.#writer = writer
    res.cork(() => {
      writeHead(res, reply, isLast)
      writer.start()
    })
    this.#wrote()
  }

  /**
   * The library cuts slow readers of a socket that does nothing else; of one that still receives it loses the
   * body.
   */
  #beat(): void {
    if (this.#body?.isComplete === false) return
    this.#res?.pause()
    this.#res?.resume()
  }

  /** A write that the socket takes in part makes the library read again what was paused. */
  #wrote(): boolean {
    if (this.#isPaused) this.#res?.pause()
    return this.#body?.isComplete === false
  }

  /**
   * A connection that is closed on a client which still sends would take the answer along: the rest is read
   * away first.
   */
  #linger(close: () => void): void {
    const isReceiving = this.#body?.isComplete === false
    this.#body?.stop()
    this.resumeBody()
    this.#close = close
    if (isReceiving) this.#readAway()
    else this.#closeSoon()
  }

  /**
   * Not at once: what is corked leaves behind the read that is being parsed, which may bring the last of the
   * body too.
   */
  #closeSoon(): void {
    setImmediate(() => this.#guard(() => this.#close?.()))
  }

  /** Begins when the answer is known, for what comes until it is written counts too. */
  #readAway(): void {
    if (this.#isReadAway) return this.#closeSoon()
    this.#discard ??= new Discard(
      this,
      this.#isLetIn ? REFUSED_BODY_BYTES_MAX : UNKNOWN_CALLER_BODY_BYTES_MAX,
      () => {
        this.#discard = null
        this.#isReadAway = true
        this.#closeSoon()
      },
    )
  }

  /**
   * What the head alone decides is answered before the rest of the body, which is read away behind the
   * answer. C38.
   */
  #begin(reply: Reply): void {
    this.resumeBody()
    const isWhole = this.#isWhole
    const isUnread = !isWhole && (this.#isExpecting || (this.#declared ?? Infinity) > SWALLOW_BYTES_MAX)
    const isDrawn = isBodiless(reply, this.#isHead) && this.#host.random() < LAST_BODILESS_SHARE
    const isLast = isUnread || isDrawn || this.#isLast || this.#host.isClosing
    if (!isWhole && (isLast || this.#declared === null)) this.#readAway()
    // Behind a chunked body may stand a second request that a proxy took for a part of it. The library runs
    // what follows in the same read, and forgets that the connection ends, unless the answer is still open by
    // then; an open answer makes it cut the connection. One with a body stays open by itself.
    if (this.#declared === null || (isLast && isEmpty(reply.body)))
      setImmediate(() => this.#guard(() => this.#write(reply, true)))
    else this.#write(reply, isLast)
  }

  /** Ends the call because the node ends. */
  drain(): void {
    this.time.end('drain')
    if (!this.isOver) this.#owner.drained()
    else if (this.#res !== null) this.#res.close()
  }

  #takeChunk(body: BodyTaker, chunk: ArrayBuffer, isLast: boolean): void {
    body.chunk(chunk, isLast)
    this.#discard?.chunk(chunk.byteLength, isLast)
    if (isLast) this.awaitAnswer()
  }

  /**
   * Writes by `tryEnd` alone: `end` copies what the client does not read into a buffer without bound, while
   * an answer that waits for its reader makes the library cut the requests that are pipelined behind it.
   */
  #write(reply: Reply, isLast: boolean): void {
    const res = this.#res
    if (res === null) return
    const { body } = reply
    const bytes = body === null ? 0 : lengthOf(body)
    if (isLast && body === null) return this.#writeHeadAlone(res, reply)
    let isDone = bytes === 0 || (!isLast && isBodiless(reply, this.#isHead))
    if (isDone) writeWithoutBody(res, reply, isLast)
    else {
      res.cork(() => {
        isDone = writeBegin(res, reply, bytes, isLast)
        if (!isDone) this.#writeParts(res, reply, isLast)
      })
    }
    if (isDone) this.#written()
  }

  #writeHeadAlone(res: WireResponse, reply: Reply): void {
    writeHeadAlone(res, reply)
    this.#linger(() => {
      if (this.#res === null) return
      this.#written()
      res.close()
    })
  }

  /** What the socket did not take at once, and every last answer. */
  #writeParts(res: WireResponse, reply: Reply, isLast: boolean): void {
    this.#giveUnread = this.#host.unread.hold(this.#owner.organizationId, unreadBytesOf(reply))
    const over = (): void => this.#written()
    const guard = (act: () => void): void => this.#guard(act)
    const linger = (close: () => void): void => this.#linger(close)
    const how = { res, timers: this, isLast, over, guard, linger }
    const body = isBodiless(reply, this.#isHead) ? null : reply.body
    const writer = isPulled(body)
      ? new PullWriter({ ...how, body, broken: (failure) => this.#owner.broken(failure) })
      : new PartsWriter({ ...how, parts: partsOf(body) })
    this.#writer = writer
    writer.start(res.getWriteOffset())
  }

  #written(): void {
    this.#res = null
    this.#writer = null
    this.#finishReply()
    this.#settle()
  }

  #finishReply(): void {
    const reply = this.#reply
    this.#reply = null
    this.#giveUnread()
    if (reply?.done !== undefined) this.#guard(reply.done)
  }

  /** The client left, or the connection was cut. */
  #abandon(): void {
    if (this.#res === null) return
    this.#res = null
    this.isClientGone = true
    if (!this.#mayOutlive) this.#isWorking = false
    // What runs on keeps its deadline.
    if (!this.#isWorking) this.time.stop()
    this.#unread?.stop()
    this.#body?.stop()
    this.#discard?.stop()
    this.#writer?.stop()
    this.time.end('client_gone')
    this.#finishReply()
    this.#settle()
  }

  /** An operation that ignores its signal is not waited for. */
  expire(): void {
    this.#isWorking = false
    this.#owner.expired()
    this.#settle()
  }

  #settle(): void {
    if (this.#isSettled || this.#res !== null || this.#isWorking) return
    this.#isSettled = true
    this.#host.open.delete(this)
    this.#owner.settled()
  }

  /**
   * Runs what the library, a timer or the loop calls back, where an exception would end the process. When the
   * answer has begun it cannot be taken back, and a client that waits for its rest must not wait for ever.
   */
  #guard(act: () => void): void {
    try {
      act()
    } catch (error) {
      const wasAnswered = this.#isAnswered
      this.#owner.crashed(error)
      if (wasAnswered) this.#res?.close()
    }
  }
}
