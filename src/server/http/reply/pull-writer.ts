import { fail, type Failure, type Outcome } from '../../../schemas/failures.ts'
import { ReaderDeadline } from './reader-deadline.ts'
import type { ReplyWriter, Writing } from './writing.ts'

/** A body that is read while the client receives it. */
export interface PulledBody {
  readonly bytes: number
  /** The first bytes; empty when there are none. */
  readonly first: Uint8Array
  /** The next bytes, valid until the following call; null at the end. Calls never overlap. */
  next(): Promise<Outcome<Uint8Array | null>>
  /** The next bytes if they have already arrived: `next` would cost promises without need. */
  ready?(): Uint8Array | null
}

export interface PullWriterOptions extends Omit<Writing, 'beat' | 'wrote' | 'unread'> {
  readonly body: PulledBody
}

/**
 * Writes a body piece by piece, as fast as the client reads and its source delivers; it holds one piece at a
 * time. After the first bytes a failure cuts the connection: if it ended normally, the client would take the
 * part for the whole. Design §5.
 */
export class PullWriter implements ReplyWriter {
  readonly #options: PullWriterOptions
  /** As in `PartsWriter`: the library must not end a last answer by itself. */
  readonly #endsAt: number
  readonly #deadline: ReaderDeadline
  /** Null while the next piece is fetched. */
  #piece: Uint8Array | null
  /** Bytes before the piece. */
  #before = 0
  writtenBytes = 0
  #isOver = false

  constructor(options: PullWriterOptions) {
    this.#options = options
    this.#endsAt = options.body.bytes + Number(options.isLast)
    this.#piece = options.body.first
    // A slow reader keeps only one piece in memory, so that any progress is enough.
    this.#deadline = new ReaderDeadline({ ...options, bytesPerSMin: 0 })
  }

  /** Called after status, headers and length were written; the call is corked. @param offset bytes of the body that were written before */
  start(offset: number): void {
    const { res, guard } = this.#options
    res.onWritable((accepted) => {
      let isDone = true
      guard(() => (isDone = this.#pump(accepted)))
      return isDone
    })
    this.#deadline.start(offset)
    this.#pump(offset)
  }

  stop(): void {
    this.#isOver = true
    this.#deadline.stop()
  }

  /** @param offset bytes of the body that were written @returns false while the writer waits for the socket */
  #pump(offset: number): boolean {
    if (this.#piece === null || this.#isOver) return true
    this.#deadline.progress(offset)
    for (let at = offset; this.#piece !== null; at = this.#before) {
      const end = this.#before + this.#piece.length
      const [isAccepted, isDone] = this.#write(this.#piece, at)
      this.writtenBytes = isAccepted || isDone ? end : this.#options.res.getWriteOffset()
      if (isDone) this.#finish()
      if (isDone || !isAccepted) return isDone
      this.#before = end
      this.#piece = this.#before === this.#options.body.bytes ? null : (this.#options.body.ready?.() ?? null)
    }
    this.#fetch()
    return true
  }

  /** @returns as `tryEnd`: whether the socket accepts more, and whether the answer ended */
  #write(piece: Uint8Array, at: number): readonly [boolean, boolean] {
    if (at === this.#before + piece.length) return [true, false]
    return this.#options.res.tryEnd(piece.subarray(at - this.#before), this.#endsAt)
  }

  #fetch(): void {
    const { body, guard } = this.#options
    // The whole body is written: only the connection must still be closed.
    if (this.#before === body.bytes) return this.#linger()
    const broken = (cause: unknown): Outcome<never> => fail('internal', { cause })
    void body
      .next()
      .catch(broken)
      .then((next) => guard(() => this.#take(next)))
  }

  #take(next: Outcome<Uint8Array | null>): void {
    if (this.#isOver) return
    if (!next.ok) return this.#cut(next.failure)
    if (next.value === null)
      return this.#cut({ name: 'content_damaged', cause: new Error('the content ended early') })
    this.#piece = next.value
    this.#options.res.cork(() => void this.#pump(this.#before))
  }

  #cut(failure: Failure): void {
    this.stop()
    this.#options.broken(failure)
    this.#options.res.close()
  }

  #linger(): void {
    this.#deadline.stop()
    this.#options.linger(() => this.#close())
  }

  #close(): void {
    if (this.#isOver) return
    this.#finish()
    this.#options.res.close()
  }

  #finish(): void {
    if (this.#isOver) return
    this.stop()
    this.#options.over()
  }
}
