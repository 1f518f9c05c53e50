import { REPLY_BEAT_MS, REPLY_STALL_MS } from '../../schemas/limits.ts'
import type { Timer, Timers } from './timers.ts'
import type { WireResponse } from './wire.ts'

export interface PartsWriterOptions {
  readonly res: WireResponse
  readonly parts: readonly Uint8Array[]
  readonly timers: Timers
  /** The last byte was handed over, or the client left. Called once. */
  readonly over: () => void
}

/**
 * Writes a large body from its parts without joining them, as fast as the client reads.
 * The library cuts readers under 300 KB/s at 12 s unless the socket pauses and resumes now and then; our own limit is
 * REPLY_STALL_MS without progress. Facts: front-end §9.
 */
export class PartsWriter {
  readonly #options: PartsWriterOptions
  readonly #totalBytes: number
  #part = 0
  /** Bytes handed over before the current part. */
  #before = 0
  #beat: Timer | null = null
  /** Beats since the reader last took something. */
  #idleBeats = 0
  #isOver = false

  constructor(options: PartsWriterOptions) {
    this.#options = options
    this.#totalBytes = options.parts.reduce((sum, part) => sum + part.length, 0)
  }

  /** Status and headers are written; the call is corked. */
  start(): void {
    if (this.#pump(0)) return
    this.#options.res.onWritable((offset) => {
      this.#idleBeats = 0
      return this.#pump(offset)
    })
    this.#keepAlive()
  }

  /** The client left. */
  abandon(): void {
    this.#finish()
  }

  /** @param offset bytes of the body that were handed over; @returns whether nothing is left to wait for */
  #pump(offset: number): boolean {
    const { res, parts } = this.#options
    for (let at = offset; this.#part < parts.length;) {
      const part = parts[this.#part] ?? new Uint8Array(0)
      const rest = part.subarray(at - this.#before)
      const [isAccepted, isDone] = res.tryEnd(rest, this.#totalBytes)
      if (isDone) {
        this.#finish()
        return true
      }
      if (!isAccepted) return false
      this.#before += part.length
      this.#part++
      at = this.#before
    }
    return true
  }

  #keepAlive(): void {
    this.#beat = this.#options.timers.start(REPLY_BEAT_MS, () => {
      if (++this.#idleBeats * REPLY_BEAT_MS > REPLY_STALL_MS) return void this.#options.res.close()
      this.#options.res.pause()
      this.#options.res.resume()
      this.#keepAlive()
    })
  }

  #finish(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#beat?.stop()
    this.#options.over()
  }
}
