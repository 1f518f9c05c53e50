import { fail, type Failure, type Outcome } from '../../../schemas/failures.ts'
import { ReaderDeadline } from './reader-deadline.ts'
import type { RelayedBody } from './reply-body.ts'
import type { Timer, Timers } from '../timers.ts'
import type { WireResponse } from './wire.ts'

export interface RelayWriterOptions {
  readonly res: WireResponse
  readonly body: RelayedBody
  readonly timers: Pick<Timers, 'start'>
  /** The connection ends behind this answer. */
  readonly isLast: boolean
  /** Pauses and resumes the socket, unless it is still receiving. */
  readonly beat: () => void
  /**
   * Something was written, or refused. @returns whether a paused request keeps the library from saying when
   * there is room again
   */
  readonly wrote: () => boolean
  /**
   * Of a last answer, whose last byte was handed over: `close` may be called once the client can have read
   * it.
   */
  readonly linger: (close: () => void) => void
  /** The last byte was handed over. Called once, unless stopped. */
  readonly over: () => void
  /** The bytes ended early; the connection was cut. Called instead of `over`. */
  readonly broken: (failure: Failure) => void
  /** Runs what the library or the loop calls back and answers for its exceptions. */
  readonly guard: (act: () => void) => void
}

/**
 * Passes a body on as it comes: with its length where that is known, else in chunks. One piece is held at a
 * time. What breaks off is cut, so that the client notices: within the announced length, or without the last
 * chunk.
 */
export class RelayWriter {
  readonly #options: RelayWriterOptions
  readonly #patience: ReaderDeadline
  /** As `PartsWriter`: behind a last answer the library must not end it by itself. NaN in chunks. */
  readonly #endsAt: number
  /** Null while the next one is fetched, and while the library holds what the socket did not take. */
  #piece: Uint8Array | null = null
  /** Bytes before the piece. */
  #before = 0
  #isBlocked = false
  /** Comes while the library still holds the one before. */
  #waiting: Uint8Array | null = null
  #isFetching = false
  #look: Timer | null = null
  /** Bytes that the reader had taken when he last took some. */
  #takenBytes = -1
  #isOver = false

