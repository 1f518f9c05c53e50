import { Body, type BodyTaker } from './body/body.ts'
import { CallTime, type TimedExchange } from './call/call-time.ts'
import { RefusedBody } from './body/refused-body.ts'
import { SocketReading, type ReadExchange } from './body/socket-reading.ts'
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
import { EventWriter } from './reply/event-writer.ts'
import { isEmpty, isPulled, ownedReply, lengthOf, unreadBytesOf, type Reply } from './reply/reply-body.ts'
import { ended, type Timer, type TimerEnd } from './timers.ts'
import { UploadBody, type UploadSocket } from './body/upload.ts'
import type { WireResponse } from './reply/wire.ts'
import { isBodiless, writeBegin, writeHead, writeHeadAlone, writeWithoutBody } from './reply/write-reply.ts'
import type { ReplyWriter, Writing } from './reply/writing.ts'

/**
 * One request and its reply. The only owner of the response object, which becomes null when the client
 * disconnects or the final write is done.
 *
 * The exchange settles once: when the reply is written or the client has disconnected, and no operation runs
 * for it any more.
 */
export class Exchange implements UploadSocket, TimedExchange, ReadExchange, OpenExchange {
  place = -1
  readonly time = new CallTime(this)
  /** Status of the reply; 0 before the reply. */
  status = 0
  /** Bytes of the reply's body that were passed to the library, known once the reply has ended. */
  bytes = 0
  isClientGone = false
  readonly #host: ExchangeHost
  readonly #owner: ExchangeOwner
  readonly #head: ExchangeDeps['head']
  #res: WireResponse | null
  #body: BodyTaker | null = null
  readonly #reading: SocketReading
  /** Drops a refused body and closes its connection; null until an answer needs this. */
  #refused: RefusedBody | null = null
  #writer: ReplyWriter | null = null
  /** The reply in progress, whose `done` must still be called. */
  #reply: Reply | null = null
  #giveUnread: (() => void) | null = null
  /** True when the caller has a key for the operation. */
  #isLetIn = false
  /** True while an operation runs whose end is awaited. */
  #isWorking = false
  #mayOutlive = false
  #isAnswered = false
  #isSettled = false

