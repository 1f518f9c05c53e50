import {
  STREAM_HELD_BYTES_MAX,
  STREAM_LAST_EVENT_MS_MAX,
  STREAM_SILENCE_MS,
  STREAM_WAITING_BYTES_MAX,
} from '../../../schemas/inference/stream-limits.ts'
import type { Timer } from '../timers.ts'
import { ReaderDeadline } from './reader-deadline.ts'
import { type ReplyWriter, type Writing, endChunks, endHead } from './writing.ts'
import type { Reply } from './reply-body.ts'
import { append, headersOf, statusLine, type ReplyFacts } from './reply.ts'
import type { EventStream } from '../../ports/inference/inference.ts'

export interface EventWriterOptions extends Writing {
  /** Returns the bytes to send while the source is silent. */
  readonly silence: () => Uint8Array
  /** Writes status and headers, which are sent with the first event. */
  readonly head: () => void
}

type State = 'open' | 'ending' | 'breaking' | 'over'

/**
 * Writes server-sent events as they arrive. The library keeps bytes that the socket does not accept; events
 * that arrive meanwhile wait here, and `hasRoom` makes the source stop at STREAM_WAITING_BYTES_MAX. Comments
 * are sent while the source is silent, so that no proxy or client closes the connection.
 */
export class EventWriter implements EventStream, ReplyWriter {
  readonly #options: EventWriterOptions
  readonly #deadline: ReaderDeadline
  /** What the cork writes. */
  #next: Uint8Array | null = null
  /** Events that wait for the socket, in order. */
  readonly #waiting: Uint8Array[] = []
  #waitingBytes = 0
  /** Bytes of the last write that the socket did not accept; 0: the library keeps none. */
  #blockedBytes = 0
  #giveUnread = (): void => undefined
  #hasBegun = false
  #writtenBytes = 0
  #state: State = 'open'
  /** Timer that fires after silence, and cuts a connection that does not accept the last event. */
  #timer: Timer | null = null
  #awaitingRoom: (() => void)[] = []