  constructor(options: RelayWriterOptions) {
    this.#options = options
    const { res, body, beat, timers } = options
    this.#endsAt = body.bytes === null ? NaN : body.bytes + Number(options.isLast)
    this.#patience = new ReaderDeadline({
      res: { pause: () => undefined, resume: beat, close: () => res.close() },
      timers,
      bytesPerSMin: 0,
    })
  }

  /** Status and headers are written; the call is corked. */
  start(): void {
    const { res, body, guard } = this.#options
    res.onWritable((accepted) => {
      let isDone = true
      guard(() => (isDone = this.#writable(accepted)))
      return isDone
    })
    this.#patience.start(0)
    // The head goes out at once, with the true length; in chunks the library sends it with the first of them.
    if (body.bytes !== null) res.tryEnd(NOTHING, body.bytes)
    this.#fetch()
  }

  /** The client left. */
  stop(): void {
    this.#isOver = true
    this.#patience.stop()
    this.#look?.stop()
  }

  /** @returns whether the socket is not what is waited for */
  #writable(accepted: number): boolean {
    if (this.#isOver) return true
    if (this.#piece !== null) return this.#pump(accepted)
    if (this.#isBlocked) this.#unblock()
    return true
  }

  #fetch(): void {
    const { body, guard } = this.#options
    if (!this.#isBlocked) this.#patience.rest()
    this.#isFetching = true
    const broken = (cause: unknown): Outcome<never> => fail('internal', { cause })
    void body.reader
      .next()
      .catch(broken)
      .then((next) => guard(() => this.#take(next)))
  }

  #take(next: Outcome<Uint8Array | null>): void {
    this.#isFetching = false
    if (this.#isOver) return
    if (!this.#isBlocked) this.#patience.progress(this.#before)
    if (!next.ok) return this.#cut(next.failure)
    const piece = next.value
    if (piece === null) return this.#end()
    if (piece.length === 0) return this.#fetch()
    if (this.#isBlocked) this.#waiting = piece
    else this.#cork(() => this.#write(piece))
  }

  #write(piece: Uint8Array): void {
    if (!Number.isNaN(this.#endsAt)) {
      this.#piece = piece
      this.#pump(this.#before)
      return
    }
    this.#before += piece.length
    // What the socket does not take the library keeps: this piece and no other.
    if (this.#options.res.write(piece)) return this.#fetch()
    this.#isBlocked = true
    this.#lookLater()
  }

  #unblock(): void {
    this.#isBlocked = false
    this.#look?.stop()
    this.#patience.progress(this.#before)
    const piece = this.#waiting
    this.#waiting = null
    if (piece !== null && piece.length > 0) this.#cork(() => this.#write(piece))
    else if (!this.#isFetching) this.#fetch()
  }

  #lookLater(): void {
    if (!this.#options.wrote()) return
    this.#look?.stop()
    this.#look = this.#options.timers.start(0, () => this.#lookAgain())
  }

  /** Whether there is room now: in chunks one byte asks, since the library takes whatever it is given. */
  #lookAgain(): void {
    const { res } = this.#options
    if (this.#isOver || (this.#piece === null && !this.#isBlocked)) return
    if (this.#piece !== null) return this.#cork(() => void this.#pump(res.getWriteOffset()))
    const waiting = this.#waiting
    if (waiting === null || waiting.length === 0) {
      if (!this.#isFetching) this.#fetch()
      return this.#lookLater()
    }
    this.#waiting = waiting.subarray(1)
    this.#before++
    let hasRoom = false
    this.#cork(() => (hasRoom = res.write(waiting.subarray(0, 1))))
    if (hasRoom) this.#unblock()
    else this.#lookLater()
  }

  #cork(act: () => void): void {
    const { res, wrote } = this.#options
    res.cork(act)
    wrote()
  }

  /** @param offset bytes of the body that were handed over */
  #pump(offset: number): boolean {
    const piece = this.#piece
    if (piece === null) return true
    if (offset > this.#takenBytes) this.#patience.progress(offset)
    this.#takenBytes = offset
    const end = this.#before + piece.length
    if (offset < end) {
      const [isAccepted, isDone] = this.#options.res.tryEnd(
        piece.subarray(offset - this.#before),
        this.#endsAt,
      )
      if (isDone) this.#finish()
      else if (!isAccepted) this.#lookLater()
      if (isDone || !isAccepted) return isDone
    }
    this.#before = end
    this.#piece = null
    if (end === this.#options.body.bytes) this.#linger()
    else this.#fetch()
    return true
  }

  /** The source has no more. */
  #end(): void {
    const { res, body, isLast } = this.#options
    if (body.bytes !== null) return this.#cut({ name: 'upstream_failed', cause: new Error('it ended early') })
    if (isLast) {
      this.#cork(() => (this.#before === 0 ? endHead(res) : endChunks(res)))
      return this.#linger()
    }
    res.cork(() => void res.end(''))
    this.#finish()
  }

  #linger(): void {
    this.#patience.stop()
    this.#options.linger(() => {
      if (this.#isOver) return
      this.#finish()
      this.#options.res.close()
    })
  }

  #cut(failure: Failure): void {
    this.stop()
    this.#options.broken(failure)
    this.#options.res.close()
  }

  #finish(): void {
    if (this.#isOver) return
    this.stop()
    this.#options.over()
  }
}

/**
 * Ends an answer in chunks whose connection is to be closed. `end(…, true)` would write a header among the
 * chunks, and `end` alone leaves the connection open; but a header is written as text wherever it is asked
 * for: here the last chunk, a trailer field, and the empty line.
 */
function endChunks(res: WireResponse): void {
  res.writeHeader('\r\n0\r\nx-sluice-end', '1\r\n')
}

/**
 * Ends one that came without a chunk: its head is open still and names no encoding, so that the last chunk
 * would be a body.
 */
function endHead(res: WireResponse): void {
  res.writeHeader('date', new Date().toUTCString())
  res.writeHeader('content-length', '0\r\n')
}

const NOTHING = new Uint8Array(0)
