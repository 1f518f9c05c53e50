import type { Failure } from '../../../schemas/failures.ts'
import { INLINE_JSON_BYTES_MAX } from '../../../schemas/limits/limits.ts'
import { bytesOf } from '../../../schemas/values/pieces.ts'
import type { EventStream } from '../../ports/event-stream.ts'
import type {
  AnsweredBy,
  FinalEvents,
  InferenceEnd,
  InferenceSink,
  ShownUsage,
  WrittenPart,
} from '../../ports/inference/inference.ts'
import { Delivery } from './keep-generation.ts'

/** What every event, or the answer, of one call begins with. */
export interface TextHead {
  /** `gen_…` */
  readonly id: string
  /** Unix seconds. */
  readonly createdS: number
  /** Canonical id of the first model of the call; another one may answer. D11. */
  readonly model: string
}

/** What the usage of an answer is shown by. */
export type PaidUsage = Pick<InferenceEnd, 'usage' | 'isByok' | 'isEstimated'> &
  Partial<Pick<InferenceEnd, 'reported'>>

/** What the event of a failure tells beside the failure. */
export interface FailureFacts {
  /** Statuses of the operation. */
  readonly statuses: readonly number[]
  readonly requestId: string
}

/** The comment that covers the silence of a source. D16. */
export const SILENCE: Uint8Array = Buffer.from(': SLUICE PROCESSING\n\n')

/** Makes the events of one streamed answer in a dialect. D13. */
export interface TextEvents {
  /** What is written while the source is silent. D16. */
  readonly silence: Uint8Array
  /** Called once, before the first output. */
  begin(by: AnsweredBy): void
  eventsOf(parts: readonly WrittenPart[]): Uint8Array
  /** Called with whole events of a provider that speaks the dialect, which are sent as they are. */
  passed?(events: Uint8Array): void
  /** The end of an answer of which the provider's stream kept nothing back. */
  lastOf(usage: ShownUsage): Uint8Array
  /** Tells the client that the answer is not whole. D21. */
  failureOf(failure: Failure, facts: FailureFacts): Uint8Array
}

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

/** Who has written an answer. */
export type Author = Pick<AnsweredBy, 'provider' | 'model'>

/** Collects one answer in a dialect. */
export interface WholeText {
  /** Called once, before the first part. */
  begin(by: Author): void
  add(part: WrittenPart): void
  /** The answer of a model that writes parts. */
  answer(usage: ShownUsage): object
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
