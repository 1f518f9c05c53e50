import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import type { Test } from 'tap'
import type { Outcome } from '../../../src/schemas/failures.ts'
import { openEgress, type EgressOptions } from '../../../src/server/egress/egress.ts'
import type {
  Destination,
  EgressExchange,
  EgressExchangeRequest,
  VettedOrigin,
} from '../../../src/server/ports/egress/egress.ts'
import { until } from '../wait.ts'

/** A server on loopback that counts who comes. */
export interface Target {
  readonly port: number
  /** Connections that ever arrived, whether or not they said something. */
  readonly connections: number
  /** Those that are open now. */
  readonly open: number
  answer(listener: RequestListener): void
  close(): Promise<void>
}

/**
 * @param tls key and certificate; null for plain HTTP. @param host where it listens. @param port any unless
 * given
 */
export async function startTarget(
  tls: { key: string; cert: string } | null = null,
  host = '127.0.0.1',
  port = 0,
): Promise<Target> {
  let listener: RequestListener = (req, res) => void req.resume().on('end', () => res.end('here'))
  const onRequest = (req: IncomingMessage, res: ServerResponse): void => {
    req.on('error', () => undefined)
    res.on('error', () => undefined)
    listener(req, res)
  }
  const server: Server = tls === null ? createServer(onRequest) : createSecureServer(tls, onRequest)
  const sockets = new Set<Socket>()
  let connections = 0
  server.on('connection', (socket: Socket) => {
    connections++
    sockets.add(socket)
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket))
  })
  server.on('tlsClientError', () => undefined)
  await new Promise<void>((listening, failed) => server.once('error', failed).listen(port, host, listening))
  return {
    port: (server.address() as AddressInfo).port,
    get connections() {
      return connections
    },
    get open() {
      return sockets.size
    },
    answer: (next) => void (listener = next),
    close: () =>
      new Promise((closed) => {
        server.close(() => closed())
        for (const socket of sockets) socket.destroy()
      }),
  }
}

/** Longer than any run, for what must not end by the slowness of the machine. */
const NEVER_MS = 2 ** 30

/** A GET of `/`, or what `more` makes of it. */
export function exchangeRequest(more: Partial<EgressExchangeRequest> = {}): EgressExchangeRequest {
  const endsAt = performance.now() + NEVER_MS
  return {
    method: 'GET',
    path: '/',
    headers: [],
    body: null,
    bodyBytes: null,
    beginsBy: () => endsAt,
    stallMs: NEVER_MS,
    signal: new AbortController().signal,
    ...more,
  }
}

export interface Rig {
  readonly target: Target
  readonly egress: ReturnType<typeof openEgress>
  origin(more?: Partial<Destination>): VettedOrigin
  exchange(more?: Partial<EgressExchangeRequest>): Promise<Outcome<EgressExchange>>
  /** Resolves when undici is done with everything. */
  rest(): Promise<void>
}

/**
 * A target and a gate that admits loopback without TLS and finds every name there, unless `options` say
 * otherwise.
 */
export async function rigged(test: Test, options: EgressOptions = {}): Promise<Rig> {
  const target = await startTarget()
  const egress = openEgress({
    allow: ['http:127.0.0.0/8'],
    resolve: () => Promise.resolve(['127.0.0.1']),
    ...options,
  })
  test.teardown(async () => {
    await egress.close()
    await target.close()
  })
  const origin = (more: Partial<Destination> = {}): VettedOrigin => {
    const found = egress.vetted({ host: 'good.example', port: target.port, purpose: 'caller', ...more })
    if (!found.ok) throw new Error(found.failure.detail)
    return found.value
  }
  return {
    target,
    egress,
    origin,
    exchange: (more) => origin().exchange(exchangeRequest(more)),
    rest: () => until(() => egress.load.calls === 0),
  }
}

/** The whole body, or the name of what it failed by. */
export async function textOf(outcome: Outcome<EgressExchange>): Promise<string> {
  if (!outcome.ok) return outcome.failure.name
  const pieces: Uint8Array[] = []
  for (;;) {
    const piece = await outcome.value.body.next()
    if (!piece.ok) return piece.failure.name
    if (piece.value === null) return Buffer.concat(pieces).toString()
    pieces.push(piece.value)
  }
}