  constructor(res: WireResponse, { owner, host, head }: ExchangeDeps) {
    this.#res = res
    this.#owner = owner
    this.#host = host
    this.#head = head
    this.#reading = new SocketReading(res, this)
    res.onAborted(() => this.guard(() => this.#abandon()))
    host.open.add(this)
  }

  /** True once the client disconnected or was answered: no further answer can reach it. */
  get isOver(): boolean {
    return this.#res === null || this.#isAnswered
  }

  get #isHead(): boolean {
    return this.#head.method === 'head'
  }

  get isReceiving(): boolean {
    return this.#body?.isReceiving === true
  }

  /** Called when the caller has a valid key: more bytes are dropped if this body is refused. */
  letIn(): void {
    this.#isLetIn = true
  }

  /** A timer whose exception is handled as this exchange's crash, instead of ending the process. */
  start(ms: number, fire: TimerEnd, from?: number): Timer {
    return this.#host.timers.start(ms, fire, from, this)
  }

  /** Attaches the request's body; only in the synchronous part of the handler, since the library drops the body after it. */
  receive(bytesMax: number): Body {
    const { budget } = this.#host
    return this.#attach(
      new Body({ declared: this.#head.declared, bytesMax, budget, timers: this, socket: this }),
    )
  }

  receiveUpload(bytesMax: number): UploadBody {
    return this.#attach(
      new UploadBody({ declared: this.#head.declared, bytesMax, timers: this, socket: this }),
    )
  }

  #attach<T extends BodyTaker>(body: T): T {
    this.#body = body
    this.#res?.onData((chunk, isLast) => this.#takeChunk(body, chunk, isLast))
    return body
  }

  /** Called when the body is complete: the operation has its full time from now on. */
  restartDeadline(now: number): void {
    this.time.restart(now)
  }

  pauseBody(): void {
    this.#reading.pause()
  }

  /** Whether the whole request has arrived. */
  get isWhole(): boolean {
    return this.#body === null ? this.#head.declared === 0 : this.#body.isComplete
  }

  /** Called when the handler returned, or the last byte of the body arrived, and there is no answer yet. */
  awaitAnswer(): void {
    if (!this.isOver && this.isWhole) this.#host.readEnd.atEnd(this.#reading)
  }

  /**
   * Calls `act` after the library has parsed its whole read. If the client had pipelined another request, the
   * connection is cut by then, so that no call begins whose answer would be lost.
   */
  afterRead(act: () => void): void {
    this.#host.readEnd.after(this, act)
  }

  /** Controls when the connection is read while the call has no answer. */
  get reading(): Pick<SocketReading, 'hold' | 'watch'> {
    return this.#reading
  }

  resumeBody(): void {
    this.#reading.resume()
  }

  /**
   * Called when an operation begins; `rest` is called once when it ends. Until then it holds the body's bytes.
   * The exchange settles earlier only if the operation misses its deadline, or its client disconnects and the
   * operation does not outlive its client.
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

  /** Answers. A second answer, or an answer to a client that disconnected, is dropped and its memory returned. */
  send(reply: Reply): void {
    try {
      if (this.isOver) return void reply.done?.()
      this.#answers(reply)
      if (reply.relayed !== undefined) return this.#relay(reply)
      this.#body?.stop()
      this.#begin(reply)
    } catch (error) {
      this.crashed(error)
    }
  }

  /** Relays an answer. The request's body continues meanwhile: the relayed server decides how much of it to read. */
  #relay(reply: Reply): void {
    const res = this.#res
    const body = reply.relayed
    if (res === null || body === undefined) return
    const isReceiving = this.#body?.isComplete === false
    if (!isReceiving) this.resumeBody()
    // As in `#begin`, but this answer stays open anyway.
    const isLast = isReceiving || this.#head.declared === null || this.#head.isLast || this.#host.isClosing
    const writer = (this.#writer = new RelayWriter({ body, ...this.#writing(res, isLast) }))
    res.cork(() => {
      writeHead(res, reply, isLast)
      writer.start()
    })
    this.#reading.wrote()
  }

  /** Begins an answer of events; null when an answer can no longer reach the client. */
  events(reply: Reply, silence: () => Uint8Array): EventWriter | null {
    const res = this.#res
    if (this.isOver || res === null) return null
    this.#answers(reply)
    this.resumeBody()
    const isLast = this.#head.declared === null || this.#head.isLast || this.#host.isClosing
    const head = (): void => writeHead(res, reply, isLast)
    return (this.#writer = new EventWriter({ head, silence, ...this.#writing(res, isLast) }))
  }

  #answers(reply: Reply): void {
    this.#isAnswered = true
    this.#reply = reply
    this.status = reply.status
    this.time.stop()
    this.#reading.stopTimer()
  }

  #writing(res: WireResponse, isLast: boolean): Writing {
    return {
      res,
      isLast,
      timers: this,
      over: () => this.#written(),
      broken: (failure) => this.#owner.broken(failure),
      guard: (act) => this.guard(act),
      // The library cuts slow readers of a socket that receives nothing. On a socket that still receives, a
      // beat would lose a part of the body.
      beat: () => void (this.#body?.isComplete === false || this.#reading.beat()),
      wrote: () => {
        this.#reading.wrote()
        return this.#body?.isComplete === false
      },
      linger: (close) => this.#linger(close),
      unread: (bytes) => this.#host.unread.hold(this.#owner.organizationId, bytes),
    }
  }

  /** Reads and drops the rest of the body before the connection is closed. */
  #linger(close: () => void): void {
    const isReceiving = this.#body?.isComplete === false
    this.#body?.stop()
    this.resumeBody()
    this.#ofRefused.closeAfter(close, isReceiving)
  }

  get #ofRefused(): RefusedBody {
    return (this.#refused ??= new RefusedBody(this, this.#isLetIn))
  }

  /** Begins the answer. An answer that depends only on the head is sent before the rest of the body, which is then dropped. */
  #begin(reply: Reply): void {
    this.resumeBody()
    const isWhole = this.isWhole
    const isUnread =
      !isWhole && (this.#head.isExpecting || (this.#head.declared ?? Infinity) > SWALLOW_BYTES_MAX)
    const isDrawn = isBodiless(reply, this.#isHead) && this.#host.random() < LAST_BODILESS_SHARE
    const isLast = isUnread || isDrawn || this.#head.isLast || this.#host.isClosing
    if (!isWhole && (isLast || this.#head.declared === null)) this.#ofRefused.readAway()
    // After a chunked body there may be a second request that a proxy took for a part of the body. If the
    // answer has ended, the library processes the bytes that follow in the same read, and forgets that the
    // connection must close. If the answer is still open, the library cuts the connection. An answer with a
    // body is still open anyway.
    if (this.#head.declared === null || (isLast && isEmpty(reply.body))) {
      const later = ownedReply(reply)
      setImmediate(() => this.guard(() => this.#write(later, true)))
    } else this.#write(reply, isLast)
  }

  /** Ends the call because the node stops. */
  drain(): void {
    this.time.end('drain')
    if (!this.isOver) this.#owner.drained()
    // The operation of a stream has received the signal, and notifies the client itself.
    else if (!(this.#writer instanceof EventWriter)) this.#res?.close()
  }

  #takeChunk(body: BodyTaker, chunk: ArrayBuffer, isLast: boolean): void {
    try {
      body.chunk(chunk, isLast)
      this.#refused?.chunk(chunk.byteLength, isLast)
      if (isLast) this.awaitAnswer()
    } catch (error) {
      this.crashed(error)
    }
  }

  /**
   * Writes only with `tryEnd`: `end` copies the bytes that the client does not read into an unlimited buffer.
   * An answer that waits for its reader makes the library cut pipelined requests.
   */
  #write(reply: Reply, isLast: boolean): void {
    const res = this.#res
    if (res === null) return
    const { body } = reply
    if (isLast && body === null) return this.#writeHeadAlone(res, reply)
    const bytes = body === null ? 0 : lengthOf(body)
    const isOmitted = isBodiless(reply, this.#isHead)
    this.bytes = isOmitted ? 0 : bytes
    let isDone = bytes === 0 || (!isLast && isOmitted)
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

  /** Writes the bytes that the socket did not accept at once, and every last answer. */
  #writeParts(res: WireResponse, reply: Reply, isLast: boolean): void {
    const how = this.#writing(res, isLast)
    this.#giveUnread = how.unread(unreadBytesOf(reply))
    const body = isBodiless(reply, this.#isHead) ? null : reply.body
    const writer = isPulled(body) ? new PullWriter({ body, ...how }) : new PartsWriter({ body, ...how })
    this.#writer = writer
    writer.start(res.getWriteOffset())
  }

  #written(): void {
    this.#res = null
    this.#reading.end()
    this.#finishReply()
    this.#settle()
  }

  #finishReply(): void {
    this.bytes = this.#writer?.writtenBytes ?? this.bytes
    const reply = this.#reply
    this.#reply = this.#writer = null
    this.#giveUnread?.()
    if (reply?.done !== undefined) this.guard(reply.done)
  }

  /** Called when the client disconnected or the connection was cut. */
  #abandon(): void {
    if (this.#res === null) return
    this.#res = null
    this.#reading.end()
    this.isClientGone = true
    if (!this.#mayOutlive) this.#isWorking = false
    // A continuing operation keeps its deadline.
    if (!this.#isWorking) this.time.stop()
    this.#body?.stop()
    this.#refused?.stop()
    this.#writer?.stop()
    this.time.end('client_gone')
    this.#finishReply()
    this.#settle()
  }

  /** Called when an operation ignored its signal: the exchange does not wait for it any longer. */
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
   * Runs callbacks of the library, of timers and of the loop, whose exceptions would end the process. If an
   * answer has begun, its connection is cut, so that the client does not wait for the rest forever.
   */
  guard(act: TimerEnd): void {
    try {
      ended(act)
    } catch (error) {
      this.crashed(error)
    }
  }

  crashed(error: unknown): void {
    const wasAnswered = this.#isAnswered
    this.#owner.crashed(error)
    if (wasAnswered) this.#res?.close()
  }
}
