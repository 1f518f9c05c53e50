import type { Failure } from '../../../schemas/failures.ts'
import { INLINE_JSON_BYTES_MAX } from '../../../schemas/limits/limits.ts'
import { bytesOf } from '../../../schemas/values/pieces.ts'
import type { EventStream } from '../../ports/event-stream.ts'
import type { AnsweredBy, InferenceSink } from '../../ports/inference/inference.ts'
import { Delivery } from './keep-generation.ts'
import type { FinalEvents, ShownUsage, WrittenPart } from '../../../dialects/parts.ts'
import type { FailureFacts, TextEvents, WholeText } from '../../../dialects/answers.ts'

/** The reply of a streamed answer: begins with the first output, or before it. D13, D15. */
export class StreamedReply implements InferenceSink {
  readonly delivery = new Delivery()
  readonly #events: TextEvents
  readonly #open: (by: AnsweredBy | null) => EventStream
  #by: AnsweredBy | null = null
  #stream: EventStream | null = null

  /** @param open begins the reply; called with the first output, or without an endpoint before it */
  constructor(events: TextEvents, open: (by: AnsweredBy | null) => EventStream) {
    this.#events = events
    this.#open = open
  }

  /** A first output may never come: failures before it are then told by the stream too. */
  get isOpen(): boolean {
    return this.#stream !== null
  }

  /** Begins the reply before any output. D15. */
  openEarly(): void {
    if (this.#stream !== null) return
    this.#stream = this.#open(null)
    this.#stream.write(this.#events.silence)
  }

  begin(by: AnsweredBy): void {
    this.#by = by
    this.#events.begin(by)
  }

  take(parts: readonly WrittenPart[]): boolean {
    return this.#write(this.#events.eventsOf(parts))
  }

  pass(events: Uint8Array): boolean {
    this.#events.passed?.(events)
    return this.#write(events)
  }

  async room(): Promise<void> {
    if (this.#stream !== null) await this.delivery.stall(this.#stream.room())
  }

  /** @param finalEvents what the provider's stream kept back for the usage */
  end(usage: ShownUsage, finalEvents: FinalEvents | null): void {
    this.#stream ??= this.#open(this.#by)
    const last = finalEvents === null ? [this.#events.lastOf(usage)] : finalEvents.withUsage(usage)
    // One write, unless the copy for it would hold the loop: the last event may have 16 MiB.
    const isLarge = bytesOf(last) > INLINE_JSON_BYTES_MAX
    for (const bytes of isLarge ? last : [Buffer.concat(last)]) this.#stream.write(bytes)
    this.#stream.end()
  }

  breakOff(failure: Failure, facts: FailureFacts): void {
    this.#stream?.breakOff(this.#events.failureOf(failure, facts))
  }

  #write(events: Uint8Array): boolean {
    this.#stream ??= this.#open(this.#by)
    this.#stream.write(events)
    this.delivery.wrote()
    return this.#stream.hasRoom
  }
}

/** The reply of an answer that is sent when it is whole. D14. */
export class WholeReply implements InferenceSink {
  readonly #text: WholeText

  constructor(text: WholeText) {
    this.#text = text
  }

  begin(by: AnsweredBy): void {
    this.#text.begin(by)
  }

  take(parts: readonly WrittenPart[]): boolean {
    for (const part of parts) this.#text.add(part)
    return true
  }

  /** No provider streams an answer that is wanted whole. */
  pass(): boolean {
    return true
  }

  room(): Promise<void> {
    return Promise.resolve()
  }

  answer(usage: ShownUsage): object {
    return this.#text.answer(usage)
  }
}
