import type { Failure } from '../../../../schemas/failures.ts'
import { CHOICES_MAX } from '../../../../schemas/inference/inference-limits.ts'
import { USAGE_BYTES_MAX } from '../../../../schemas/models/provider-limits.ts'
import { endOfSpace } from '../../../../schemas/values/json-bytes.ts'
import type { TokenUsage } from '../../../ports/inference/inference.ts'
import { failureOfEvent } from '../../provider-failure.ts'
import type { RedactedTexts } from '../../reason.ts'
import { isAt } from '../json-reader.ts'
import type { NativeRead, NativeStream } from '../protocol.ts'
import { SseReader, type SseEvent } from '../sse-reader.ts'
import { chatUsageOf } from './chat-usage.ts'
import { ChatWalk } from './chat-walk.ts'
import type { ReadChoice } from './choice-members.ts'
import { EventBuffer } from './event-buffer.ts'
import type { NativeHead } from '../protocol.ts'

const DONE = '[DONE]'
const NOTHING: NativeRead = { events: null, failure: null }
const INVALID: Failure = { name: 'upstream_invalid' }
const UNFINISHED: Failure = { name: 'upstream_failed', detail: 'Its stream ended before the answer did.' }

/** Shared by all streams: a read leaves nothing in it. */
const EVENTS = new EventBuffer()

/**
 * The stream of a provider that speaks OpenAI's chat, for a caller that does. Events pass as their bytes came
 * but for what D13 names; usage is taken out and remembered, and an event without choices is not passed on.
 * A choice begins with its role. An event that has to be parsed is parsed on the loop, up to
 * STREAM_MENDED_BYTES_MAX.
 */
export class NativeChatStream implements NativeStream {
  readonly #head: NativeHead
  readonly #redacted: RedactedTexts
  readonly #reader = new SseReader()
  readonly #walk: ChatWalk
  /** Choices that have begun; null: a choice that goes on. */
  readonly #choices = new Map<number, string | null>()
  #failure: Failure | null = null
  #isDone = false
  #hasOutput = false
  #outputBytes = 0
  #finishReason: string | null = null
  #upstreamId: string | null = null
  #usage: Buffer | null = null

  constructor(head: NativeHead, redacted: RedactedTexts) {
    this.#head = head
    this.#redacted = redacted
    this.#walk = new ChatWalk(head, 'event')
  }

  get heldBytes(): number {
    return this.#reader.heldBytes
  }

  /** An output was among the events so far. */
  get hasOutput(): boolean {
    return this.#hasOutput
  }

  /** The provider said `[DONE]`: nothing behind it is read. */
  get isDone(): boolean {
    return this.#isDone
  }

  /** As the provider told it last; null: missing, no counts, or no output where there was some. D24. */
  get usage(): TokenUsage | null {
    return this.#usage === null ? null : chatUsageOf(this.#usage, this.#hasOutput)
  }

  /** Bytes in UTF-8 of delivered text, reasoning and arguments of tools. D26. */
  get outputBytes(): number {
    return this.#outputBytes
  }

  /** Of the choice that ended last. */
  get finishReason(): string | null {
    return this.#finishReason
  }

  /** The usage comes in an event of Sluice's own. D7. */
  get finalEvents(): null {
    return null
  }

  /** The provider's own id; null before it came. */
  get upstreamId(): string | null {
    return this.#upstreamId
  }

  /** @param bytes the next of the provider's body */
  read(bytes: Uint8Array): NativeRead {
    if (this.#failure !== null) return { events: null, failure: this.#failure }
    if (this.#isDone) return NOTHING
    EVENTS.clear()
    const { events, failure } = this.#reader.read(bytes)
    for (const event of events) {
      this.#failure = this.#take(event)
      if (this.#failure !== null || this.#isDone) break
    }
    // A stream that waits for its next event must not hold the memory of the last read.
    this.#walk.release()
    // Bytes behind `[DONE]` cannot fail a stream.
    if (!this.#isDone) this.#failure ??= failure
    return { events: EVENTS.lend(), failure: this.#failure }
  }

  /**
   * The provider's body ended.
   * @returns null: the stream was whole. D22
   */
  end(): Failure | null {
    if (this.#failure !== null) return this.#failure
    const isWhole = this.#choices.size > 0 && [...this.#choices.values()].every((finish) => finish !== null)
    return isWhole ? null : UNFINISHED
  }

  #take({ name, data, isOneLine }: SseEvent): Failure | null {
    if (name === 'error') return failureOfEvent(data, this.#redacted)
    const start = endOfSpace(data, 0)
    if (start === data.length) return null
    if (isDone(data, start)) {
      this.#isDone = true
      return null
    }
    const walk = this.#walk
    if (!walk.run(data, isOneLine)) return INVALID
    const { choices } = walk
    if (walk.hasError || choices.some(({ finish }) => finish === 'error'))
      return failureOfEvent(data, this.#redacted)
    this.#upstreamId ??= walk.upstreamId
    this.#remember(walk.usage)
    if (choices.length === 0) return null
    for (const choice of choices) this.#enter(choice)
    // A call has asked for fewer.
    if (this.#choices.size > CHOICES_MAX) return INVALID
    walk.write(EVENTS)
    if (walk.output.isThere) this.#hasOutput = true
    this.#outputBytes += walk.output.bytes
    return null
  }

  #enter({ index, hasRole, finish }: ReadChoice): void {
    const before = this.#choices.get(index)
    if (before === undefined && !hasRole) this.#writeRole(index)
    if (before === undefined || finish !== null) this.#choices.set(index, finish)
    this.#finishReason = finish ?? this.#finishReason
  }

  #writeRole(index: number): void {
    const { id, model, provider } = this.#head
    const choices = [{ index, delta: { role: 'assistant', content: '' }, finish_reason: null }]
    const created = this.#walk.createdS
    const event = { id, object: 'chat.completion.chunk', created, model, provider, choices }
    EVENTS.text(`data: ${JSON.stringify(event)}`)
    EVENTS.lineEnds()
  }

  #remember(usage: Buffer | null): void {
    if (usage !== null && usage.length <= USAGE_BYTES_MAX) this.#usage = Buffer.from(usage)
  }
}

function isDone(data: Buffer, start: number): boolean {
  return isAt(data, start, DONE) && endOfSpace(data, start + DONE.length) === data.length
}
