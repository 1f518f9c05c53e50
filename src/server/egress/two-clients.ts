import { maxHeaderSize } from 'node:http'
import type { Connect } from './connect.ts'
import { NO_BREAKAGE, UNSENT, type ExchangeHandler, type OriginClient } from './handler.ts'
import { UndiciClient, type PoolLimits } from './undici-client.ts'
import {
  Connection,
  type ConnectionHome,
  isWritten,
  RequestHeads,
  type WrittenRequest,
} from './http1/connection.ts'

/** Milliseconds between two checks of the idle connections to a provider; a connection is closed earlier by this time. Decision. */
export const UPSTREAM_IDLE_LOOK_MS = 500
/** Milliseconds by which an idle connection is closed before the time that the provider names. Decision. */
export const UPSTREAM_KEEP_ALIVE_MARGIN_MS = 2_000
/** Milliseconds that an idle connection is kept at most, whatever the provider names. Decision. */
export const UPSTREAM_KEEP_ALIVE_MS_MAX = 600_000

export interface TwoClientsDeps {
  readonly connect: Connect
  /** Connector of undici, which sends bodies that are streams. */
  readonly connectUndici: Connect
  readonly limits: PoolLimits
}

/**
 * The clients of a trusted origin: a lean one for requests whose body is in memory, undici for the rest. They
 * share the limit of connections and one queue of waiting requests.
 */
export class TwoClients implements OriginClient {
  readonly #origin: string
  readonly #deps: TwoClientsDeps
  readonly #connections: Connections
  readonly #heads: RequestHeads
  #undici: UndiciClient | null = null
  /** Exchanges for which a connection is being opened. */
  readonly #dialing = new Set<ExchangeHandler>()
  /** Exchanges that have a connection or are opening one. */
  #busy = 0
  #waiting: ExchangeHandler[] = []
  /** Index of the first handler that still waits. */
  #first = 0
  #isPlanned = false
  #isClosed = false

  constructor(origin: string, deps: TwoClientsDeps) {
    const { limits, connect } = deps
    this.#origin = origin
    this.#deps = deps
    const url = new URL(origin)
    this.#heads = new RequestHeads(url.host)
    this.#connections = new Connections({
      origin: url,
      connect,
      headBytesMax: limits.maxHeaderSize ?? maxHeaderSize,
      keepAliveMs: limits.keepAliveTimeout,
      freed: this.#freed,
      resting: this.#plan,
    })
  }

  dispatch(handler: ExchangeHandler): void {
    handler.isQueued = true
    this.#waiting.push(handler)
    this.#plan()
  }

  async destroy(): Promise<void> {
    this.#isClosed = true
    this.#run()
    for (const handler of this.#dialing) handler.onError(UNSENT, NO_BREAKAGE)
    this.#dialing.clear()
    this.#connections.destroy()
    await this.#undici?.destroy()
  }

  /**
   * Requests are written after the reads of a turn of the loop, on connections that were idle before that
   * turn: so that the end of a connection, or unrequested bytes, are noticed before a request uses it.
   */
  readonly #plan = (): void => {
    if (this.#isPlanned) return
    this.#isPlanned = true
    setImmediate(this.#run)
  }

  readonly #run = (): void => {
    this.#isPlanned = false
    while (this.#hasTurn) {
      const handler = this.#waiting[this.#first]
      if (handler !== undefined && !this.#send(handler)) break
      this.#first++
    }
    this.#connections.settle()
    if (this.#first === this.#waiting.length || this.#first >= TAKEN_MAX) {
      this.#waiting = this.#waiting.slice(this.#first)
      this.#first = 0
    }
    if (this.#hasTurn) this.#plan()
  }

  /** True if a handler waits and may get a connection. */
  get #hasTurn(): boolean {
    return (
      this.#first < this.#waiting.length && (this.#isClosed || this.#busy < this.#deps.limits.connections)
    )
  }

  readonly #freed = (): void => {
    this.#busy--
    if (this.#first < this.#waiting.length) this.#plan()
  }

  /** @returns false when the handler must wait: a connection becomes idle once the loop has checked the sockets */
  #send(handler: ExchangeHandler): boolean {
    if (this.#isClosed || handler.isOver) {
      handler.onError(UNSENT, NO_BREAKAGE)
      return true
    }
    const lean = isLean(handler) ? handler : null
    const head = lean === null ? null : this.#heads.of(lean.request)
    if (lean === null || head === null) {
      this.#taken(handler)
      this.#other().dispatch(handler)
      return true
    }
    const idle = this.#connections.take()
    if (idle === null && this.#connections.isResting) return false
    this.#taken(handler)
    if (idle !== null) idle.send(lean, head)
    // The only unused connections are idle ones of undici, which can send any request.
    else if (this.#isFull && this.#undici !== null && this.#undici.sockets > this.#undici.busy)
      this.#undici.dispatch(handler)
    else this.#dial(lean, head)
    return true
  }

  #taken(handler: ExchangeHandler): void {
    handler.isQueued = false
    this.#busy++
  }

  #dial(handler: LeanHandler, head: string): void {
    this.#dialing.add(handler)
    this.#connections.dial((connection, error) => {
      if (!this.#dialing.delete(handler)) return
      if (connection !== null) return connection.send(handler, head)
      this.#freed()
      handler.onError(error, NO_BREAKAGE)
    })
  }

  get #isFull(): boolean {
    return this.#connections.open + (this.#undici?.sockets ?? 0) >= this.#deps.limits.connections
  }

  #other(): UndiciClient {
    const { connectUndici, limits } = this.#deps
    this.#undici ??= new UndiciClient(this.#origin, {
      connect: connectUndici,
      limits,
      connecting: () => {
        if (this.#isFull) this.#connections.closeOldest()
      },
      freed: this.#freed,
    })
    return this.#undici
  }
}

