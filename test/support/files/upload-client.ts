/** A client that uploads a file as slowly, as far and as rudely as a program wants, and holds none of it. */
import { connect, type Socket } from 'node:net'
import { fileBytes } from './wave-file.ts'

const BOUNDARY = '----prove-4YWxkTrZu0gW'

export interface UploadPlan {
  readonly port: number
  readonly apiKey: string
  /** Of the file. Even, and more than 44. */
  readonly sizeBytes: number
  readonly filename?: string
  /** In HTTP chunks, without a length. */
  readonly isChunked?: boolean
  readonly query?: string
  /** A raw body to this path instead of a form. */
  readonly put?: string
}

export interface UploadAnswer {
  /** 0: the connection ended without a whole answer. */
  readonly status: number
  readonly body: Readonly<Record<string, unknown>>
  /** Of a failure. */
  readonly type: string
}

/** One upload on a connection of its own. */
export class UploadClient {
  readonly answer: Promise<UploadAnswer>
  readonly socket: Socket
  readonly #plan: UploadPlan
  #sent = 0
  #text = ''
  #isClosed = false

  constructor(plan: UploadPlan) {
    this.#plan = plan
    this.socket = connect({ port: plan.port, host: '127.0.0.1', allowHalfOpen: true })
    this.socket.setNoDelay(true)
    this.answer = new Promise((resolve) => {
      const look = (): void => {
        const found = answerIn(this.#text, this.#isClosed)
        if (found !== null) resolve(found)
      }
      this.socket.on('data', (chunk) => {
        this.#text += chunk.toString('latin1')
        look()
      })
      // A reset is one way to end.
      this.socket.on('error', () => undefined)
      this.socket.on('end', () => this.socket.end())
      this.socket.on('close', () => {
        this.#isClosed = true
        look()
      })
    })
  }

  /** Bytes of the file sent so far. */
  get sentBytes(): number {
    return this.#sent
  }

  /** The head of the request; of a form also that of its part. */
  async begin(): Promise<void> {
    const { sizeBytes, isChunked = false, put, query = '', apiKey } = this.#plan
    const [before, after] = this.#around()
    const length = isChunked
      ? 'transfer-encoding: chunked'
      : `content-length: ${before.length + sizeBytes + after.length}`
    const type = put === undefined ? `multipart/form-data; boundary=${BOUNDARY}` : 'application/octet-stream'
    const line = put === undefined ? `POST /api/v1/files${query}` : `PUT ${put}`
    await this.#write(
      Buffer.from(
        `${line} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${apiKey}\r\ncontent-type: ${type}\r\n${length}\r\n\r\n`,
      ),
    )
    await this.#body(before)
  }

  /** The file up to this offset. Ends early when the connection does. */
  async sendTo(offset: number): Promise<void> {
    while (this.#sent < offset && !this.socket.destroyed) {
      const piece = fileBytes(this.#plan.sizeBytes, this.#sent, Math.min(offset, this.#sent + 65_536))
      this.#sent += piece.length
      await this.#body(piece)
    }
  }

  /** What is left of the file, and the end of the form. */
  async finish(): Promise<UploadAnswer> {
    await this.sendTo(this.#plan.sizeBytes)
    await this.#body(this.#around()[1])
    if (this.#plan.isChunked === true) await this.#write(Buffer.from('0\r\n\r\n'))
    const answer = await this.answer
    this.socket.destroy()
    return answer
  }

  /** Everything at once. */
  async run(): Promise<UploadAnswer> {
    await this.begin()
    return this.finish()
  }

  leave(how: 'FIN' | 'RST'): void {
    if (how === 'RST') this.socket.resetAndDestroy()
    else this.socket.destroy()
  }

  #around(): readonly [Buffer, Buffer] {
    if (this.#plan.put !== undefined) return [Buffer.alloc(0), Buffer.alloc(0)]
    const name = this.#plan.filename ?? 'sound.wav'
    const head = `--${BOUNDARY}\r\ncontent-disposition: form-data; name="file"; filename="${name}"\r\ncontent-type: audio/wav\r\n\r\n`
    return [Buffer.from(head), Buffer.from(`\r\n--${BOUNDARY}--\r\n`)]
  }

  #body(bytes: Buffer): Promise<void> {
    if (this.#plan.isChunked !== true || bytes.length === 0) return this.#write(bytes)
    return this.#write(
      Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]),
    )
  }

  /** Resolves when the next piece may follow. */
  #write(bytes: Buffer): Promise<void> {
    if (bytes.length === 0 || this.socket.destroyed || this.socket.write(bytes)) return Promise.resolve()
    return new Promise((resolve) => {
      const goOn = (): void => {
        this.socket.off('drain', goOn).off('close', goOn)
        resolve()
      }
      this.socket.once('drain', goOn).once('close', goOn)
    })
  }
}

/** @returns null while the answer may still become whole */
function answerIn(text: string, isClosed: boolean): UploadAnswer | null {
  const at = text.indexOf('\r\n\r\n')
  const length = Number(/\r\ncontent-length: (\d+)/i.exec(text)?.[1] ?? Number.NaN)
  if (at < 0 || !(text.length >= at + 4 + length))
    return isClosed ? { status: 0, body: {}, type: 'connection_ended' } : null
  const body = JSON.parse(
    Buffer.from(text.slice(at + 4, at + 4 + length), 'latin1').toString(),
  ) as UploadAnswer['body']
  const error = body['error'] as { readonly metadata?: { readonly error_type?: string } } | undefined
  return { status: Number(text.slice(9, 12)), body, type: error?.metadata?.error_type ?? '' }
}
