/** An upload that a test pushes: piece by piece, a turn of the loop each, as long as its sink takes them. */
import type { Failure } from '../../../src/schemas/failures.ts'
import type { Upload, UploadSink } from '../../../src/server/ports/byte-streams.ts'

export interface PushedOptions {
  readonly pieces: Iterable<Uint8Array>
  readonly filename?: string | null
  readonly fields?: Readonly<Record<string, string>>
  /** Never ends by itself. */
  readonly isEndless?: boolean
}

export class PushedUpload implements Upload {
  readonly bytesAtMost = null
  readonly slackBytes = 0
  givenBytes = 0
  isStopped = false
  isPaused = false
  readonly #options: PushedOptions
  readonly #pieces: Iterator<Uint8Array>
  #sink: UploadSink | null = null

  constructor(options: PushedOptions) {
    this.#options = options
    this.#pieces = options.pieces[Symbol.iterator]()
  }

  receive(sink: UploadSink): void {
    this.#sink = sink
    sink.begin(this.#options.filename === undefined ? 'a.txt' : this.#options.filename)
    this.resume()
  }

  resume(): void {
    this.isPaused = false
    setImmediate(() => this.#give())
  }

  stop(): void {
    this.isStopped = true
    this.#sink = null
  }

  /** As when the client leaves. */
  break(failure: Failure = { name: 'client_gone' }): void {
    const sink = this.#sink
    this.#sink = null
    sink?.fail(failure)
  }

  /** Ends one that is endless. */
  finish(): void {
    const sink = this.#sink
    this.#sink = null
    sink?.end(new Map(Object.entries(this.#options.fields ?? {})))
  }

  #give(): void {
    const sink = this.#sink
    if (sink === null || this.isPaused) return
    const { done, value } = this.#pieces.next()
    if (done === true) {
      if (this.#options.isEndless === true) return
      this.#sink = null
      return sink.end(new Map(Object.entries(this.#options.fields ?? {})))
    }
    this.givenBytes += value.length
    // Lent for the call only: what is kept of it would change.
    const lent = Buffer.from(value)
    this.isPaused = !sink.take(lent)
    lent.fill(0)
    if (!this.isPaused) setImmediate(() => this.#give())
  }
}
