/** Clients of a bare relay: one request, and all of its answer. */
import { Pool } from 'undici'
import { UPSTREAM_CONNECTIONS_MAX, UPSTREAM_KEEP_ALIVE_MS } from '../../src/schemas/models/provider-limits.ts'
import { leanConnectors, trustedConnector, trustOf } from '../../src/server/egress/connect.ts'
import type { ExchangeHandler, ResponseHead, SentRequest } from '../../src/server/egress/handler.ts'
import { TwoClients } from '../../src/server/egress/two-clients.ts'

/**
 * Calls back once, with the body of the answer, whose bytes are lent until the turn ends; null: there is
 * none.
 */
export type Ask = (body: Uint8Array, done: (answer: Uint8Array | null) => void) => void

const HEADERS = ['content-type', 'application/json']

/** The cheapest use of undici: kept connections, `dispatch`, no timeouts. */
export function askByUndici(origin: string, path: string): Ask {
  const pool = new Pool(origin, {
    connections: UPSTREAM_CONNECTIONS_MAX,
    pipelining: 1,
    headersTimeout: 0,
    bodyTimeout: 0,
  })
  return (body, done) => {
    let answer: Buffer | null = null
    pool.dispatch(
      { method: 'POST', path, headers: HEADERS, body },
      {
        onConnect: () => undefined,
        onHeaders: () => true,
        onData: (piece) => {
          answer = answer === null ? piece : Buffer.concat([answer, piece])
          return true
        },
        onComplete: () => done(answer),
        onError: () => done(null),
      },
    )
  }
}

/** The product's own client, without the gate before it. */
export function askByLean(origin: string, path: string): Ask {
  const trust = trustOf([])
  const client = new TwoClients(origin, {
    connect: leanConnectors(trust).calls,
    connectUndici: trustedConnector(trust),
    limits: {
      connections: UPSTREAM_CONNECTIONS_MAX,
      waiting: 0,
      keepAliveTimeout: UPSTREAM_KEEP_ALIVE_MS,
    },
  })
  return (body, done) => client.dispatch(new LeanCall({ method: 'POST', path, headers: HEADERS, body }, done))
}

const NOTHING = Buffer.alloc(0)

class LeanCall implements ExchangeHandler {
  readonly request: SentRequest
  readonly isOver = false
  readonly #done: Parameters<Ask>[1]
  #announcedBytes = -1
  #answer: Buffer | null = null

  constructor(request: SentRequest, done: Parameters<Ask>[1]) {
    this.request = request
    this.#done = done
  }

  onConnect(): boolean {
    return true
  }

  onResponseStarted(): void {}

  onHead({ contentLength }: ResponseHead): boolean {
    this.#announcedBytes = contentLength
    return true
  }

  /** The end of an answer that came in one read is told in the same turn; the next read overwrites others. */
  onData(bytes: Buffer): boolean {
    const isWhole = this.#answer === null && bytes.length === this.#announcedBytes
    this.#answer = isWhole ? bytes : Buffer.concat([this.#answer ?? NOTHING, bytes])
    return true
  }

  onComplete(): void {
    this.#done(this.#answer)
  }

  onError(): void {
    this.#done(null)
  }
}

export const CLIENTS = { relay: askByUndici, 'lean-relay': askByLean } as const
