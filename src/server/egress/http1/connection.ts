import { Readable } from 'node:stream'
import type { OnReadOpts, Socket } from 'node:net'
import { lendingBuffer } from '../../../schemas/values/lent-bytes.ts'
import {
  NO_BREAKAGE,
  UNSENT,
  type ExchangeHandler,
  type Line,
  type ResponseHead,
  type SentRequest,
} from '../handler.ts'
import { ResponseReader, type ResponseSink } from './response-reader.ts'
import { JOINED_BODY_BYTES_MAX, PIECE_BYTES } from '../request-body.ts'

export interface ConnectionHome {
  /** Called when the exchange is over and the connection can serve another one after the current turn; `freed` follows. */
  rested(connection: Connection): void
  /** Called when the connection cannot be used any more; an exchange in progress ends too. */
  closed(connection: Connection): void
  /** Called when an exchange is over; its connection rests or is closed. */
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
 * @param isPoisoned the bytes are overwritten at the end of each turn, so that a test finds code that keeps
 * them
 */
export function sharedRead(memory: Uint8Array, isPoisoned: boolean): OnReadOpts {
  const buffer = lendingBuffer(memory)
  return {
    buffer,
    callback(this: Attached, length: number): boolean {
      const connection = this[CONNECTION]
      // A server that sends bytes before any request does not speak HTTP.
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
  /** True while the connection has an exchange or an unfinished rest of one. */
  #isBusy = false
  #hasServed = false
  #hasBegun = false
  #isPaused = false
  /** Bytes that were read but not passed on when the handler paused. */
  #rest: Buffer | null = null
  /** True when the other side ended the connection while the handler was paused. */
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

  /** Milliseconds for which the other side keeps the idle connection; -1: not stated. */
  get keepAliveMs(): number {
    return this.#reader.keepAliveMs
  }

  /** @param head as `RequestHeads` returns it */
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

  /** Closes the connection, also without an exchange. */
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

  /** Called when the connection is idle: it then does not keep the process alive. */
  unref(): void {
    this.#socket.unref()
  }

  ref(): void {
    this.#socket.ref()
  }

  /** @returns false to read no more until `resume` */
  onRead(bytes: Buffer, length: number): boolean {
    if (this.#isPaused) {
      // One read of TLS may arrive in several parts, which a pause does not stop.
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

  /** If a handler throws, only its exchange ends, not the process. */
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

  /** @param isClean no bytes followed the response */
  #served(isClean: boolean): boolean {
    if (!isClean || !this.#reader.isKeptAlive) return this.#end(NOT_KEPT)
    if (this.#socket.writableLength === 0) this.#rested()
    // TLS reports only in the next turn that a request was written.
    else setImmediate(this.#restLate)
    return true
  }

  readonly #restLate = (): void => {
    if (!this.#isOpen) return
    // If the response arrived before the whole request was written, the rest of the request is still being
    // sent.
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
    else this.#break(new ConnectionError('HTTP_CLOSED', 'the server closed the connection'), true)
  }

  readonly #onBroken = (cause: Error): void => this.#break(cause, true)

  readonly #onClose = (): void => {
    // The end of a connection also closes it, but bytes that arrived before may still have to be read.
    if (!this.#isEnded) this.#break(new ConnectionError('HTTP_CLOSED', 'the connection was closed'), true)
  }
}

/** The log line of the attempt contains its code. */
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

/** A request that this client writes; others are passed to undici. */
export interface WrittenRequest extends SentRequest {
  readonly body: string | Uint8Array | readonly Uint8Array[] | null
}

/** Methods that may have no body. */
const BARE: ReadonlySet<string> = new Set(['GET', 'DELETE'])

const PATH = /^\/[\x21-\x7e]*$/

const NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/

const VALUE = /^[\t\x20-\x7e]*$/

const WRITABLE_PATH = /^\/[\x21-\xff]*$/

const WRITABLE_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/

/** Headers that undici interprets as instructions, or refuses. */
const SPECIAL: ReadonlySet<string> = new Set([
  'host',
  'content-length',
  'transfer-encoding',
  'connection',
  'keep-alive',
  'upgrade',
  'expect',
])

export function isWritten(request: SentRequest): request is WrittenRequest {
  const { method, body } = request
  if (method !== 'POST') return body === null && BARE.has(method)
  if (body === null || body instanceof Readable) return body === null
  const isOne = typeof body === 'string' || body instanceof Uint8Array
  return (isOne ? body.length : bytesOf(body)) <= PIECE_BYTES
}

/**
 * False for a request that no client can write. It must not be passed to undici: a request that its pool
 * refuses while another one ends blocks the pool.
 */
export function isWritable({ path, headers }: SentRequest): boolean {
  if (!WRITABLE_PATH.test(path) || headers.length % 2 !== 0) return false
  return headers.every((text, at) => (at % 2 === 0 ? NAME : WRITABLE_VALUE).test(text))
}

/** The heads of the requests of one origin, without their lengths. */
export class RequestHeads {
  readonly #host: string
  /** Most calls of a provider have the same frozen list of headers. The cached text, which may hold a key, is released together with the list. */
  readonly #known = new WeakMap<readonly string[], KnownHead>()

  /** @param host with the port, unless it is the protocol's default */
  constructor(host: string) {
    this.#host = host
  }

  /** @returns null when a part of the head is not plain ASCII, or must be written by undici */
  of({ method, path, headers }: SentRequest): string | null {
    const known = this.#known.get(headers)
    if (known !== undefined && known.path === path && known.method === method) return known.head
    const head = this.#make(method, path, headers)
    if (head !== null && Object.isFrozen(headers)) this.#known.set(headers, { method, path, head })
    return head
  }

  #make(method: string, path: string, headers: readonly string[]): string | null {
    if (!PATH.test(path) || headers.length % 2 !== 0) return null
    let head = `${method} ${path} HTTP/1.1\r\nhost: ${this.#host}\r\nconnection: keep-alive\r\n`
    for (let at = 0; at < headers.length; at += 2) {
      const [name = '', value = ''] = [headers[at], headers[at + 1]]
      if (!NAME.test(name) || !VALUE.test(value) || SPECIAL.has(name.toLowerCase())) return null
      head += `${name}: ${value}\r\n`
    }
    return head
  }
}

interface KnownHead {
  readonly method: string
  readonly path: string
  readonly head: string
}

/** Writes a request with as few system calls as possible, mostly one. */
export function writeRequest(socket: Socket, head: string, { method, body }: WrittenRequest): void {
  if (body === null) {
    socket.write(BARE.has(method) ? `${head}\r\n` : `${head}content-length: 0\r\n\r\n`, 'latin1')
  } else if (typeof body === 'string') {
    const bytes = Buffer.byteLength(body)
    const isAscii = bytes === body.length
    socket.write(`${head}content-length: ${bytes}\r\n\r\n${body}`, isAscii ? 'latin1' : 'utf8')
  } else if (body instanceof Uint8Array) {
    writeParts(socket, head, [body])
  } else {
    writeParts(socket, head, body)
  }
}

function writeParts(socket: Socket, head: string, parts: readonly Uint8Array[]): void {
  const bytes = bytesOf(parts)
  const whole = `${head}content-length: ${bytes}\r\n\r\n`
  if (bytes <= JOINED_BODY_BYTES_MAX) {
    const joined = Buffer.allocUnsafe(whole.length + bytes)
    let at = joined.write(whole, 'latin1')
    for (const part of parts) {
      joined.set(part, at)
      at += part.length
    }
    socket.write(joined)
    return
  }
  socket.cork()
  socket.write(whole, 'latin1')
  for (const part of parts) socket.write(part)
  socket.uncork()
}

function bytesOf(parts: readonly Uint8Array[]): number {
  let bytes = 0
  for (const part of parts) bytes += part.length
  return bytes
}
