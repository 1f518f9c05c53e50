import type { OnReadOpts, Socket } from 'node:net'
import { lendingBuffer } from '../../../schemas/values/lent-bytes.ts'
import { NO_BREAKAGE, UNSENT, type ExchangeHandler, type Line, type ResponseHead } from '../handler.ts'
import { ResponseReader, type ResponseSink } from './response-reader.ts'
import { writeRequest, type WrittenRequest } from './request-text.ts'

/** The pool of a connection. */
export interface ConnectionHome {
  /** The exchange is over, and the connection may serve another one: `freed` follows. */
  rested(connection: Connection): void
  /** The connection is of no more use; with it ends an exchange that it had. */
  closed(connection: Connection): void
  /** An exchange is over, and its connection rests or is closed. */
  freed(): void
}

const CONNECTION = Symbol('connection')

interface Attached extends Socket {
  [CONNECTION]?: Connection
}

/**
 * Reads connections into one buffer: a callback runs to its end, its microtasks included, before the next
 * read.
 * @param memory of one read
 * @param isPoisoned the bytes are overwritten at the end of each turn, so that a test sees who keeps them
 */
export function sharedRead(memory: Uint8Array, isPoisoned: boolean): OnReadOpts {
  const buffer = lendingBuffer(memory)
  return {
    buffer,
    callback(this: Attached, length: number): boolean {
      const connection = this[CONNECTION]
      // A server that speaks first speaks no HTTP.
      if (connection === undefined) this.destroy()
      const isReadOn = connection?.onRead(buffer, length) ?? false
      if (isPoisoned) setImmediate(() => buffer.fill(POISON, 0, length))
      return isReadOn
    },
  }
}

/** One kept-alive connection: one exchange at a time. */
export class Connection implements Line, ResponseSink {
  readonly isLent = true
  /** `performance.now()` when the connection was first seen idle; 0 while it is not. */
  idleSinceMs = 0
  readonly #socket: Socket
  readonly #home: ConnectionHome
  readonly #reader: ResponseReader
  #handler: ExchangeHandler | null = null
  #isOpen = true
  /** The connection has an exchange, or what is left of one. */
  #isBusy = false
  #hasServed = false
  #hasBegun = false
  #isPaused = false
  /** What was read and not handed on when the handler paused. */
  #rest: Buffer | null = null
  /** The other side has ended the connection while the handler was paused. */
  #isEnded = false