  constructor(options: EventWriterOptions) {
    this.#options = options
    const { res, beat, timers } = options
    this.#deadline = new ReaderDeadline({
      res: { pause: () => undefined, resume: beat, close: () => this.#cutStalled() },
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

  get writtenBytes(): number {
    return this.#writtenBytes
  }

  get hasRoom(): boolean {
    return this.#blockedBytes + this.#waitingBytes < STREAM_WAITING_BYTES_MAX
  }

  room(): Promise<void> {
    if (this.hasRoom || !this.isOpen) return Promise.resolve()
    return new Promise((resolve) => this.#awaitingRoom.push(resolve))
  }

  write(events: Uint8Array): void {
    if (!this.isOpen || events.length === 0) return
    this.#send(events)
    this.#timer?.putOff(STREAM_SILENCE_MS)
  }

  end(last?: Uint8Array): void {
    if (!this.isOpen) return
    this.#to('ending')
    if (last === undefined || last.length === 0) {
      if (!this.#isBlocked) this.#finish()
    } else if (this.#isBlocked || this.#options.isLast) {
      this.#send(last)
      if (!this.#isBlocked) this.#finish()
    } else {
      this.#next = last
      this.#options.res.cork(this.#writeLast)
      this.#sent(last.length)
      if (!this.#isBlocked) this.#over()
    }
  }

  breakOff(event: Uint8Array): void {
    if (!this.isOpen) return
    this.#to('breaking')
    this.#send(event)
    if (this.#isBlocked)
      this.#timer = this.#options.timers.start(STREAM_LAST_EVENT_MS_MAX, () => this.#close())
    else this.#closeSoon()
  }

  /** Ends without writing more: the client disconnected, or everything is written. */
  stop(): void {
    this.#to('over')
    this.#deadline.stop()
    this.#giveUnread()
  }

  get #isBlocked(): boolean {
    return this.#blockedBytes > 0
  }

  /** Called when the client did not read for REPLY_STALL_MS. */
  #cutStalled(): void {
    const { res, broken } = this.#options
    broken({ name: 'client_gone' })
    res.close()
  }

  #to(state: State): void {
    this.#state = state
    this.#timer?.stop()
    for (const resolve of this.#awaitingRoom.splice(0)) resolve()
  }

  #send(events: Uint8Array): void {
    // An empty chunk would end the answer.
    if (events.length === 0) return
    if (this.#isBlocked) {
      // Copied, since these bytes outlive the call and belong to the source.
      this.#waiting.push(Uint8Array.from(events))
      this.#waitingBytes += events.length
      return
    }
    this.#next = events
    this.#options.res.cork(this.#writeNext)
    this.#sent(events.length)
  }

  /** Called when this many bytes were passed to the library. */
  #sent(bytes: number): void {
    const { wrote, unread } = this.#options
    wrote()
    if (!this.#isBlocked) return
    this.#deadline.progress(this.#writtenBytes)
    this.#giveUnread()
    this.#giveUnread = unread(Math.max(STREAM_HELD_BYTES_MAX, bytes))
  }

  readonly #writeNext = (): void => {
    const events = this.#next
    this.#next = null
    if (events === null) return
    if (!this.#hasBegun) this.#options.head()
    this.#hasBegun = true
    this.#writtenBytes += events.length
    if (!this.#options.res.write(events)) this.#blockedBytes = events.length
  }

  /** The last events and the end are sent in one write; if the socket does not accept them, the answer ends later. */
  readonly #writeLast = (): void => {
    this.#writeNext()
    if (!this.#isBlocked) this.#options.res.end('')
  }

  /** Called when the library has no bytes left: the waiting events are sent in one write. */
  #writable(): void {
    if (this.#state === 'over' || !this.#isBlocked) return
    this.#blockedBytes = 0
    this.#giveUnread()
    this.#deadline.rest()
    if (this.#waiting.length > 0) {
      const events = Buffer.concat(this.#waiting.splice(0), this.#waitingBytes)
      this.#waitingBytes = 0
      this.#send(events)
    }
    if (this.#state === 'ending' && !this.#isBlocked) this.#finish()
    else if (this.#state === 'breaking' && !this.#isBlocked) this.#closeSoon()
    else for (const resolve of this.#awaitingRoom.splice(0)) resolve()
  }

  #awaitSilence(): void {
    this.#timer = this.#options.timers.start(STREAM_SILENCE_MS, () => {
      // A slow client still has bytes to read.
      if (!this.#isBlocked) this.#send(this.#options.silence())
      this.#awaitSilence()
    })
  }

  #over(): void {
    this.stop()
    this.#options.over()
  }

  #finish(): void {
    const { res, isLast, head, linger } = this.#options
    if (!isLast) {
      res.cork(() => {
        if (!this.#hasBegun) head()
        res.end('')
      })
      return this.#over()
    }
    res.cork(() => {
      if (!this.#hasBegun) head()
      if (this.#hasBegun) endChunks(res)
      else endHead(res)
    })
    this.#deadline.stop()
    linger(() => this.#close())
  }

  /** Deferred: closing in the turn of the last write would destroy bytes that the library has not written yet. */
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

const OK = 200

const EVENTS_TYPE = 'text/event-stream'

/** For proxies: they must neither store the events nor buffer them. */
const UNBUFFERED = ['cache-control', 'no-cache, no-transform', 'x-accel-buffering', 'no'] as const

export function replyOfEvents(headers: Readonly<Record<string, string>>, facts: ReplyFacts): Reply {
  const list = headersOf(EVENTS_TYPE, facts)
  list.push(...UNBUFFERED)
  append(list, headers)
  return { status: OK, statusLine: statusLine(OK), headers: list, body: null }
}

/** The stream of a client that disconnected before its head: everything written is dropped. */
export const GONE: EventStream = {
  isOpen: false,
  hasRoom: true,
  room: () => Promise.resolve(),
  write: () => undefined,
  end: () => undefined,
  breakOff: () => undefined,
}
