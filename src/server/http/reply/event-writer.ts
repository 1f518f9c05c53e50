import type { Failure } from '../../../schemas/failures.ts'
import {
  STREAM_HELD_BYTES_MAX,
  STREAM_LAST_EVENT_MS_MAX,
  STREAM_SILENCE_MS,
} from '../../../schemas/inference/stream-limits.ts'
import type { EventStream } from '../../ports/event-stream.ts'
import type { Timer, Timers } from '../timers.ts'
import { endChunks, endHead } from './last-chunk.ts'
import { ReaderDeadline } from './reader-deadline.ts'
import type { WireResponse } from './wire.ts'

export interface EventWriterOptions {
  readonly res: WireResponse
  readonly timers: Pick<Timers, 'start'>
  /** The connection ends after this answer. */
  readonly isLast: boolean
  /** Bytes for a source that is silent. */
  readonly silence: () => Uint8Array
  /** Writes status and headers, which leave with the first event. */
  readonly head: () => void
  /** Pauses and resumes the socket. */
  readonly beat: () => void
  /** Reports a write. */
  readonly wrote: () => void
  /**
   * Called for a last answer after its last byte was written: `close` may be called once the client can have
   * read the answer.
   */
  readonly linger: (close: () => void) => void
  /** The last byte was written. Called once, unless stopped. */
  readonly over: () => void
  /** The client did not read for REPLY_STALL_MS, and the connection was cut. */
  readonly broken: (failure: Failure) => void
  /** Runs callbacks of the library and of the loop, and handles their exceptions. */
  readonly guard: (act: () => void) => void
}

type State = 'open' | 'ending' | 'breaking' | 'over'

/**
 * Writes server-sent events as they come. What the socket does not take is kept by the library; events that
 * come meanwhile wait here, and `hasRoom` tells the source to stop at STREAM_HELD_BYTES_MAX. A silent source
 * is covered by comments, so that no proxy and no client gives the connection up. D13, D16, D19, D21.
 */
export class EventWriter implements EventStream {
  readonly #options: EventWriterOptions
  readonly #deadline: ReaderDeadline
  /** Events that wait for the socket, in order. */
  readonly #waiting: Uint8Array[] = []
  #waitingBytes = 0
  #isBlocked = false
  #hasBegun = false
  #writtenBytes = 0
  #state: State = 'open'
  /** Fires after silence, and cuts a connection that does not take the last event. */
  #timer: Timer | null = null
  #roomy: (() => void)[] = []

  constructor(options: EventWriterOptions) {
    this.#options = options
    const { res, beat, timers, broken } = options
    const close = (): void => {
      broken({ name: 'client_gone' })
      res.close()
    }
    this.#deadline = new ReaderDeadline({
      res: { pause: () => undefined, resume: beat, close },
      timers,
      bytesPerSMin: 0,
    })
    res.onWritable(() => {
      options.guard(() => this.#writable())
      return true
    })
    this.#deadline.start(0)
    this.#deadline.rest()
    this.#awaitSilence()
  }

  get isOpen(): boolean {
    return this.#state === 'open'
  }

  get hasRoom(): boolean {
    return this.#waitingBytes < STREAM_HELD_BYTES_MAX
  }

  room(): Promise<void> {
    if (this.hasRoom || !this.isOpen) return Promise.resolve()
    return new Promise((resolve) => this.#roomy.push(resolve))
  }

  write(events: Uint8Array): void {
    if (!this.isOpen || events.length === 0) return
    this.#timer?.stop()
    this.#send(events)
    this.#awaitSilence()
  }

  end(): void {
    if (!this.isOpen) return
    this.#to('ending')
    if (!this.#isBlocked) this.#finish()
  }

  breakOff(event: Uint8Array): void {
    if (!this.isOpen) return
    this.#to('breaking')
    this.#send(event)
    if (this.#isBlocked)
      this.#timer = this.#options.timers.start(STREAM_LAST_EVENT_MS_MAX, () => this.#close())
    else this.#closeSoon()
  }

  /** The client left. */
  stop(): void {
    this.#to('over')
    this.#deadline.stop()
  }

  #to(state: State): void {
    this.#state = state
    this.#timer?.stop()
    for (const resolve of this.#roomy.splice(0)) resolve()
  }

  #send(events: Uint8Array): void {
    // A chunk without bytes would be the last one.
    if (events.length === 0) return
    if (this.#isBlocked) {
      this.#waiting.push(events)
      this.#waitingBytes += events.length
      return
    }
    const { res, head, wrote } = this.#options
    res.cork(() => {
      if (!this.#hasBegun) head()
      this.#hasBegun = true
      this.#writtenBytes += events.length
      this.#isBlocked = !res.write(events)
    })
    wrote()
    if (this.#isBlocked) this.#deadline.progress(this.#writtenBytes)
  }

  /** The library has no bytes left: what waited goes out in one write. */
  #writable(): void {
    if (this.#state === 'over' || !this.#isBlocked) return
    this.#isBlocked = false
    this.#deadline.rest()
    if (this.#waiting.length > 0) {
      const events = Buffer.concat(this.#waiting.splice(0), this.#waitingBytes)
      this.#waitingBytes = 0
      this.#send(events)
    }
    if (this.#state === 'ending' && !this.#isBlocked) this.#finish()
    else if (this.#state === 'breaking' && !this.#isBlocked) this.#closeSoon()
    else for (const resolve of this.#roomy.splice(0)) resolve()
  }

  #awaitSilence(): void {
    this.#timer = this.#options.timers.start(STREAM_SILENCE_MS, () => {
      // A client that is behind has bytes to read.
      if (!this.#isBlocked) this.#send(this.#options.silence())
      this.#awaitSilence()
    })
  }

  #finish(): void {
    const { res, isLast, head, linger, over } = this.#options
    if (!isLast) {
      res.cork(() => {
        if (!this.#hasBegun) head()
        res.end('')
      })
      this.stop()
      return over()
    }
    res.cork(() => {
      if (!this.#hasBegun) head()
      if (this.#hasBegun) endChunks(res)
      else endHead(res)
    })
    this.#deadline.stop()
    linger(() => this.#close())
  }

  /** A close in the turn of the last write would destroy bytes that the library has not written yet. */
  #closeSoon(): void {
    this.#timer?.stop()
    setImmediate(() => this.#options.guard(() => this.#close()))
  }

  #close(): void {
    if (this.#state === 'over') return
    const { res, over } = this.#options
    this.stop()
    over()
    res.close()
  }
}
