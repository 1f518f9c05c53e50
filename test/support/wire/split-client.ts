/**
 * A keep-alive client that writes a request in pieces, as slow or careful clients do, each of which leaves as
 * a packet of its own.
 */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

export interface SplitRequest {
  /** Written one after the other, each in a turn of its own. */
  readonly pieces: readonly Buffer[]
  /** The first piece asks whether to go on: the others wait for the answer. */
  readonly isAsking?: boolean
}

/** One answer at a time. */
export class SplitClient {
  readonly #socket: Socket
  #read = Buffer.alloc(0)
  #wake: (() => void) | null = null

  private constructor(socket: Socket) {
    this.#socket = socket.setNoDelay(true)
    const wake = (): void => this.#wake?.()
    socket.on('data', (bytes) => {
      this.#read = Buffer.concat([this.#read, bytes])
      wake()
    })
    socket.on('error', wake)
    socket.on('close', wake)
  }

  static async open(port: number): Promise<SplitClient> {
    const socket = connect(port, '127.0.0.1')
    await once(socket, 'connect')
    return new SplitClient(socket)
  }

  /** @returns the status */
  async ask({ pieces, isAsking = false }: SplitRequest): Promise<number> {
    for (const [at, piece] of pieces.entries()) {
      this.#socket.write(piece)
      if (at === 0 && isAsking) {
        const status = await this.#answer()
        if (status !== 100) return status
      } else await new Promise((resolve) => setImmediate(resolve))
    }
    const status = await this.#answer()
    return status === 100 ? this.#answer() : status
  }

  close(): void {
    this.#socket.destroy()
  }

  async #answer(): Promise<number> {
    const end = await this.#until(() => ending(this.#read))
    const status = Number(this.#read.toString('latin1', 9, 12))
    this.#read = this.#read.subarray(end)
    return status
  }

  async #until(find: () => number): Promise<number> {
    for (let found = find(); ; found = find()) {
      if (found >= 0) return found
      if (this.#socket.destroyed) throw new Error('the connection ended before an answer')
      await new Promise<void>((resolve) => (this.#wake = resolve))
    }
  }
}

/** @returns where the first answer ends, negative while it has not */
function ending(bytes: Buffer): number {
  const headEnd = bytes.indexOf('\r\n\r\n') + 4
  if (headEnd < 4) return -1
  const head = bytes.toString('latin1', 0, headEnd)
  if (/^HTTP\/1\.1 (?:1\d\d|204)/.test(head)) return headEnd
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1]
  if (length !== undefined) return bytes.length < headEnd + Number(length) ? -1 : headEnd + Number(length)
  const last = bytes.indexOf('0\r\n\r\n', headEnd)
  return last < 0 ? -1 : last + 5
}
