/** A real loopback provider that follows a script. It speaks the protocols of openai, cohere and google. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { answers, type Behaviour, type ProviderCall, type WireProtocol } from './provider-behaviours.ts'

export interface ScriptedProvider {
  /** Without a trailing slash; a `base_url` adds `/v1` for openai, `/v2` for cohere, `/v1beta` for google. */
  readonly origin: string
  /** Every request that arrived whole, in order. */
  readonly calls: readonly ProviderCall[]
  /** Connections that are open now, and all that ever were. */
  readonly connections: { readonly open: number; readonly total: number }
  /** Behaviours of the next requests, in order; after them the usual one holds. */
  script(...steps: readonly Behaviour[]): void
  /** The behaviour of every request that no script step is left for; at first an honest answer. */
  usually(behaviour: Behaviour): void
  /** Resolves when so many requests have arrived in all. */
  arrived(count: number): Promise<void>
  /** Closes idle connections, as a provider does whose keep-alive ends. */
  closeIdle(): void
  close(): Promise<void>
}

/** Starts a provider on a free loopback port. @param host `localhost` for callers that resolve that name */
export async function startProvider(host = '127.0.0.1'): Promise<ScriptedProvider> {
  const calls: ProviderCall[] = []
  const steps: Behaviour[] = []
  const waiters: { readonly count: number; readonly done: () => void }[] = []
  const sockets = new Set<Socket>()
  let total = 0
  let usual: Behaviour = answers()
  const server = createServer((req, res) => {
    void readText(req).then(
      (text) => {
        const call = callOf(req, text)
        calls.push(call)
        for (const waiter of waiters) if (calls.length >= waiter.count) waiter.done()
        respond(steps.shift() ?? usual, call, res)
      },
      () => res.destroy(),
    )
  })
  server.keepAliveTimeout = 60_000
  server.on('connection', (socket) => {
    total++
    sockets.add(socket)
    socket.on('error', () => undefined)
    socket.on('close', () => sockets.delete(socket))
  })
  await new Promise<void>((listening) => server.listen(0, host, listening))
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    get connections() {
      return { open: sockets.size, total }
    },
    script: (...more) => void steps.push(...more),
    usually: (behaviour) => void (usual = behaviour),
    arrived: (count) =>
      new Promise((done) => (calls.length >= count ? done() : waiters.push({ count, done }))),
    closeIdle: () => server.closeIdleConnections(),
    close: () => closeServer(server, sockets),
  }
}

function respond(behaviour: Behaviour, call: ProviderCall, res: ServerResponse): void {
  res.on('error', () => undefined)
  behaviour({ call, res })
}

async function readText(req: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of req) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}

function callOf(req: IncomingMessage, text: string): ProviderCall {
  const path = req.url ?? ''
  return {
    protocol: protocolOf(path),
    path,
    headers: req.headers,
    text,
    body: JSON.parse(text) as Record<string, unknown>,
  }
}

function protocolOf(path: string): WireProtocol {
  if (path.endsWith(':batchEmbedContents')) return 'google'
  return path === '/v2/embed' ? 'cohere' : 'openai'
}

function closeServer(server: Server, sockets: ReadonlySet<Socket>): Promise<void> {
  return new Promise((closed) => {
    server.close(() => closed())
    for (const socket of sockets) socket.destroy()
  })
}
