import { Readable } from 'node:stream'
import type { Failure, Outcome } from '../../../schemas/failures.ts'
import { fail, ok } from '../../../schemas/failures.ts'
import type { Upload } from '../../ports/byte-streams.ts'
import { KIB } from '../../../schemas/limits/limits.ts'

/** Bytes of a request's body that wait for the destination. Decision. */
export const EGRESS_WAITING_BYTES_MAX = 256 * KIB

/** A request's body on its way to a destination, at the pace of the destination. */
export class BodyFlow {
  readonly stream: Readable
  /** The client's failure that ended the body early; null otherwise. */
  failure: Failure | null = null
  isWhole = false
  /** `performance.now()` of the last transferred byte. */
  movedAt = performance.now()
  readonly #upload: Upload
  readonly #failed: () => void
  #isFull = false

  /** @param failed called when the client does not send the rest */
  constructor(upload: Upload, failed: () => void) {
    this.#upload = upload
    this.#failed = failed
    this.stream = new Readable({
      highWaterMark: EGRESS_WAITING_BYTES_MAX,
      read: () => this.#read(),
      destroy: (error, done) => {
        upload.stop()
        done(error)
      },
    })
    // `failure` and the exchange report the error: this listener only keeps it from ending the process.
    this.stream.on('error', () => undefined)
  }

  start(): void {
    this.#upload.receive({
      begin: () => undefined,
      take: (bytes) => this.#take(bytes),
      end: () => {
        this.isWhole = true
        this.#moved()
        this.stream.push(null)
      },
      fail: (failure) => this.#fail(failure),
    })
  }

  /** Stops the body: the rest is no longer needed. May be called at any time. */
  stop(): void {
    this.stream.destroy()
  }

  #take(bytes: Uint8Array): boolean {
    if (this.stream.destroyed) return false
    this.#moved()
    // The bytes are copied, since their buffer is only lent.
    this.#isFull = !this.stream.push(Buffer.from(bytes))
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
    // The stream ends with an error, so that the destination does not take a part for the whole.
    this.stream.destroy(new Error('the client did not send the whole body'))
    this.#failed()
  }

  #moved(): void {
    this.movedAt = performance.now()
  }
}

/** Reads a small body into memory. Failures: body_too_large, and those of receiving. */
export function wholeBody(upload: Upload, bytesMax: number): Promise<Outcome<Buffer>> {
  const pieces: Buffer[] = []
  let bytes = 0
  return new Promise((settle) =>
    upload.receive({
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
    }),
  )
}
