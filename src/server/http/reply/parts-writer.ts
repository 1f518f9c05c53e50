import { REPLY_BYTES_PER_S_MIN } from '../../../schemas/limits/limits.ts'
import { ReaderDeadline } from './reader-deadline.ts'
import { DESK } from './reply-body.ts'
import type { Timers } from '../timers.ts'
import type { WireResponse } from './wire.ts'

export interface PartsWriterOptions {
  readonly res: WireResponse
  readonly parts: readonly Uint8Array[]
  readonly timers: Pick<Timers, 'start'>
  /** The connection ends behind this answer. */
  readonly isLast: boolean
  /**
   * Of a last answer, whose last byte was handed over: `close` may be called once the client can have read
   * it.
   */
  readonly linger: (close: () => void) => void
  /** The last byte was handed over. Called once, unless stopped. */
  readonly over: () => void
  /** Runs what the library or the loop calls back and answers for its exceptions. */
  readonly guard: (act: () => void) => void
}

/**
 * Writes a body from its parts without joining all of them, as fast as the client reads. One that reads less
 * than REPLY_BYTES_PER_S_MIN is cut: a byte now and then would keep the answer in memory for ever.
 */
export class PartsWriter {
  readonly #options: PartsWriterOptions
  /**
   * Where the library is to end the answer by itself. Behind a last answer one byte more than there is: the
   * library cannot close behind `tryEnd`, and an answer that stays open makes it cut what comes next instead
   * of running it.
   */
  readonly #endsAt: number
  #part = 0
  /** Bytes handed over before the current part. */
  #before = 0
  readonly #patience: ReaderDeadline
  #isOver = false

  constructor(options: PartsWriterOptions) {
    this.#options = options
    this.#patience = new ReaderDeadline({ ...options, bytesPerSMin: REPLY_BYTES_PER_S_MIN })
    this.#endsAt = options.parts.reduce((sum, part) => sum + part.length, 0) + Number(options.isLast)
  }

  /**
   * Status, headers and length are written; the call is corked.
   * @param offset bytes of the body that were handed over before
   */
  start(offset: number): void {
    if (this.#pump(offset)) return
    this.#options.res.onWritable((accepted) => {
      this.#patience.progress(accepted)
      let isOver = true
      this.#options.guard(() => (isOver = this.#pump(accepted)))
      return isOver
    })
    this.#patience.start(offset)
  }

  /** The client left. */
  stop(): void {
    this.#isOver = true
    this.#patience.stop()
  }

  /** @param offset bytes of the body that were handed over; @returns whether nothing is left to wait for */
  #pump(offset: number): boolean {
    const { res, isLast } = this.#options
    let at = offset
    for (let bytes = this.#bytesAt(at); bytes !== null; bytes = this.#bytesAt(at)) {
      const [isAccepted, isDone] = res.tryEnd(bytes, this.#endsAt)
      at += bytes.length
      if (isDone) this.#finish()
      else if (!isAccepted) return false
    }
    if (isLast) this.#linger()
    return true
  }

  /**
   * What comes next, null when nothing is left. Small parts are joined: each by itself would be a system
   * call.
   */
  #bytesAt(at: number): Uint8Array | null {
    const { parts } = this.#options
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
    this.#patience.stop()
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
 * As much as the desk holds, from the first and those behind it. Valid until the next call: the library
 * copies what it keeps.
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
