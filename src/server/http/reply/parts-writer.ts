import { owned } from '../../../schemas/values/lent-bytes.ts'
import { ReaderDeadline } from './reader-deadline.ts'
import { DESK, partsOf } from './reply-body.ts'
import type { ReplyWriter, Writing } from './writing.ts'
import { KIB } from '../../../schemas/limits/limits.ts'

/** Least bytes per second that a reader must take, over each REPLY_STALL_MS: the front holds the rest of the answer in memory. Decision. */
export const REPLY_BYTES_PER_S_MIN = 64 * KIB

export interface PartsWriterOptions extends Omit<Writing, 'beat' | 'wrote' | 'broken' | 'unread'> {
  readonly body: Parameters<typeof partsOf>[0]
}

/**
 * Writes a body from its parts without joining all of them, as fast as the client reads. A client that reads
 * less than REPLY_BYTES_PER_S_MIN is cut off: otherwise reading a byte now and then would keep the answer in
 * memory forever.
 */
export class PartsWriter implements ReplyWriter {
  readonly #options: PartsWriterOptions
  #parts: readonly Uint8Array[]
  /**
   * The length at which the library ends the answer by itself. For a last answer it is one byte more than the
   * body: the library cannot close after `tryEnd`, and while the answer is open it cuts the connection instead
   * of processing the next request.
   */
  readonly #endsAt: number
  #part = 0
  /** Bytes written before the current part. */
  #before = 0
  writtenBytes = 0
  readonly #deadline: ReaderDeadline
  #isOver = false

  constructor(options: PartsWriterOptions) {
    this.#options = options
    this.#parts = partsOf(options.body)
    this.#deadline = new ReaderDeadline({ ...options, bytesPerSMin: REPLY_BYTES_PER_S_MIN })
    this.#endsAt = this.#parts.reduce((sum, part) => sum + part.length, 0) + Number(options.isLast)
  }

  /** Called after status, headers and length were written; the call is corked. @param offset bytes of the body that were written before */
  start(offset: number): void {
    if (this.#pump(offset)) return
    this.#parts = this.#parts.map(owned)
    this.#options.res.onWritable((accepted) => {
      this.#deadline.progress(accepted)
      let isOver = true
      this.#options.guard(() => (isOver = this.#pump(accepted)))
      return isOver
    })
    this.#deadline.start(offset)
  }

  stop(): void {
    this.#isOver = true
    this.#deadline.stop()
  }

  /** @param offset bytes of the body that were written @returns whether no bytes are left to wait for */
  #pump(offset: number): boolean {
    const { res, isLast } = this.#options
    this.writtenBytes = offset
    for (let bytes = this.#bytesAt(offset); bytes !== null; bytes = this.#bytesAt(this.writtenBytes)) {
      const [isAccepted, isDone] = res.tryEnd(bytes, this.#endsAt)
      if (!isAccepted && !isDone) {
        this.writtenBytes = res.getWriteOffset()
        return false
      }
      this.writtenBytes += bytes.length
      if (isDone) this.#finish()
    }
    if (isLast) this.#linger()
    return true
  }

  /** The next bytes, null when none are left. Small parts are joined: each would otherwise cost a system call. */
  #bytesAt(at: number): Uint8Array | null {
    const parts = this.#parts
    let part = parts[this.#part]
    while (part !== undefined && at >= this.#before + part.length) {
      this.#before += part.length
      part = parts[++this.#part]
    }
    if (part === undefined) return null
    const first = part.subarray(at - this.#before)
    return first.length >= DESK.length || this.#part === parts.length - 1
      ? first
      : joined(first, parts, this.#part + 1)
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

/**
 * Joins the first part and the following ones as long as the buffer has room. Valid until the next call: the
 * library copies the bytes that it keeps.
 */
function joined(first: Uint8Array, parts: readonly Uint8Array[], behind: number): Uint8Array {
  DESK.set(first)
  let length = first.length
  for (let at = behind; at < parts.length && length < DESK.length; at++) {
    const part = parts[at] ?? new Uint8Array(0)
    const room = DESK.length - length
    DESK.set(part.length <= room ? part : part.subarray(0, room), length)
    length += Math.min(part.length, room)
  }
  return DESK.subarray(0, length)
}
