import { REPLY_BEAT_MS, REPLY_BYTES_PER_S_MIN, REPLY_STALL_MS } from '../../schemas/limits.ts'
import type { Timer, Timers } from './timers.ts'
import type { WireResponse } from './wire.ts'

export interface PartsWriterOptions {
  readonly res: WireResponse
  readonly parts: readonly Uint8Array[]
  readonly timers: Pick<Timers, 'start'>
  /** The connection ends behind this answer. */
  readonly isLast: boolean
  /** The last byte was handed over. Called once, unless stopped. */
  readonly over: () => void
  /** Runs what the library or the loop calls back and answers for its exceptions. */
  readonly guard: (act: () => void) => void
}

/**
 * Writes a body from its parts without joining them, as fast as the client reads.
 * The library cuts readers under 300 KB/s at 12 s unless the socket pauses and resumes now and then; our own limit is
 * REPLY_STALL_MS without progress, or with less than REPLY_BYTES_PER_S_MIN: a byte now and then would keep the
 * answer in memory for ever. Facts: front-end §9.
 */
export class PartsWriter {
  readonly #options: PartsWriterOptions
  /**
   * Where the library is to end the answer by itself. Behind a last answer one byte more than there is: the library
   * cannot close behind `tryEnd`, and an answer that stays open makes it cut what comes next instead of running it.
   */
  readonly #endsAt: number
  #part = 0
  /** Bytes handed over before the current part. */
  #before = 0
  #beat: Timer | null = null
  /** Beats since the reader last took something. */
  #idleBeats = 0
  #beats = 0
  /** Bytes handed over by now, and when the rate was last looked at. */
  #acceptedBytes = 0
  #countedBytes = 0
  #isOver = false

  constructor(options: PartsWriterOptions) {
    this.#options = options
    this.#endsAt = options.parts.reduce((sum, part) => sum + part.length, 0) + Number(options.isLast)
  }

  /**
   * Status, headers and length are written; the call is corked.
   * @param offset bytes of the body that were handed over before
   */
  start(offset: number): void {
    this.#acceptedBytes = this.#countedBytes = offset
    if (this.#pump(offset)) return
    this.#options.res.onWritable((accepted) => {
      this.#idleBeats = 0
      this.#acceptedBytes = accepted
      let isOver = true
      this.#options.guard(() => (isOver = this.#pump(accepted)))
      return isOver
    })
    this.#keepAlive()
  }

  /** The client left. */
  stop(): void {
    this.#isOver = true
    this.#beat?.stop()
  }

  /** @param offset bytes of the body that were handed over; @returns whether nothing is left to wait for */
  #pump(offset: number): boolean {
    const { res, parts, isLast } = this.#options
    for (let at = offset; this.#part < parts.length; this.#part++) {
      const part = parts[this.#part] ?? new Uint8Array(0)
      const end = this.#before + part.length
      if (at < end) {
        const [isAccepted, isDone] = res.tryEnd(part.subarray(at - this.#before), this.#endsAt)
        if (isDone) this.#finish()
        else if (!isAccepted) return false
        at = end
      }
      this.#before = end
    }
    // Not at once: what is corked leaves when this returns.
    if (isLast) setImmediate(() => this.#options.guard(() => this.#close()))
    return true
  }

  #close(): void {
    if (this.#isOver) return
    this.#finish()
    this.#options.res.close()
  }

  #keepAlive(): void {
    this.#beat = this.#options.timers.start(REPLY_BEAT_MS, () => {
      const isStalled = ++this.#idleBeats * REPLY_BEAT_MS > REPLY_STALL_MS
      if (isStalled || this.#isSlow()) return void this.#options.res.close()
      this.#options.res.pause()
      this.#options.res.resume()
      this.#keepAlive()
    })
  }

  #isSlow(): boolean {
    if ((++this.#beats * REPLY_BEAT_MS) % REPLY_STALL_MS !== 0) return false
    const bytes = this.#acceptedBytes - this.#countedBytes
    this.#countedBytes = this.#acceptedBytes
    return bytes < (REPLY_BYTES_PER_S_MIN * REPLY_STALL_MS) / 1_000
  }

  #finish(): void {
    if (this.#isOver) return
    this.stop()
    this.#options.over()
  }
}
