import { fail, type Failure, type Outcome } from '../../../schemas/failures.ts'
import { ReaderDeadline } from './reader-deadline.ts'
import type { RelayedBody } from './reply-body.ts'
import type { Timer } from '../timers.ts'
import { type ReplyWriter, type Writing, endChunks, endHead } from './writing.ts'

export interface RelayWriterOptions extends Writing {
  readonly body: RelayedBody
}

/**
 * Relays a body as it arrives: with its length if that is known, otherwise in chunks. It holds one piece at a
 * time. If the body is interrupted, the connection is cut before the announced length or the last chunk, so
 * that the client notices.
 */
export class RelayWriter implements ReplyWriter {
  readonly #options: RelayWriterOptions
  readonly #deadline: ReaderDeadline
  /** As in `PartsWriter`: the library must not end a last answer by itself. NaN in chunks. */
  readonly #endsAt: number
  /** The current piece; null while the next one is fetched, and while the library holds bytes that the socket did not accept. */
  #piece: Uint8Array | null = null
  /** Bytes before the piece. */
  #before = 0
  writtenBytes = 0
  #isBlocked = false
  /** A piece that arrived while the library still holds the previous piece. */
  #waiting: Uint8Array | null = null
  #isFetching = false
  #look: Timer | null = null
  /** Bytes that the reader had taken at its last progress. */
  #takenBytes = -1
  #isOver = false

  constructor(options: RelayWriterOptions) {
    this.#options = options
    const { res, body, beat, timers } = options
    this.#endsAt = body.bytes === null ? NaN : body.bytes + Number(options.isLast)
    this.#deadline = new ReaderDeadline({
      res: { pause: () => undefined, resume: beat, close: () => res.close() },
      timers,
      bytesPerSMin: 0,
    })
  }

  /** Called after status and headers were written; the call is corked. */
  start(): void {
    const { res, body, guard } = this.#options
    res.onWritable((accepted) => {
      let isDone = true
      guard(() => (isDone = this.#writable(accepted)))
      return isDone
    })
    this.#deadline.start(0)
    // The head is sent at once, with the true length; with chunks the library sends the head with the first
    // chunk.
    if (body.bytes !== null) res.tryEnd(NOTHING, body.bytes)
    this.#fetch()
  }

  stop(): void {
    this.#isOver = true
    this.#deadline.stop()
    this.#look?.stop()
  }

  /** @returns false while the writer waits for the socket */
  #writable(accepted: number): boolean {
    if (this.#isOver) return true
    if (this.#piece !== null) return this.#pump(accepted)
    if (this.#isBlocked) this.#unblock()
    return true
  }

  #fetch(): void {
    const { body, guard } = this.#options
    if (!this.#isBlocked) this.#deadline.rest()
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
    if (!this.#isBlocked) this.#deadline.progress(this.#before)
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
    this.writtenBytes = this.#before
    // The library keeps the bytes that the socket does not accept, at most those of this piece.
    if (this.#options.res.write(piece)) return this.#fetch()
    this.#isBlocked = true
    this.#lookLater()
  }

  #unblock(): void {
    this.#isBlocked = false
    this.#look?.stop()
    this.#deadline.progress(this.#before)
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

  /** Tests for free room. With chunks this writes a single byte, since the library accepts any number of bytes. */
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
    this.writtenBytes = this.#before
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

  /** @param offset bytes of the body that were written */
  #pump(offset: number): boolean {
    const piece = this.#piece
    if (piece === null) return true
    if (offset > this.#takenBytes) this.#deadline.progress(offset)
    this.#takenBytes = offset
    this.writtenBytes = offset
    const end = this.#before + piece.length
    if (offset < end) {
      const [isAccepted, isDone] = this.#options.res.tryEnd(
        piece.subarray(offset - this.#before),
        this.#endsAt,
      )
      this.writtenBytes = isAccepted || isDone ? end : this.#options.res.getWriteOffset()
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

  /** Called when the source has no more bytes. */
  #end(): void {
    const { res, body, isLast } = this.#options
    if (body.bytes !== null)
      return this.#cut({ name: 'upstream_failed', cause: new Error('the content ended early') })
    if (isLast) {
      this.#cork(() => (this.#before === 0 ? endHead(res) : endChunks(res)))
      return this.#linger()
    }
    res.cork(() => void res.end(''))
    this.#finish()
  }

  #linger(): void {
    this.#deadline.stop()
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

const NOTHING = new Uint8Array(0)
