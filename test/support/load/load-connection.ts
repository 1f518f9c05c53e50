import { connect, isIP, type Socket } from 'node:net'
import { connect as connectSecurely } from 'node:tls'
import type { LoadOrigin } from './load-plan.ts'

export interface LoadAnswer {
  readonly status: number
  readonly head: string
  /** Bytes of head and body. */
  bytes: number
}

/** `at` says where the request was when it failed. */
export type LoadOutcome = LoadAnswer | { readonly failure: string }

/**
 * One keep-alive HTTP/1.1 connection that reads just enough to find where an answer ends: half the CPU of a
 * real client, so that a bench measures the server. Answers are counted, not kept.
 */
export class LoadConnection {
  readonly #socket: Socket
  readonly #opened: (localPort: number) => void
  readonly #closed: (isCut: boolean) => void
  #settle: ((outcome: LoadOutcome) => void) | null = null
  #held: Buffer | null = null
  /** Bytes of the body still to come; -1 while the head is incomplete, -2 while chunks come. */
  #left = HEAD
  #answer: LoadAnswer | null = null
  /** Of a streamed request: its body is not out yet. */
  #isWriting = false
  isOpen = false

  constructor(
    to: LoadAddress,
    on: { opened: (localPort: number) => void; closed: (isCut: boolean) => void },
  ) {
    this.#opened = on.opened
    this.#closed = on.closed
    this.#socket = openSocket(to)
    this.#socket.setNoDelay(true)
    this.#socket.on((to.origin?.serverName ?? null) === null ? 'connect' : 'secureConnect', () => {
      this.isOpen = true
      this.#opened(this.#socket.localPort ?? 0)
    })
    this.#socket.on('data', (bytes) => this.#read(bytes))
    this.#socket.on('error', (error: NodeJS.ErrnoException) => this.#end(error.code ?? error.message))
    this.#socket.on('close', () => this.#end('closed'))
  }

  /** Settles once, with the answer or the reason that none came. */
  send(request: Buffer, settle: (outcome: LoadOutcome) => void): void {
    this.#settle = settle
    this.#socket.write(request)
  }

  /**
   * The same with a body of so many bytes more, taken from `piece` as often as it takes and as fast as the
   * socket does; `last` ends it.
   */
  stream(
    head: Buffer,
    body: { readonly bytes: number; readonly piece: Buffer; readonly last: Buffer },
    settle: (outcome: LoadOutcome) => void,
  ): void {
    this.#settle = settle
    this.#isWriting = true
    this.#socket.write(head)
    let left = body.bytes
    const more = (): void => {
      while (left > 0 && this.#settle === settle) {
        const part = left < body.piece.length ? body.piece.subarray(0, left) : body.piece
        left -= part.length
        if (!this.#socket.write(part)) return void this.#socket.once('drain', more)
      }
      if (this.#settle !== settle) return
      this.#isWriting = false
      this.#socket.write(body.last)
    }
    more()
  }

  destroy(reason: string): void {
    this.#end(reason)
    this.#socket.destroy()
  }

  #read(chunk: Buffer): void {
    const bytes = this.#held === null ? chunk : Buffer.concat([this.#held, chunk])
    this.#held = null
    if (this.#left === HEAD) this.#readHead(bytes)
    else if (this.#left === CHUNKS) this.#readChunks(bytes)
    else this.#count(bytes.length)
  }

  #readHead(bytes: Buffer): void {
    const end = bytes.indexOf('\r\n\r\n')
    if (end < 0) {
      this.#held = bytes
      return
    }
    const head = bytes.toString('latin1', 0, end)
    const status = Number(head.slice(9, 12))
    if (status === 100) return this.#readHead(bytes.subarray(end + 4))
    this.#answer = { status, head, bytes: end + 4 }
    const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1]
    this.#left =
      length === undefined && /\r\ntransfer-encoding: *chunked/i.test(head) ? CHUNKS : Number(length ?? 0)
    if (this.#left === CHUNKS) this.#readChunks(bytes.subarray(end + 4))
    else this.#count(bytes.length - end - 4)
  }

  #count(received: number): void {
    this.#left -= received
    if (this.#left < 0) return this.destroy('more bytes than announced')
    this.#add(received)
    if (this.#left === 0) this.#done()
  }

  /** Holds an incomplete chunk until the rest comes. */
  #readChunks(bytes: Buffer): void {
    let at = 0
    for (;;) {
      const lineEnd = bytes.indexOf('\r\n', at)
      const size = lineEnd < 0 ? 0 : chunkBytes(bytes.toString('latin1', at, lineEnd))
      if (size === null) return this.destroy('a chunk without a size')
      if (lineEnd < 0 || lineEnd + 2 + size + 2 > bytes.length) {
        this.#held = Buffer.from(bytes.subarray(at))
        return
      }
      at = lineEnd + 2 + size + 2
      this.#add(size)
      if (size === 0) return this.#done()
    }
  }

  #add(bytes: number): void {
    if (this.#answer !== null) this.#answer.bytes += bytes
  }

  #done(): void {
    const settle = this.#settle
    const answer = this.#answer
    this.#settle = null
    this.#answer = null
    this.#left = HEAD
    // Answered before it was all sent: what would come next is not a request.
    if (this.#isWriting) this.#end('answered early')
    else if (answer !== null && /\r\nconnection: *close/i.test(answer.head)) this.#end('asked to close')
    if (answer !== null) settle?.(answer)
  }

  #end(reason: string): void {
    const settle = this.#settle
    this.#settle = null
    if (this.#isEnded) return
    this.#isEnded = true
    this.isOpen = false
    this.#closed(settle !== null)
    this.#socket.end()
    settle?.({ failure: reason })
  }
  #isEnded = false
}

/** Null for an invalid size: a server that is not ours may send anything. */
function chunkBytes(line: string): number | null {
  const digits = /^([0-9a-f]{1,8})[ \t]*(?:;|$)/i.exec(line)?.[1]
  return digits === undefined ? null : Number.parseInt(digits, 16)
}

export interface LoadAddress {
  readonly host: string
  readonly port: number
  readonly origin?: LoadOrigin
}

/**
 * The certificate is checked always, whatever the environment says: a load test of the wrong server is an
 * attack on it.
 */
function openSocket({ host, port, origin }: LoadAddress): Socket {
  const name = origin?.serverName ?? null
  if (name === null) return connect(port, host)
  const issuers = origin?.issuers ?? null
  // An address is not a server name: it is checked against the certificate all the same.
  const named = isIP(name) === 0 ? { servername: name } : {}
  return connectSecurely({
    host,
    port,
    ...named,
    ...(issuers === null ? {} : { ca: issuers }),
    ALPNProtocols: ['http/1.1'],
    rejectUnauthorized: true,
  })
}

const HEAD = -1
const CHUNKS = -2
