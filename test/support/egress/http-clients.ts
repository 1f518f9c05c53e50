/**
 * Both HTTP clients of the gate over a connection in memory: the bytes of a response in, what they make of it
 * out.
 */
import { Duplex } from 'node:stream'
import type { Socket } from 'node:net'
import type { Connect } from '../../../src/server/egress/connect.ts'
import type { ExchangeHandler, Line, ResponseHead, SentRequest } from '../../../src/server/egress/handler.ts'
import { Connection, type WrittenRequest } from '../../../src/server/egress/http1/connection.ts'
import { UndiciClient } from '../../../src/server/egress/undici-client.ts'

const REQUEST: WrittenRequest = { method: 'POST', path: '/', headers: [], body: '{}' }
/** Bytes of a head, as in Node. */
const HEAD_BYTES_MAX = 16_384
/** The byte that lies over what a client was lent, once its turn is over. */
const POISON = 0x21

export interface Understood {
  /** The response came whole. */
  readonly isWhole: boolean
  readonly status: number
  /** Names and values, without white space around them. */
  readonly headers: readonly string[]
  readonly body: string
}

/** What a client says of one response. */
export class Recorded implements ExchangeHandler {
  readonly request: SentRequest & WrittenRequest
  readonly isOver = false
  status = 0
  headers: readonly string[] = []
  readonly pieces: Buffer[] = []
  /** Null while the exchange runs. */
  isWhole: boolean | null = null
  error: Error | null = null
  line: Line | null = null
  /** Pieces, the head being one, after which this handler pauses. */
  readonly #pauses: (nth: number) => boolean
  #nth = 0

  constructor(request: WrittenRequest = REQUEST, pauses: (nth: number) => boolean = () => false) {
    this.request = request
    this.#pauses = pauses
  }

  get understood(): Understood {
    const body = Buffer.concat(this.pieces).toString('latin1')
    const headers = this.headers.map((text) => text.replace(/^[\t ]+|[\t ]+$/g, ''))
    return { isWhole: this.isWhole === true, status: this.status, headers, body }
  }

  onConnect(line: Line): boolean {
    this.line = line
    return true
  }

  onResponseStarted(): void {
    return
  }

  onHead(head: ResponseHead): boolean {
    if (this.status !== 0) throw new Error('a second head')
    this.status = head.status
    this.headers = head.list()
    return !this.#pauses(this.#nth++)
  }

  onData(bytes: Buffer): boolean {
    if (this.isWhole !== null || this.status === 0) throw new Error('bytes outside of a response')
    this.pieces.push(Buffer.from(bytes))
    return !this.#pauses(this.#nth++)
  }

  onComplete(): void {
    this.#settle(true)
  }

  onError(error: Error): void {
    this.error = error
    this.#settle(false)
  }

  #settle(isWhole: boolean): void {
    if (this.isWhole !== null) throw new Error('a second end')
    this.isWhole = isWhole
  }
}

/** The lean client's connection without a socket: the test reads for it. */
export class LeanRig {
  readonly connection: Connection
  readonly written: string[] = []
  isIdle = false
  /** Exchanges whose place in the pool is free again. */
  freed = 0
  readonly #socket: FakeSocket

  /** @param isStuck the other side takes no byte of a request */
  constructor(isStuck = false) {
    this.#socket = new FakeSocket((text) => void this.written.push(text), isStuck)
    const home = {
      rested: () => void (this.isIdle = true),
      closed: () => void (this.isIdle = false),
      freed: () => void this.freed++,
    }
    this.connection = new Connection(asSocket(this.#socket), home, HEAD_BYTES_MAX)
  }

  send(handler: Recorded): void {
    this.isIdle = false
    this.connection.send(handler, 'POST / HTTP/1.1\r\nhost: a\r\n')
  }

  /** One read of the socket: its memory is another's when this returns. @returns false to read no more */
  read(piece: Uint8Array): boolean {
    if (!this.connection.isOpen) return false
    const lent = Buffer.from(piece)
    const isReadOn = this.connection.onRead(lent, lent.length)
    lent.fill(POISON)
    return isReadOn
  }

  /** The other side ends the connection. */
  fin(): void {
    this.#socket.emit('end')
    this.#socket.emit('close')
  }
}

/** @param pauses as for `Recorded` */
export function readByLean(pieces: readonly Uint8Array[], pauses?: (nth: number) => boolean): Recorded {
  const [rig, recorded] = [new LeanRig(), new Recorded(REQUEST, pauses)]
  rig.send(recorded)
  for (const piece of pieces) {
    rig.read(piece)
    // A paused connection is read on in the next turn.
    recorded.line?.resume()
  }
  rig.fin()
  for (let nth = 0; recorded.isWhole === null && nth < 100; nth++) recorded.line?.resume()
  return recorded
}

export async function readByUndici(response: Uint8Array): Promise<Recorded> {
  const recorded = new Recorded()
  const done = new Promise<void>((resolve) => {
    let hasStated = false
    const socket = new FakeSocket(() => {
      if (hasStated) return
      hasStated = true
      // undici counts a request as sent after its write.
      queueMicrotask(() => {
        socket.push(response)
        socket.push(null)
      })
    })
    const connect: Connect = (_options, connected) => connected(null, asSocket(socket))
    const client = new UndiciClient('http://a', {
      connect,
      limits: { connections: 1, waiting: 0, keepAliveTimeout: 1_000 },
      freed: () => queueMicrotask(() => void client.destroy().then(resolve)),
    })
    client.dispatch(recorded)
  })
  await done
  return recorded
}

/** A socket whose other side says what the test says, once something was written. */
class FakeSocket extends Duplex {
  readonly #onWrite: (text: string) => void
  readonly #isStuck: boolean

  constructor(onWrite: (text: string) => void, isStuck = false) {
    super({ allowHalfOpen: true, decodeStrings: false })
    this.#onWrite = onWrite
    this.#isStuck = isStuck
  }

  override _read(): void {
    return
  }

  override _write(chunk: Buffer | string, _encoding: BufferEncoding, done: () => void): void {
    if (!this.#isStuck) done()
    this.#onWrite(chunk.toString())
  }

  ref(): this {
    return this
  }

  unref(): this {
    return this
  }
}

/** Connects at once to a server that says nothing by itself. */
export function connectInMemory(opened: (socket: Socket) => void): Connect {
  return (_options, connected) => {
    const socket = asSocket(new FakeSocket(() => undefined))
    opened(socket)
    connected(null, socket)
  }
}

function asSocket(socket: FakeSocket): Socket {
  return socket as unknown as Socket
}
