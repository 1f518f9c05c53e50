/**
 * A provider of text models, on a real socket, byte by byte as a script says. It knows HTTP and no protocol:
 * `fake-chat.ts` answers as OpenAI's chat does, and a file next to it could answer as another one.
 */
import { once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { RequestReader, type ReadRequest } from './fake-request.ts'

/** One request that arrived whole, and what became of it. */
export interface FakeCall extends ReadRequest {
  /** Of the connection that it came on: the first has 0. */
  readonly connection: number
  /** Events of a stream that were written. */
  readonly eventsSent: number
  /** Tokens that were generated: those written, read or not. */
  readonly generated: number
  /** Resolves when the connection of the call is closed, by whichever side. */
  readonly closed: Promise<void>
  readonly isClosed: boolean
}

/** Answers one request; what it returns is awaited before the next request of the connection is answered. */
export type FakeAnswer = (call: FakeCall, reply: FakeReply) => Promise<void> | void

/** `stall`: nothing of the connection is ever read. */
export type FakeWelcome = 'serve' | 'fin' | 'rst' | 'stall'

export interface FakeProvider {
  /** Without a path: `http://127.0.0.1:…`. */
  readonly origin: string
  readonly calls: readonly FakeCall[]
  /** Connections that are open now, and all that ever were. */
  readonly connections: { readonly open: number; readonly total: number }
  /** Answers of the next requests, in order; after them the usual one holds. */
  script(...answers: readonly FakeAnswer[]): void
  /** The answer of every request that no step of the script is left for. */
  usually(answer: FakeAnswer): void
  /** Resolves with the call of this index once it has arrived. */
  arrived(nth: number): Promise<FakeCall>
  /** What becomes of the next connections: as a rule requests on them are answered. */
  meets(how: FakeWelcome): void
  /** Closes connections on which no request is answered, as a provider does whose keep-alive ends. */
  closeIdle(): void
  /** Breaks every connection. */
  cut(): void
  /** Drops the calls so far, with the memory of their bodies. */
  forget(): void
  close(): Promise<void>
}

/** @param usual how requests without a step of the script are answered */
export async function startFakeProvider(usual: FakeAnswer): Promise<FakeProvider> {
  const state = new ProviderState(usual)
  const server = createServer((socket) => state.connected(socket)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls: state.calls,
    get connections() {
      return { open: state.open.size, total: state.total }
    },
    script: (...answers) => void state.steps.push(...answers),
    usually: (answer) => void (state.usual = answer),
    arrived: (nth) => state.arrived(nth),
    meets: (how) => void (state.welcome = how),
    closeIdle: () => {
      for (const connection of state.open) if (!connection.isBusy) connection.socket.end()
    },
    cut: () => {
      for (const { socket } of state.open) socket.resetAndDestroy()
    },
    forget: () => void state.calls.splice(0),
    close: () =>
      new Promise((closed) => {
        server.close(() => closed())
        for (const { socket } of state.open) socket.destroy()
      }),
  }
}

class ProviderState {
  readonly calls: Call[] = []
  readonly steps: FakeAnswer[] = []
  readonly open = new Set<Connection>()
  total = 0
  welcome: FakeWelcome = 'serve'
  usual: FakeAnswer
  #waiting: (() => void)[] = []

  constructor(usual: FakeAnswer) {
    this.usual = usual
  }

  connected(socket: Socket): void {
    const connection = new Connection(socket, this.total++, this)
    this.open.add(connection)
    socket.on('close', () => this.open.delete(connection))
    connection.begin(this.welcome)
  }

  came(call: Call): FakeAnswer {
    this.calls.push(call)
    for (const look of this.#waiting.splice(0)) look()
    return this.steps.shift() ?? this.usual
  }

  async arrived(nth: number): Promise<FakeCall> {
    for (;;) {
      const call = this.calls[nth]
      if (call !== undefined) return call
      await new Promise<void>((look) => this.#waiting.push(look))
    }
  }
}

class Connection {
  readonly socket: Socket
  readonly nth: number
  readonly closed: Promise<void>
  isClosed = false
  isBusy = false
  readonly #state: ProviderState
  readonly #requests = new RequestReader()

  constructor(socket: Socket, nth: number, state: ProviderState) {
    this.socket = socket
    this.nth = nth
    this.#state = state
    this.closed = new Promise((resolve) => {
      socket.on('close', () => {
        this.isClosed = true
        resolve()
      })
    })
    socket.setNoDelay(true)
    // The other side may cut whenever it likes.
    socket.on('error', () => undefined)
  }

  begin(welcome: FakeWelcome): void {
    const { socket } = this
    if (welcome === 'fin') socket.end()
    if (welcome === 'rst') socket.resetAndDestroy()
    if (welcome !== 'serve') return
    socket.on('data', (bytes) => {
      this.#requests.push(bytes)
      void this.#serve()
    })
  }

  async #serve(): Promise<void> {
    if (this.isBusy) return
    this.isBusy = true
    for (let read = this.#requests.next(); read !== null; read = this.#requests.next()) {
      const call = new Call(read, this)
      await this.#state.came(call)(call, new FakeReply(this.socket, call))
    }
    this.isBusy = false
  }
}

class Call implements FakeCall {
  readonly bytes: Buffer
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
  readonly connection: number
  readonly closed: Promise<void>
  eventsSent = 0
  generated = 0
  readonly #connection: Connection

  constructor(read: ReadRequest, connection: Connection) {
    this.bytes = read.bytes
    this.method = read.method
    this.path = read.path
    this.headers = read.headers
    this.body = read.body
    this.connection = connection.nth
    this.closed = connection.closed
    this.#connection = connection
  }

  get isClosed(): boolean {
    return this.#connection.isClosed
  }
}

/** Writes one response. Every method that writes resolves when the socket took the bytes, or is closed. */
export class FakeReply {
  readonly socket: Socket
  readonly #call: Call
  #isChunked = false

  constructor(socket: Socket, call: Call) {
    this.socket = socket
    this.#call = call
  }

  /** @param headers without framing: `transfer-encoding: chunked` is added unless there is a length */
  head(status: number, headers: Readonly<Record<string, string>>): Promise<void> {
    this.#isChunked = headers['content-length'] === undefined && headers['connection'] !== 'close'
    const all = this.#isChunked ? { ...headers, 'transfer-encoding': 'chunked' } : headers
    const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
    return this.raw(`HTTP/1.1 ${status} ${status < 300 ? 'OK' : 'Refused'}\r\n${lines.join('')}\r\n`)
  }

  /** A piece of the body: one chunk where the body goes in chunks. */
  write(piece: string | Uint8Array): Promise<void> {
    const bytes = typeof piece === 'string' ? Buffer.from(piece) : piece
    if (!this.#isChunked || bytes.length === 0) return this.raw(bytes)
    return this.raw(
      Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]),
    )
  }

  /** Counts an event that was written. */
  generated(events: number, tokens: number): void {
    this.#call.eventsSent += events
    this.#call.generated += tokens
  }

  /** Ends the body; the connection serves on. @param trailers lines, each with its CRLF */
  async end(trailers = ''): Promise<void> {
    if (this.#isChunked) await this.raw(`0\r\n${trailers}\r\n`)
  }

  /** Bytes without any framing. */
  raw(bytes: string | Uint8Array): Promise<void> {
    // A script that writes for ever must not keep the loop from its end.
    if (!this.socket.writable) return new Promise((next) => setImmediate(next))
    return new Promise((resolve) => {
      const done = (): void => {
        this.socket.off('close', done)
        resolve()
      }
      this.socket.once('close', done)
      this.socket.write(bytes, done)
    })
  }

  /** Ends the connection in order. */
  fin(): void {
    this.socket.end()
  }

  /** Breaks the connection. */
  rst(): void {
    this.socket.resetAndDestroy()
  }
}
