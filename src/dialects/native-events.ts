import type { Failure } from '../schemas/failures.ts'
import { endOfSpace } from '../schemas/values/json-bytes.ts'
import { SseReader, type SseEvent } from './sse-reader.ts'
import { isAt } from './walk/json-reader.ts'
import type { WholeWalk } from './walk/whole-walk.ts'
import type { FinalEvents, ReportedTiers, TokenUsage, NativeRead, NativeStream, FailureOf } from './parts.ts'
import { NOTHING_REPORTED } from './usage.ts'
import { EventBuffer } from './walk/splices.ts'

/** The end of a stream of chat; servers write it behind streams of other forms, too. */
const DONE = '[DONE]'
const NOTHING: NativeRead = { events: null, failure: null }
/** A body that ended before its answer did. */
export const UNFINISHED: Failure = {
  name: 'upstream_failed',
  detail: "The provider's stream ended before the answer was complete.",
}
/** An event that cannot be passed on. */
export const INVALID: Failure = { name: 'upstream_invalid' }

/** Shared by all streams: what is gathered in it is lent, or taken, in the same turn. */
export const EVENTS = new EventBuffer()

/** The events of a provider's stream, each read by its dialect. D13, D22. */
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
    // Bytes behind the last event cannot fail a stream.
    if (!this.isDone) this.#failure ??= failure
    return { events: EVENTS.lend(), failure: this.#failure }
  }

  /**
   * The provider's body ended.
   * @returns null: the stream was whole. D22
   */
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

  /** Takes an event; what is passed on of it goes to EVENTS. */
  protected abstract take(event: SseEvent): Failure | null

  /** @param data of an event in which the provider reports that it failed */
  protected failureOf(data: Buffer, isOfAnswer = false): Failure {
    return this.#failureOf(data, isOfAnswer)
  }
}

/** @param start the first byte of the data that is no space */
export function isDoneMark(data: Buffer, start: number): boolean {
  return isAt(data, start, DONE) && endOfSpace(data, start + DONE.length) === data.length
}
