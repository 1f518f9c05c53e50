import { Readable } from 'node:stream'
import type { Failure, Outcome } from '../../../schemas/failures.ts'
import { fail, ok } from '../../../schemas/failures.ts'
import { EGRESS_WAITING_BYTES_MAX } from '../../../schemas/limits.ts'
import type { Upload } from '../../ports/byte-streams.ts'

/**
 * A request's body on its way to a destination, as fast as that takes it. One that is here already is sent as bytes: a
 * stream and its signals cost more than all the rest of a small request.
 */
export class BodyFlow {
  /** What ended it early, on the side of the client. */
  failure: Failure | null = null
  /** The last byte has come. */
  isWhole = false
  /** `performance.now()` of the last movement. */
  movedAt = performance.now()
  readonly #upload: Upload
  /** Only of a stream. */
  #broken: AbortController | null = null
  /** What came before there was a stream. */
  #early: Buffer[] = []
  #stream: Readable | null = null
  #isFull = false

  constructor(upload: Upload) {
    this.#upload = upload
  }

  /** Once. @returns all of it when it came with the head, else a stream */
  async start(): Promise<Uint8Array | Readable> {
    // The library gives the body on when it has called for the head, and what came with it in the same turn.
    await new Promise<void>((decided) => {
      this.#receive(decided)
      if (!this.isWhole) setImmediate(decided)
    })
    const early = this.#early
    this.#early = []
    if (this.isWhole) return early[0] !== undefined && early.length === 1 ? early[0] : Buffer.concat(early)
    this.#broken = new AbortController()
    this.#stream = this.#streamOf(early)
    return this.#stream
  }

  /** The signal of a call, and that of a client who does not send the rest. Once started. */
  until(signal: AbortSignal): AbortSignal {
    return this.#broken === null ? signal : AbortSignal.any([signal, this.#broken.signal])
  }

  #receive(decided: () => void): void {
    let earlyBytes = 0
    this.#upload.receive({
      begin: () => undefined,
      take: (bytes) => {
        if (this.#stream !== null) return this.#take(this.#stream, bytes)
        // They are lent.
        this.#early.push(Buffer.from(bytes))
        this.#isFull = (earlyBytes += bytes.length) >= EGRESS_WAITING_BYTES_MAX
        return !this.#isFull
      },
      end: () => {
        this.isWhole = true
        this.#moved()
        this.#stream?.push(null)
        decided()
      },
      fail: (failure) => this.#fail(failure),
    })
  }

  #streamOf(early: readonly Buffer[]): Readable {
    const stream = new Readable({
      highWaterMark: EGRESS_WAITING_BYTES_MAX,
      read: () => this.#read(),
      destroy: (error, done) => {
        this.#upload.stop()
        done(error)
      },
    })
    // Whose fault it was is told elsewhere.
    stream.on('error', () => undefined)
    for (const bytes of early) stream.push(bytes)
    if (this.failure !== null) this.#breakOff(stream)
    return stream
  }

  /** Nobody wants the rest. Harmless at any time. */
  stop(): void {
    if (this.#stream === null) this.#upload.stop()
    else this.#stream.destroy()
  }

  #take(stream: Readable, bytes: Uint8Array): boolean {
    if (stream.destroyed) return false
    this.#moved()
    // They are lent.
    this.#isFull = !stream.push(Buffer.from(bytes))
    return !this.#isFull
  }

  #read(): void {
    if (!this.#isFull) return
    this.#isFull = false
    this.#moved()
    this.#upload.resume()
  }

  #fail(failure: Failure): void {
    this.failure = failure
    if (this.#stream !== null) this.#breakOff(this.#stream)
  }

  /** With an error, lest a part pass for the whole; one for each, since the gate knows those of sockets by identity. */
  #breakOff(stream: Readable): void {
    stream.destroy(new Error('the client did not send the rest'))
    this.#broken?.abort()
  }

  #moved(): void {
    this.movedAt = performance.now()
  }
}

/** A body that is small enough to be held whole. Failures: body_too_large, and those of receiving. */
export function wholeBody(upload: Upload, bytesMax: number): Promise<Outcome<Buffer>> {
  const pieces: Buffer[] = []
  let bytes = 0
  return new Promise((settle) => upload.receive({
    begin: () => undefined,
    take(piece) {
      bytes += piece.length
      if (bytes <= bytesMax) pieces.push(Buffer.from(piece))
      else {
        upload.stop()
        settle(fail('body_too_large', { fields: { limit: bytesMax } }))
      }
      return bytes <= bytesMax
    },
    end: () => settle(ok(Buffer.concat(pieces))),
    fail: (failure) => settle({ ok: false, failure }),
  }))
}