  constructor(socket: Attached, home: ConnectionHome, headBytesMax: number) {
    this.#socket = socket
    this.#home = home
    this.#reader = new ResponseReader(this, headBytesMax)
    socket[CONNECTION] = this
    socket.on('end', this.#onFin)
    socket.on('error', this.#onBroken)
    socket.on('close', this.#onClose)
  }

  get isOpen(): boolean {
    return this.#isOpen
  }

  /** Milliseconds that the other side keeps the connection; -1 when it does not tell. */
  get keepAliveMs(): number {
    return this.#reader.keepAliveMs
  }

  /** @param head as `RequestHeads` has it */
  send(handler: ExchangeHandler & { readonly request: WrittenRequest }, head: string): void {
    this.#handler = handler
    this.#isBusy = true
    this.#hasBegun = false
    try {
      if (!handler.onConnect(this)) return this.#unsent(handler)
      // The handler may have cut the connection.
      if (this.#handler !== handler) return
      this.#reader.begin()
      writeRequest(this.#socket, head, handler.request)
    } catch (bug) {
      this.#fail(bug)
    }
  }

  /** Also closes a connection that has no exchange. */
  cut(error: Error): void {
    this.#break(error, false)
  }

  resume(): void {
    if (!this.#isPaused) return
    this.#isPaused = false
    const rest = this.#rest ?? NOTHING
    this.#rest = null
    if (!this.#take(rest, rest.length)) return
    if (this.#isEnded) this.#onFin()
    else if (this.#isOpen) this.#socket.resume()
  }

  /** While the connection is idle it does not keep the process alive. */
  unref(): void {
    this.#socket.unref()
  }

  ref(): void {
    this.#socket.ref()
  }

  /** @returns false to read no more until `resume` */
  onRead(bytes: Buffer, length: number): boolean {
    if (this.#isPaused) {
      // A read of TLS may come in several parts, of which a pause stops none.
      this.#keep(bytes, 0, length)
      return false
    }
    return this.#take(bytes, length)
  }

  onHead(head: ResponseHead): boolean {
    return this.#handler?.onHead(head) ?? true
  }

  onBody(bytes: Buffer): boolean {
    return this.#handler?.onData(bytes) ?? true
  }

  onEnd(): void {
    const handler = this.#handler
    this.#handler = null
    this.#hasServed = true
    handler?.onComplete()
  }

  /** @returns false when the handler has paused */
  #take(bytes: Buffer, length: number): boolean {
    const handler = this.#handler
    // Bytes without a request would be read as the response to the next one.
    if (handler === null) return this.#end(UNASKED)
    let at = 0
    try {
      if (!this.#hasBegun && length > 0) {
        this.#hasBegun = true
        handler.onResponseStarted()
      }
      at = this.#reader.read(bytes, 0, length)
    } catch (bug) {
      this.#fail(bug)
    }
    if (this.#reader.isBroken)
      return this.#end(new ConnectionError('HTTP_INVALID', 'the response is not valid HTTP/1.1'))
    if (!this.#isOpen) return true
    if (this.#handler === null) return this.#served(at === length)
    if (!this.#reader.isPaused) return true
    this.#isPaused = true
    this.#keep(bytes, at, length)
    return false
  }

  /** A handler that throws costs its own exchange, and no process. */
  #fail(bug: unknown): void {
    this.#break(bug instanceof Error ? bug : new Error(String(bug)), false)
  }

  #keep(bytes: Buffer, from: number, to: number): void {
    if (from === to) return
    const more = bytes.subarray(from, to)
    this.#rest = Buffer.concat(this.#rest === null ? [more] : [this.#rest, more])
  }

  #unsent(handler: ExchangeHandler): void {
    this.#handler = null
    this.#rested()
    handler.onError(UNSENT, NO_BREAKAGE)
  }

  /** @param isClean no byte came behind the response */
  #served(isClean: boolean): boolean {
    if (!isClean || !this.#reader.isKeptAlive) return this.#end(NOT_KEPT)
    if (this.#socket.writableLength === 0) this.#rested()
    // TLS says in the next turn that a request was written.
    else setImmediate(this.#restLate)
    return true
  }

  readonly #restLate = (): void => {
    if (!this.#isOpen) return
    // A response that came before the whole request was written leaves the rest of that on its way.
    if (this.#socket.writableLength > 0) this.#end(NOT_KEPT)
    else this.#rested()
  }

  #rested(): void {
    this.#home.rested(this)
    this.#freed()
  }

  #freed(): void {
    if (!this.#isBusy) return
    this.#isBusy = false
    this.#home.freed()
  }

  #end(error: Error): boolean {
    this.#break(error, false)
    return true
  }

  /** @param isOfPeer the other side ended the connection, or the network did */
  #break(error: Error, isOfPeer: boolean): void {
    if (!this.#isOpen) return
    this.#isOpen = false
    const handler = this.#handler
    this.#handler = null
    this.#rest = null
    this.#reader.stop()
    this.#socket.destroy()
    this.#home.closed(this)
    this.#freed()
    handler?.onError(error, { isStale: isOfPeer && this.#hasServed, isOfSocket: isOfPeer })
  }

  readonly #onFin = (): void => {
    if (this.#isPaused) this.#isEnded = true
    else if (this.#reader.close())
      this.#end(new Error('the connection closed before the response was complete'))
    else this.#break(new ConnectionError('HTTP_CLOSED', 'the other side closed the connection'), true)
  }

  readonly #onBroken = (cause: Error): void => this.#break(cause, true)

  readonly #onClose = (): void => {
    // The end of a connection closes it, too: what came before is still to be read.
    if (!this.#isEnded) this.#break(new ConnectionError('HTTP_CLOSED', 'the connection was closed'), true)
  }
}

/** Its code is on the log line of the attempt. */
class ConnectionError extends Error {
  readonly code: string

  constructor(code: string, message: string) {
    super(message)
    this.code = code
  }
}

const NOTHING = Buffer.alloc(0)
const POISON = 0x21
const UNASKED = new Error('received bytes without a request')
const NOT_KEPT = new Error('connection is not kept alive')