type LeanHandler = ExchangeHandler & { readonly request: WrittenRequest }

function isLean(handler: ExchangeHandler): handler is LeanHandler {
  return isWritten(handler.request)
}

/** Processed handlers at the front of the queue after which the queue is copied without them. */
const TAKEN_MAX = 256

export interface ConnectionsDeps {
  readonly origin: URL
  readonly connect: Connect
  readonly headBytesMax: number
  /** Milliseconds that an idle connection is kept when the other side states no time. */
  readonly keepAliveMs: number
  /** Called when an exchange is over; its connection rests or is closed. */
  readonly freed: () => void
  /** Called when a connection rests: `settle` is to be called in a later turn of the loop. */
  readonly resting: () => void
}

/** The connections to one origin, the idle ones in order of their last use. */
export class Connections implements ConnectionHome {
  /** Connections that are opening, busy or idle. */
  open = 0
  readonly freed: () => void
  readonly #deps: ConnectionsDeps
  readonly #target: Parameters<Connect>[0]
  readonly #all = new Set<Connection>()
  /** Idle connections, the last used at the end; some may be closed. */
  #idle: Connection[] = []
  /**
   * Connections whose exchange has ended since the loop last checked all sockets: a server may announce that
   * it keeps a connection, and still close it.
   */
  #resting: Connection[] = []
  #clock: NodeJS.Timeout | null = null
  #isClosed = false

  constructor(deps: ConnectionsDeps) {
    const { protocol, host, hostname, port } = deps.origin
    this.#deps = deps
    this.freed = deps.freed
    // The brackets of an IPv6 address belong to the URL.
    this.#target = { protocol, host, hostname: hostname.replace(/^\[|\]$/g, ''), port }
  }

  /** @returns the idle connection that was used last; null without one */
  take(): Connection | null {
    for (let found = this.#idle.pop(); found !== undefined; found = this.#idle.pop()) {
      if (!found.isOpen) continue
      if (found.idleSinceMs !== 0) found.ref()
      found.idleSinceMs = 0
      return found
    }
    return null
  }

  /** True when a connection will be idle after `settle`. */
  get isResting(): boolean {
    return this.#resting.length > 0
  }

  /** Called when the loop has checked all sockets: resting connections become idle. */
  settle(): void {
    if (this.#resting.length === 0) return
    for (const connection of this.#resting) if (connection.isOpen) this.#idle.push(connection)
    this.#resting = []
    this.#clock ??= setInterval(() => this.look(performance.now()), UPSTREAM_IDLE_LOOK_MS).unref()
  }

  dial(made: (connection: Connection | null, error: Error) => void): void {
    this.open++
    this.#deps.connect(this.#target, (error, socket) => {
      // A connection may break while it is being opened.
      if (error === null && !socket.destroyed && !this.#isClosed) {
        const connection = new Connection(socket, this, this.#deps.headBytesMax)
        this.#all.add(connection)
        return made(connection, NO_ERROR)
      }
      socket?.destroy()
      this.open--
      made(null, error ?? NO_CONNECTION)
    })
  }

  rested(connection: Connection): void {
    const { keepAliveMs } = this.#deps
    const isKept = connection.keepAliveMs === -1 || this.#timeOf(connection) > 0
    if (!isKept || keepAliveMs <= 0) return connection.cut(NOT_KEPT)
    this.#resting.push(connection)
    this.#deps.resting()
  }

  closed(connection: Connection): void {
    this.open--
    this.#all.delete(connection)
  }

  /** Closes the connection that has been idle longest. */
  closeOldest(): void {
    this.#idle.find(({ isOpen }) => isOpen)?.cut(NOT_KEPT)
  }

  destroy(): void {
    this.#isClosed = true
    for (const connection of [...this.#all]) connection.cut(CLOSED)
    this.look(performance.now())
  }

  /**
   * Closes connections that were idle for too long. One timer checks all of them, at no cost for connections
   * in use.
   * @param nowMs `performance.now()`
   */
  look(nowMs: number): void {
    for (const connection of this.#idle) {
      if (connection.idleSinceMs === 0) {
        connection.idleSinceMs = nowMs
        connection.unref()
      }
      const idleMs = nowMs - connection.idleSinceMs + 2 * UPSTREAM_IDLE_LOOK_MS
      if (idleMs >= this.#timeOf(connection)) connection.cut(NOT_KEPT)
    }
    this.#idle = this.#idle.filter(({ isOpen }) => isOpen)
    if (this.#idle.length > 0 || this.#clock === null) return
    clearInterval(this.#clock)
    this.#clock = null
  }

  /** Milliseconds that a connection may be idle. */
  #timeOf({ keepAliveMs }: Connection): number {
    if (keepAliveMs === -1) return this.#deps.keepAliveMs
    return Math.min(keepAliveMs - UPSTREAM_KEEP_ALIVE_MARGIN_MS, UPSTREAM_KEEP_ALIVE_MS_MAX)
  }
}

const NO_ERROR = new Error('none')

const NO_CONNECTION = new Error('the connection could not be opened')

const NOT_KEPT = new Error('idle for too long')

const CLOSED = new Error('the egress gate is closing')
