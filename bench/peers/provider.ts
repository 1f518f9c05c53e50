/** The connection to the provider: kept connections and undici's dispatch, the cheapest client of Node. */
import { Pool, type Dispatcher } from 'undici'
import { fail, ok, type Failure, type Outcome } from '../../src/schemas/failures.ts'
import { EMBEDDINGS_DEADLINE_MS } from '../../src/schemas/embeddings/embedding-limits.ts'
import {
  UPSTREAM_ANSWER_BYTES_MAX,
  UPSTREAM_CONNECTIONS_MAX,
  UPSTREAM_KEEP_ALIVE_MS,
} from '../../src/schemas/models/provider-limits.ts'

type Settle = (answer: Outcome<Buffer>) => void

/** Receives an answer piece by piece. */
export interface Pieces {
  begin(): void
  take(bytes: Buffer): void
  /** @param failure null: the answer is whole */
  end(failure: Failure | null): void
}

export class Provider {
  readonly #pool: Pool
  readonly #path: string
  readonly #headers: string[]

  /** @param path of its calls, below the base address */
  constructor(url: string, apiKey: string, path = '/embeddings') {
    const { origin, pathname } = new URL(url)
    this.#path = pathname + path
    this.#headers = ['content-type', 'application/json', 'authorization', `Bearer ${apiKey}`]
    this.#pool = new Pool(origin, {
      connections: UPSTREAM_CONNECTIONS_MAX,
      pipelining: 1,
      keepAliveTimeout: UPSTREAM_KEEP_ALIVE_MS,
      headersTimeout: EMBEDDINGS_DEADLINE_MS,
      bodyTimeout: EMBEDDINGS_DEADLINE_MS,
    })
  }

  post(body: string | Uint8Array): Promise<Outcome<Buffer>> {
    return new Promise((settle) => {
      this.#pool.dispatch(
        { method: 'POST', path: this.#path, headers: this.#headers, body },
        new Answer(settle),
      )
    })
  }

  stream(body: string | Uint8Array, pieces: Pieces): void {
    this.#pool.dispatch(
      { method: 'POST', path: this.#path, headers: this.#headers, body },
      new StreamedAnswer(pieces),
    )
  }
}

/** Passes each read of the socket on. */
class StreamedAnswer implements Dispatcher.DispatchHandler {
  readonly #pieces: Pieces
  #isGood = false

  constructor(pieces: Pieces) {
    this.#pieces = pieces
  }

  onConnect(): void {}

  onHeaders(status: number): boolean {
    this.#isGood = status === 200
    if (this.#isGood) this.#pieces.begin()
    return true
  }

  onData(chunk: Buffer): boolean {
    if (this.#isGood) this.#pieces.take(chunk)
    return true
  }

  onComplete(): void {
    this.#pieces.end(this.#isGood ? null : { name: 'upstream_failed' })
  }

  onError(): void {
    this.#pieces.end({ name: 'upstream_failed' })
  }
}

/** undici's handler in the form that gets raw headers, which saves parsing them. */
class Answer implements Dispatcher.DispatchHandler {
  readonly #settle: Settle
  readonly #chunks: Buffer[] = []
  #status = 0
  #bytes = 0
  #cut: (() => void) | null = null

  constructor(settle: Settle) {
    this.#settle = settle
  }

  onConnect(cut: () => void): void {
    this.#cut = cut
  }

  onHeaders(status: number): boolean {
    this.#status = status
    return true
  }

  onData(chunk: Buffer): boolean {
    this.#bytes += chunk.length
    if (this.#bytes > UPSTREAM_ANSWER_BYTES_MAX) {
      this.#settle(fail('upstream_too_large', { fields: { limit: UPSTREAM_ANSWER_BYTES_MAX } }))
      this.#cut?.()
    } else this.#chunks.push(chunk)
    return true
  }

  onComplete(): void {
    const [first] = this.#chunks
    const body =
      first !== undefined && this.#chunks.length === 1 ? first : Buffer.concat(this.#chunks, this.#bytes)
    this.#settle(this.#status === 200 ? ok(body) : fail('upstream_failed'))
  }

  onError(error: Error): void {
    this.#settle(fail(/Timeout/.test(error.name) ? 'upstream_slow' : 'upstream_failed'))
  }
}
