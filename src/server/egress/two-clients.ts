import { maxHeaderSize } from 'node:http'
import type { Connect } from './connect.ts'
import { NO_BREAKAGE, UNSENT, type ExchangeHandler, type OriginClient } from './handler.ts'
import { Connections } from './http1/connections.ts'
import { isWritten, RequestHeads, type WrittenRequest } from './http1/request-text.ts'
import { UndiciClient, type PoolLimits } from './undici-client.ts'

export interface TwoClientsDeps {
  readonly connect: Connect
  /** For bodies that are streams. */
  readonly connectUndici: Connect
  readonly limits: PoolLimits
}

/**
 * The clients of a trusted origin: a lean one for requests whose body lies in memory, undici for the rest.
 * Both together keep to the bound of connections, and requests wait in one queue for either.
 */
export class TwoClients implements OriginClient {
  readonly #origin: string
  readonly #deps: TwoClientsDeps
  readonly #connections: Connections
  readonly #heads: RequestHeads
  #undici: UndiciClient | null = null
  /** Exchanges for which a connection is made. */
  readonly #dialing = new Set<ExchangeHandler>()
  /** Exchanges that have a connection, or make one. */
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
   * Requests are written behind the reads of a turn of the loop, on connections that were idle before that turn:
   * what has come on a connection, its end or bytes without a request, is seen before a request trusts it.
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

  /** A handler waits, and may have a connection. */
  get #hasTurn(): boolean {
    return (
      this.#first < this.#waiting.length && (this.#isClosed || this.#busy < this.#deps.limits.connections)
    )
  }

  readonly #freed = (): void => {
    this.#busy--
    if (this.#first < this.#waiting.length) this.#plan()
  }

  /** @returns false when the handler has to wait for a connection that rests */
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
    // The connections that are left are idle ones of undici, which can send everything.
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

/** Handlers already taken before the queue is copied without them. */
const TAKEN_MAX = 256
