import {
  UPSTREAM_IDLE_LOOK_MS,
  UPSTREAM_KEEP_ALIVE_MARGIN_MS,
  UPSTREAM_KEEP_ALIVE_MS_MAX,
} from '../../../schemas/models/provider-limits.ts'
import type { Connect } from '../connect.ts'
import { Connection, type ConnectionHome } from './connection.ts'

export interface ConnectionsDeps {
  readonly origin: URL
  readonly connect: Connect
  readonly headBytesMax: number
  /** Milliseconds that an idle connection is kept when the other side names no time. */
  readonly keepAliveMs: number
  /** An exchange is over, and its connection rests or is closed. */
  readonly freed: () => void
  /** A connection rests: `settle` is to be called in a later turn of the loop. */
  readonly resting: () => void
}

/** The connections to one origin, the idle ones in order of their last use. */
export class Connections implements ConnectionHome {
  /** Connections that are made, busy or idle. */
  open = 0
  readonly freed: () => void
  readonly #deps: ConnectionsDeps
  readonly #target: Parameters<Connect>[0]
  readonly #all = new Set<Connection>()
  /** The latest last; some may be closed. */
  #idle: Connection[] = []
  /**
   * Connections whose exchange has ended since the loop last looked at all sockets: a server may say that it
   * keeps a connection, and end it.
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

  /** @returns the idle connection that was used last; null when there is none */
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

  /** The loop has looked at all sockets. */
  settle(): void {
    if (this.#resting.length === 0) return
    for (const connection of this.#resting) if (connection.isOpen) this.#idle.push(connection)
    this.#resting = []
    this.#clock ??= setInterval(() => this.look(performance.now()), UPSTREAM_IDLE_LOOK_MS).unref()
  }

  /** Makes a connection. */
  dial(made: (connection: Connection | null, error: Error) => void): void {
    this.open++
    this.#deps.connect(this.#target, (error, socket) => {
      // A connection may break as it is made.
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

  /** Closes the idle connection that has waited longest. */
  closeOldest(): void {
    this.#idle.find(({ isOpen }) => isOpen)?.cut(NOT_KEPT)
  }

  destroy(): void {
    this.#isClosed = true
    for (const connection of [...this.#all]) connection.cut(CLOSED)
    this.look(performance.now())
  }

  /**
   * Closes the connections whose time is over. One clock looks at all of them, and costs a connection nothing
   * while it is in use.
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
const NO_CONNECTION = new Error('connection failed while it was opened')
const NOT_KEPT = new Error('idle for too long')
const CLOSED = new Error('the egress gate is closing')
