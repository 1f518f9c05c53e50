import type { Failure } from '../schemas/failures.ts'
import { endOfSpace, OPEN_LIST, OPEN_OBJECT } from '../schemas/values/json-bytes.ts'
import { SseReader, type SseEvent } from './sse-reader.ts'
import { isAt } from './walk/json-reader.ts'
import type { FinalEvents, ReportedTiers, TokenUsage, NativeRead, NativeStream, FailureOf } from './parts.ts'
import { NOTHING_REPORTED } from './usage.ts'
import { EventBuffer } from './walk/splices.ts'
import type { Members } from '../schemas/values/members.ts'
import type { WholeWalk } from './walk/object-walk.ts'

/** The end of a chat stream; some servers also send it at the end of other streams. */
const DONE = '[DONE]'
const NOTHING: NativeRead = { events: null, failure: null }
/** A body that ended before its answer did. */
export const UNFINISHED: Failure = {
  name: 'upstream_failed',
  detail: "The provider's stream ended before the answer was complete.",
}
/** An event that cannot be passed on. */
export const INVALID: Failure = { name: 'upstream_invalid' }

/** Shared by all streams: its contents are used or copied within the same turn of the event loop. */
export const EVENTS = new EventBuffer()

/** The events of a provider's stream, each read by its dialect. */
export abstract class NativeEvents implements NativeStream {
  hasOutput = false
  isDone = false
  finishReason: string | null = null
  upstreamId: string | null = null
  reported: ReportedTiers = NOTHING_REPORTED
  abstract readonly usage: TokenUsage | null
  abstract readonly outputBytes: number
  abstract readonly finalEvents: FinalEvents | null
  protected abstract readonly walk: WholeWalk
  readonly #reader = new SseReader()
  readonly #failureOf: FailureOf
  #failure: Failure | null = null

  constructor(failureOf: FailureOf) {
    this.#failureOf = failureOf
  }

  get heldBytes(): number {
    return this.#reader.heldBytes
  }

  /** @param bytes the next of the provider's body */
  read(bytes: Uint8Array): NativeRead {
    if (this.#failure !== null) return { events: null, failure: this.#failure }
    if (this.isDone) return NOTHING
    EVENTS.clear()
    const { events, failure } = this.#reader.read(bytes)
    for (const event of events) {
      const before = this.outputBytes
      this.#failure = this.take(event)
      if (this.outputBytes === before) this.#failure ??= this.#reader.bareEvent()
      if (this.#failure !== null || this.isDone) break
    }
    // A stream that waits for its next event must not hold the memory of the last read.
    this.walk.release()
    // Bytes after the last event must not make the stream fail.
    if (!this.isDone) this.#failure ??= failure
    return { events: EVENTS.lend(), failure: this.#failure }
  }

  /** The provider's body ended. @returns null: the stream was whole */
  end(): Failure | null {
    return this.#failure ?? (this.isWhole ? null : UNFINISHED)
  }

  get awaitsUsage(): boolean {
    return this.isWhole && !this.isDone && this.usage === null
  }

  /** The answer came to its end. */
  protected get isWhole(): boolean {
    return this.isDone
  }

  /** Reads an event and writes its passed-on bytes to EVENTS. */
  protected abstract take(event: SseEvent): Failure | null

  /** @param data of an event in which the provider reports that it failed */
  protected failureOf(data: Buffer, isOfAnswer = false): Failure {
    return this.#failureOf(data, isOfAnswer)
  }
}

/** @param start offset of the first byte of the data that is not a space */
export function isDoneMark(data: Buffer, start: number): boolean {
  return isAt(data, start, DONE) && endOfSpace(data, start + DONE.length) === data.length
}

const BOM = Buffer.from([0xef, 0xbb, 0xbf])

const LESS_THAN = 0x3c

/** The form of a provider's body: JSON of a whole answer, events of a stream, or a page for browsers. */
export type Frame = 'answer' | 'events' | 'page'

/** An event of a stream before it is serialized. */
export interface MadeEvent {
  /** The name in its `event:` line; absent: it has none. */
  readonly name?: string
  readonly data: Members
}

/** The answer made from the events of a stream. */
export interface GatheredAnswer {
  /** The last event has come; later bytes are ignored. */
  readonly isDone: boolean
  /** @param name of its `event:` line; the empty string without one. @returns as `PartEvents.take` */
  take(event: Members, name: string): Failure | 'failed' | null
  /** Null: the stream has not come to its end. */
  answer(): Members | null
}

/**
 * Detects the form by the first bytes, since providers and their proxies send wrong content types.
 * @returns null: nothing but space so far
 */
export function frameOf(body: Uint8Array): Frame | null {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.length)
  const isMarked = bytes.length > 0 && bytes.subarray(0, BOM.length).equals(BOM.subarray(0, bytes.length))
  if (isMarked && bytes.length < BOM.length) return null
  switch (bytes[endOfSpace(bytes, isMarked ? BOM.length : 0)]) {
    case undefined:
      return null
    case OPEN_OBJECT:
    case OPEN_LIST:
      return 'answer'
    case LESS_THAN:
      return 'page'
    default:
      return 'events'
  }
}

/** JSON without its byte order mark, which parsers refuse. */
export function withoutMark(json: Buffer): Buffer {
  return json.subarray(0, BOM.length).equals(BOM) ? json.subarray(BOM.length) : json
}

/** The text in separate memory, which can be transferred to another thread. */
export function encoded(text: string): Uint8Array {
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text))
  bytes.write(text)
  return bytes
}
