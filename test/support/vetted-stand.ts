import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import type { EgressExchangeRequest } from '../../src/server/ports/egress.ts'

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

/** @param tls key and certificate; null for plain HTTP. @param host where it listens */
export async function startTarget(tls: { key: string; cert: string } | null = null, host = '127.0.0.1'): Promise<Target> {
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
  await new Promise<void>((listening) => server.listen(0, host, listening))
  return {
    port: (server.address() as AddressInfo).port,
    get connections() { return connections },
    get open() { return sockets.size },
    answer: (next) => void (listener = next),
    close: () => new Promise((closed) => {
      server.close(() => closed())
      for (const socket of sockets) socket.destroy()
    }),
  }
}

/** A GET of `/`, or what `more` makes of it. */
export function exchangeRequest(more: Partial<EgressExchangeRequest> = {}): EgressExchangeRequest {
  const endsAt = performance.now() + 20_000
  return {
    method: 'GET', path: '/', headers: [], body: null, bodyBytes: null,
    beginsBy: () => endsAt, stallMs: 20_000, signal: new AbortController().signal,
    ...more,
  }
}
