/** One connection of a load test of streams: it carries one call at a time, and stays for the next. */
import { connect, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { ResponseReader, type ResponseSink } from '../../src/server/egress/http1/response-reader.ts'
import { STALE_MS_MAX } from './limits.ts'
import type { ResponseHead } from '../../src/server/egress/handler.ts'

/** Where the calls go: one address, looked up before the load. */
export interface StreamPlace {
  readonly address: string
  readonly port: number
  /** Null: no TLS. */
  readonly tls: { readonly servername: string | null; readonly ca: string | null } | null
}

/** Takes what becomes of a call. */
export interface CallEvents {
  onHead(status: number, retryAfter: string | null): void
  onBody(bytes: Buffer): void
  /** The response came to its end. */
  onEnd(): void
  /** @param code of the system, of TLS or of the reader */
  onBroken(code: string): void
  /** A kept connection was closed as the call was sent, before a byte of its answer came: the call has to be sent again. */
  onStale(): void
}

export interface ConnectionEvents {
  /** The connection has no call, and may have another one. */
  free(connection: StreamConnection): void
  /** The connection is of no more use. */
  gone(connection: StreamConnection): void
}

const HEAD_BYTES_MAX = 65_536

export class StreamConnection implements ResponseSink {
  readonly #socket: Socket
  readonly #events: ConnectionEvents
  readonly #now: () => number
  readonly #reader = new ResponseReader(this, HEAD_BYTES_MAX)
  #call: CallEvents | null = null
  #hasServed = false
  #sentAt = 0
  #hasBegun = false
  #isOpen = true

  /** @param now monotonic milliseconds */
  constructor(place: StreamPlace, events: ConnectionEvents, now = (): number => performance.now()) {
    this.#events = events
    this.#now = now
    this.#socket = opened(place)
    this.#socket.setNoDelay(true)
    this.#socket.on('data', (bytes) => this.#read(bytes))
    this.#socket.on('error', (error: NodeJS.ErrnoException) => this.#broken(error.code ?? 'ERROR'))
    this.#socket.on('end', () => this.#reader.close())
    this.#socket.on('close', () => this.#broken('ECONNRESET'))
  }

  /** @param request head and body */
  send(request: Buffer, call: CallEvents): void {
    this.#call = call
    this.#hasBegun = false
    this.#sentAt = this.#now()
    this.#reader.begin()
    this.#socket.write(request)
  }

  close(): void {
    this.#isOpen = false
    this.#call = null
    this.#socket.destroy()
  }

  onHead(head: ResponseHead): boolean {
    this.#call?.onHead(head.status, head.retryAfter)
    return true
  }

  onBody(bytes: Buffer): boolean {
    this.#call?.onBody(bytes)
    return true
  }

  onEnd(): void {
    const call = this.#call
    this.#call = null
    this.#hasServed = true
    call?.onEnd()
  }

  #read(bytes: Buffer): void {
    if (!this.#isOpen) return
    // Bytes without a call would be read as the answer to the next one.
    if (this.#call === null) return this.#broken('ECONNRESET')
    this.#hasBegun = true
    const at = this.#reader.read(bytes, 0, bytes.length)
    if (this.#reader.isBroken) return this.#broken('HPE_INVALID')
    if (this.#call !== null || !this.#isOpen) return
    if (at === bytes.length && this.#reader.isKeptAlive) this.#events.free(this)
    else this.#broken('')
  }

  #broken(code: string): void {
    if (!this.#isOpen) return
    const call = this.#call
    const isStale = this.#hasServed && !this.#hasBegun && this.#now() - this.#sentAt < STALE_MS_MAX
    this.close()
    this.#events.gone(this)
    if (isStale) call?.onStale()
    else call?.onBroken(code)
  }
}

function opened({ address, port, tls }: StreamPlace): Socket {
  if (tls === null) return connect(port, address)
  // Certificates are checked also where NODE_TLS_REJECT_UNAUTHORIZED is off: the key is for this server alone.
  return connectTls({
    host: address,
    port,
    rejectUnauthorized: true,
    ALPNProtocols: ['http/1.1'],
    ...(tls.servername === null ? {} : { servername: tls.servername }),
    ...(tls.ca === null ? {} : { ca: tls.ca }),
  })
}
