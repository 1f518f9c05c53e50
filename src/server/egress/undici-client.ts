import { Readable } from 'node:stream'
import { Pool, type Dispatcher } from 'undici'
import { flatHeaders, readHeaders } from './answer-headers.ts'
import type { Connect } from './connect.ts'
import {
  NO_BREAKAGE,
  UNSENT,
  UNWRITABLE,
  type ExchangeHandler,
  type Line,
  type OriginClient,
} from './handler.ts'
import { bodyOf } from './request-body.ts'
import { broken, detach } from './undici-parser.ts'
import { isWritable } from './http1/connection.ts'

export interface PoolLimits {
  readonly connections: number
  readonly waiting: number
  /** Milliseconds that an idle connection is kept when the other side states no time. */
  readonly keepAliveTimeout: number
  /** Milliseconds that an idle connection is kept at most. */
  readonly keepAliveMaxTimeout?: number
  /** Largest headers of a response in bytes; absent: the default of Node's own client. */
  readonly maxHeaderSize?: number
}

export interface UndiciDeps {
  readonly connect: Connect
  readonly limits: PoolLimits
  /** Called before a connection is opened. */
  readonly connecting?: () => void
  /** An exchange is over. */
  readonly freed?: () => void
}

/** undici's pool of one origin, for bodies that are streams and for destinations that callers chose. */
export class UndiciClient implements OriginClient {
  /** Connections that are opening, busy or idle. */
  sockets = 0
  /** Exchanges that undici has. */
  busy = 0
  readonly #freed: () => void
  readonly #pool: Pool
  readonly #connections: number
  /** Exchanges without a connection so far. */
  #queued = 0
  readonly #staleErrors = new WeakSet<Error>()
  readonly #socketErrors = new WeakSet<Error>()

  constructor(origin: string, { connect, limits, connecting, freed }: UndiciDeps) {
    const { waiting, ...ofPool } = limits
    this.#connections = limits.connections
    this.#freed = freed ?? ((): void => undefined)
    this.#pool = new Pool(origin, {
      ...ofPool,
      pipelining: 1,
      // Sluice's own timeouts are finer, and cover the whole attempt.
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: (options, connected) => {
        // undici opens another connection after a request was cut, although no request waits for that
        // connection.
        queueMicrotask(() => {
          if (this.#queued === 0) return connected(new Error('no call is waiting for a connection'), null)
          connecting?.()
          this.sockets++
          connect(options, (...made) => connected(...this.#noted(made)))
        })
      },
    })
  }

  dispatch(handler: ExchangeHandler): void {
    if (!isWritable(handler.request)) {
      this.#freed()
      return handler.onError(UNWRITABLE, NO_BREAKAGE)
    }
    const { method, path, headers, body, bodyBytes = null } = handler.request
    const { content, lengthHeader } = bodyOf(body)
    const length = lengthHeader ?? (body instanceof Readable && bodyBytes !== null ? String(bodyBytes) : null)
    const all = length === null ? headers : [...headers, 'content-length', length]
    handler.isQueued = this.busy >= this.#connections
    this.busy++
    this.#queued++
    this.#pool.dispatch(
      { method, path, headers: all as string[], body: content },
      new Dispatched(handler, this),
    )
  }

  destroy(): Promise<void> {
    return this.#pool.destroy()
  }

  /** Called when an exchange gets a connection, or will get none. */
  unqueued(): void {
    this.#queued--
  }

  ended(): void {
    this.busy--
    // undici regards the connection as idle only in the next turn, and would open another one before.
    setImmediate(this.#freed)
  }

  isOfSocket(error: Error): boolean {
    return this.#socketErrors.has(error)
  }

  isStale(error: Error): boolean {
    if (this.#staleErrors.has(error)) return true
    // undici itself creates this error when the server closed the connection properly; it shows how many bytes
    // the socket had read.
    const { socket } = error as { socket?: { bytesRead?: number } }
    return (socket?.bytesRead ?? 0) > 0
  }

  /** Adds listeners that run before undici's own listeners end or fail the request on the connection. */
  #noted(made: Parameters<Parameters<Connect>[1]>): Parameters<Parameters<Connect>[1]> {
    const [, socket] = made
    if (socket === null) this.sockets--
    socket?.on('close', () => this.sockets--)
    socket?.on('end', () => detach(socket))
    socket?.on('error', (cause: Error) => {
      broken(socket)
      this.#socketErrors.add(cause)
      if (socket.bytesRead > 0) this.#staleErrors.add(cause)
    })
    return made
  }
}

/** An undici handler that gets raw headers, so that not all of them are parsed. */
class Dispatched implements Dispatcher.DispatchHandler, Line {
  // Not lent: undici keeps the bytes that it has read.
  readonly isLent = false
  readonly #handler: ExchangeHandler
  readonly #client: UndiciClient
  #isQueued = true
  #cut: ((error: Error) => void) | null = null
  #resume: (() => void) | null = null

  constructor(handler: ExchangeHandler, client: UndiciClient) {
    this.#handler = handler
    this.#client = client
  }

  cut(error: Error): void {
    this.#cut?.(error)
  }

  resume(): void {
    this.#resume?.()
  }

  onConnect(cut: (error?: Error) => void): void {
    this.#unqueued()
    this.#handler.isQueued = false
    this.#cut = cut
    // undici drops a request whose handler throws; `cut` would end the connection.
    if (!this.#handler.onConnect(this)) throw UNSENT
  }

  onResponseStarted(): void {
    this.#handler.onResponseStarted()
  }

  onHeaders(status: number, raw: Buffer[], resume: () => void): boolean {
    if (status < 200) return true
    this.#resume = resume
    return this.#handler.onHead({ status, ...readHeaders(raw), list: () => flatHeaders(raw) })
  }

  onData(bytes: Buffer): boolean {
    // undici reports a resumed connection with an empty chunk first, which must not pause the connection
    // again.
    return bytes.length === 0 || this.#handler.onData(bytes)
  }

  onComplete(): void {
    this.#client.ended()
    this.#handler.onComplete()
  }

  onError(error: Error): void {
    this.#unqueued()
    this.#client.ended()
    const [isStale, isOfSocket] = [this.#client.isStale(error), this.#client.isOfSocket(error)]
    this.#handler.onError(error, { isStale, isOfSocket })
  }

  #unqueued(): void {
    if (this.#isQueued) this.#client.unqueued()
    this.#isQueued = false
  }
}
