import { connect, type Socket } from 'node:net'

export interface TransferAnswer {
  readonly status: number
  /** Bytes of the body. */
  readonly bytes: number
  /** The beginning of the body: an upload's answer, or the reason of a failure. */
  readonly text: string
}

export type TransferOutcome = TransferAnswer | { readonly failure: string }

/**
 * Bytes of one read, as many as the kernel returns at once: fewer calls, so that the generator is not the
 * limit.
 */
const READ_BYTES = 1 << 20
/** Bytes of a body that are kept as text. */
const TEXT_BYTES = 2_048
/** Milliseconds between two reads of a slow reader. */
const BEAT_MS = 1_000

/**
 * One keep-alive connection that writes prepared buffers and counts received bytes, in one buffer of its own.
 */
export class TransferConnection {
  readonly #socket: Socket
  readonly #isSlow: boolean
  #settle: ((outcome: TransferOutcome) => void) | null = null
  #head = ''
  #status = 0
  /** Bytes of the body still to come; null while the head is incomplete, infinite for a chunked body. */
  #left: number | null = null
  #text = ''
  #bytes = 0
  #ended: string | null = null
  lastReadAt = 0

  constructor(port: number, readBytesPerS: number | null) {
    this.#isSlow = readBytesPerS !== null
    const buffer = Buffer.allocUnsafe(readBytesPerS ?? READ_BYTES)
    const callback = (count: number): boolean => {
      this.#read(buffer.subarray(0, count))
      return !this.#isSlow || this.#rest()
    }
    this.#socket = connect({ port, host: '127.0.0.1', onread: { buffer, callback } })
    this.#socket.setNoDelay(true)
    this.#socket.on('error', (error: NodeJS.ErrnoException) => this.#end(error.code ?? error.message))
    this.#socket.on('close', () => this.#end('closed'))
  }

  /** Received bytes of the current body. */
  get bytes(): number {
    return this.#bytes
  }

  get isOpen(): boolean {
    return this.#ended === null
  }

  send(request: readonly Buffer[]): Promise<TransferOutcome> {
    if (this.#ended !== null) return Promise.resolve({ failure: this.#ended })
    this.#socket.cork()
    for (const part of request) this.#socket.write(part)
    this.#socket.uncork()
    return new Promise((resolve) => {
      this.#settle = resolve
    })
  }

  destroy(reason: string): void {
    this.#end(reason)
    this.#socket.destroy()
  }

  #rest(): boolean {
    setTimeout(() => this.#socket.resume(), BEAT_MS)
    return false
  }

  #read(bytes: Buffer): void {
    this.lastReadAt = performance.now()
    if (this.#left !== null) return this.#count(bytes)
    this.#head += bytes.toString('latin1')
    const end = this.#head.indexOf('\r\n\r\n')
    if (end < 0) return
    const head = this.#head.slice(0, end)
    const body = Buffer.from(this.#head.slice(end + 4), 'latin1')
    this.#head = ''
    this.#status = Number(head.slice(9, 12))
    if (this.#status === 100) return this.#read(body)
    const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1]
    this.#left =
      length === undefined && /\r\ntransfer-encoding: *chunked/i.test(head) ? Infinity : Number(length ?? 0)
    this.#count(body)
  }

  #count(bytes: Buffer): void {
    this.#bytes += bytes.length
    if (this.#text.length < TEXT_BYTES) this.#text += bytes.toString('latin1', 0, TEXT_BYTES)
    const left = (this.#left ?? 0) - bytes.length
    this.#left = left
    if (left < 0) return this.destroy('more bytes than announced')
    // Chunked answers are short here: the last chunk comes alone or at the end of a read.
    if (left === 0 || (left === Infinity && this.#text.endsWith('0\r\n\r\n'))) this.#done()
  }

  #done(): void {
    const answer = { status: this.#status, bytes: this.#bytes, text: this.#text }
    this.#left = null
    this.#bytes = 0
    this.#text = ''
    const settle = this.#settle
    this.#settle = null
    settle?.(answer)
  }

  #end(reason: string): void {
    this.#ended ??= reason
    const settle = this.#settle
    this.#settle = null
    settle?.({ failure: reason })
  }
}
