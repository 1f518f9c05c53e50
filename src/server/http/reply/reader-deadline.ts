import { REPLY_BEAT_MS, REPLY_STALL_MS } from '../../../schemas/limits/limits.ts'
import type { Timer, Timers } from '../timers.ts'
import type { WireResponse } from './wire.ts'

export interface ReaderDeadlineOptions {
  readonly res: Pick<WireResponse, 'pause' | 'resume' | 'close'>
  readonly timers: Pick<Timers, 'start'>
  /** Bytes per second that the reader must take, over each REPLY_STALL_MS; 0: any progress is enough. */
  readonly bytesPerSMin: number
}

/**
 * Keeps a slow reader of an answer connected, within limits. The library cuts readers below 300 KB/s after 12
 * s unless the socket is paused and resumed now and then. Sluice's own limit is REPLY_STALL_MS without
 * progress, or with less than `bytesPerSMin`.
 */
export class ReaderDeadline {
  readonly #options: ReaderDeadlineOptions
  #beat: Timer | null = null
  /** Beats since the reader's last progress. */
  #idleBeats = 0
  /** True while there is nothing for the reader to take. */
  #isResting = false
  #beats = 0
  /** Bytes written so far. */
  #takenBytes = 0
  /** Bytes written when the rate was last checked. */
  #countedBytes = 0

  constructor(options: ReaderDeadlineOptions) {
    this.#options = options
  }

  /** @param offset bytes that were written before */
  start(offset: number): void {
    this.#takenBytes = this.#countedBytes = offset
    this.#keepAlive()
  }

  /** Called when the reader has taken all bytes and the writer waits for its source. `progress` ends this state. */
  rest(): void {
    this.#isResting = true
  }

  /** @param offset bytes written so far */
  progress(offset: number): void {
    this.#isResting = false
    this.#idleBeats = 0
    this.#takenBytes = offset
  }

  stop(): void {
    this.#beat?.stop()
  }

  #keepAlive(): void {
    const { res, timers } = this.#options
    this.#beat = timers.start(REPLY_BEAT_MS, () => {
      this.#idleBeats += Number(!this.#isResting)
      const isStalled = this.#idleBeats * REPLY_BEAT_MS > REPLY_STALL_MS
      if (isStalled || this.#isSlow()) return void res.close()
      res.pause()
      res.resume()
      this.#keepAlive()
    })
  }

  #isSlow(): boolean {
    if ((++this.#beats * REPLY_BEAT_MS) % REPLY_STALL_MS !== 0) return false
    const bytes = this.#takenBytes - this.#countedBytes
    this.#countedBytes = this.#takenBytes
    return bytes < (this.#options.bytesPerSMin * REPLY_STALL_MS) / 1_000
  }
}
