/** A pooler before Postgres, as PgBouncer is: settings of a session are refused, server connections shared. */
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import type { Teardown } from '../teardown.ts'

export interface TestPooler {
  readonly url: string
  /** Forgets the server connections: new ones have the present settings of the role. */
  reconnect(): void
}

export interface PoolerOptions {
  readonly mode: 'transaction' | 'session'
  /** True: it takes every setting of a session and passes none on, as `ignore_startup_parameters` does. */
  readonly ignores?: boolean
  /** Server connections at most. */
  readonly connectionsMax?: number
}

/** Settings that it takes for granted. */
const KNOWN = new Set(['user', 'database', 'client_encoding', 'application_name'])

interface Server {
  readonly socket: Socket
  /** The client that uses it now. */
  client: Client | null
  /** Answers that its client waits for. */
  due: number
}

interface Client {
  readonly socket: Socket
  server: Server | null
  readonly waiting: Buffer[]
}

/** Clients log in at the server itself; from then on their connections belong to the pool. */
export async function openPooler(t: Teardown, url: string, options: PoolerOptions): Promise<TestPooler> {
  const { hostname, port } = new URL(url)
  const sockets = new Set<Socket>()
  const kept = (socket: Socket): Socket => {
    sockets.add(
      socket
        .setNoDelay()
        .on('error', () => socket.destroy())
        .on('close', () => sockets.delete(socket)),
    )
    return socket
  }
  const pool = new Pool(options)
  const listener = createServer((socket) => {
    const client: Client = { socket: kept(socket), server: null, waiting: [] }
    socket.once('data', (startup: Buffer) => {
      const parameters = parametersOf(startup)
      const unknown = [...parameters.keys()].filter((name) => !KNOWN.has(name))
      if (unknown.length > 0 && options.ignores !== true)
        return void socket.end(refusal(`unsupported startup parameter: ${unknown[0] ?? ''}`))
      const server = kept(connect(Number(port), hostname))
      server.write(startupOf([...parameters].filter(([name]) => KNOWN.has(name))))
      logIn(client, server, () => pool.add(client, server))
    })
  })
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    listener.close()
  })
  const through = new URL(url)
  through.host = `127.0.0.1:${(listener.address() as AddressInfo).port}`
  return {
    url: through.href,
    reconnect: () => {
      for (const socket of sockets) socket.destroy()
    },
  }
}

/** Passes on the dialogue of a login, with another key for cancelling, until the server is ready. */
function logIn(client: Client, server: Socket, done: () => void): void {
  const send = (chunk: Buffer): void => void server.write(chunk)
  client.socket.on('data', send)
  const read = framed((message, kind) => {
    if (kind === 'K') message.writeUInt32BE(1, 5)
    if (kind === 'Z') {
      client.socket.off('data', send)
      server.off('data', read)
      done()
    }
    client.socket.write(message)
  })
  server.on('data', read)
}

class Pool {
  readonly #mode: PoolerOptions['mode']
  /** The one that was used last is taken first. */
  readonly #idle: Server[] = []
  readonly #queue: Client[] = []
  /** Server connections that it may still take. */
  #left: number

  constructor({ mode, connectionsMax = Infinity }: PoolerOptions) {
    this.#mode = mode
    this.#left = connectionsMax
  }

  add(client: Client, socket: Socket): void {
    const server: Server = { socket, client: null, due: 0 }
    socket.on(
      'data',
      framed((message, kind) => {
        server.client?.socket.write(message)
        if (kind === 'Z' && --server.due <= 0 && message[5] === IDLE) this.#release(server)
      }),
    )
    client.socket.on(
      'data',
      framed((message, kind) => {
        // The end of a client does not end a connection that others use.
        if (kind === 'X' && this.#mode === 'transaction') return
        client.waiting.push(message)
        this.#serve(client)
      }),
    )
    if (this.#mode === 'session') this.#lend(client, server)
    else if (this.#left-- > 0) this.#idle.push(server)
    else socket.end()
  }

  #serve(client: Client): void {
    const server = client.server ?? this.#idle.pop()
    if (server === undefined) {
      if (!this.#queue.includes(client)) this.#queue.push(client)
      return
    }
    this.#lend(client, server)
    for (const message of client.waiting.splice(0)) {
      if (message[0] === SYNC || message[0] === QUERY) server.due += 1
      server.socket.write(message)
    }
  }

  #lend(client: Client, server: Server): void {
    client.server = server
    server.client = client
  }

  #release(server: Server): void {
    if (this.#mode === 'session') return
    if (server.client !== null) server.client.server = null
    server.client = null
    this.#idle.push(server)
    const next = this.#queue.shift()
    if (next !== undefined) this.#serve(next)
  }
}

const [SYNC, QUERY, IDLE] = ['S', 'Q', 'I'].map((letter) => letter.charCodeAt(0))

/** Cuts a stream into messages: a letter, and a length that counts itself. */
function framed(each: (message: Buffer, kind: string) => void): (chunk: Buffer) => void {
  let rest = Buffer.alloc(0)
  return (chunk) => {
    rest = Buffer.concat([rest, chunk])
    while (rest.length >= 5 && rest.length > rest.readUInt32BE(1)) {
      const end = 1 + rest.readUInt32BE(1)
      const message = Buffer.from(rest.subarray(0, end))
      rest = rest.subarray(end)
      each(message, String.fromCharCode(message[0] ?? 0))
    }
  }
}

function parametersOf(startup: Buffer): ReadonlyMap<string, string> {
  const texts = startup.subarray(8).toString().split('\0')
  const pairs = texts.flatMap((text, at) =>
    at % 2 === 0 && text !== '' ? [[text, texts[at + 1] ?? ''] as const] : [],
  )
  return new Map(pairs)
}

function startupOf(parameters: readonly (readonly [string, string])[]): Buffer {
  const body = Buffer.from(`${parameters.flat().join('\0')}\0\0`)
  const head = Buffer.alloc(8)
  head.writeUInt32BE(8 + body.length)
  head.writeUInt32BE(196_608, 4)
  return Buffer.concat([head, body])
}

function refusal(message: string): Buffer {
  const body = Buffer.from(`SFATAL\0VFATAL\0C08P01\0M${message}\0\0`)
  const head = Buffer.alloc(5)
  head.write('E')
  head.writeUInt32BE(4 + body.length, 1)
  return Buffer.concat([head, body])
}
