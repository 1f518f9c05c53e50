import type { Failure } from '../../schemas/failures.ts'
import { CHOICES_MAX } from '../../schemas/inference/inference-limits.ts'
import { USAGE_BYTES_MAX } from '../../schemas/models/provider-limits.ts'
import type { ThinksIn } from '../../schemas/models/text-models.ts'
import { endOfSpace } from '../../schemas/values/json-bytes.ts'
import { EVENTS, INVALID, isDoneMark, NativeEvents } from '../native-events.ts'
import type { SseEvent } from '../sse-reader.ts'
import { chatUsageOf } from './usage.ts'
import { ChatWalk } from './walk.ts'
import type { TokenUsage, NativeHead, FailureOf } from '../parts.ts'
import { reportedWith } from '../usage.ts'
import type { ReadChoice } from './top-members.ts'

/**
 * The stream of a provider that speaks OpenAI's chat, for a caller that does. Events pass as their bytes came
 * but for what D13 names; usage is taken out and remembered, and an event without choices is not passed on.
 * A choice begins with its role. An event that has to be parsed is parsed on the loop, up to
 * STREAM_MENDED_BYTES_MAX.
 */
export class NativeChatStream extends NativeEvents {
  /** Bytes in UTF-8 of delivered text, reasoning and arguments of tools. D26. */
  outputBytes = 0
  /** The usage comes in an event of Sluice's own. D7. */
  readonly finalEvents = null
  protected readonly walk: ChatWalk
  readonly #head: NativeHead
  /** Choices that have begun; null: a choice that goes on. */
  readonly #choices = new Map<number, string | null>()
  #usage: Buffer | null = null

  constructor(head: NativeHead, failureOf: FailureOf) {
    super(failureOf)
    this.#head = head
    this.walk = new ChatWalk(head, 'event')
  }

  /** The last usage that the provider reported; null: none, not numbers, or no output after some was sent. D24. */
  get usage(): TokenUsage | null {
    return this.#usage === null ? null : chatUsageOf(this.#usage, this.hasOutput)
  }

  get thinksIn(): ThinksIn | null {
    return this.walk.output.thinksIn
  }

  /** The same in all events. D23. */
  get createdS(): number {
    return this.walk.createdS
  }

  protected override get isWhole(): boolean {
    return this.#choices.size > 0 && [...this.#choices.values()].every((finish) => finish !== null)
  }

  protected override take({ name, data, isOneLine }: SseEvent): Failure | null {
    if (name === 'error') return this.failureOf(data)
    const start = endOfSpace(data, 0)
    if (start === data.length) return null
    if (isDoneMark(data, start)) {
      this.isDone = true
      return null
    }
    const walk = this.walk
    if (!walk.run(data, isOneLine)) return INVALID
    const { choices } = walk
    if (walk.hasError || choices.some(({ finish }) => finish === 'error')) return this.failureOf(data)
    this.upstreamId ??= walk.upstreamId
    const { serviceTier } = walk
    if (serviceTier !== null) this.reported = reportedWith(this.reported, { service_tier: serviceTier })
    this.#remember(walk.usage)
    if (choices.length === 0) return null
    if (!walk.placeCalls()) return INVALID
    for (const choice of choices) this.#enter(choice)
    // A call has asked for fewer.
    if (this.#choices.size > CHOICES_MAX) return INVALID
    walk.write(EVENTS)
    if (walk.output.isThere) this.hasOutput = true
    this.outputBytes += walk.output.bytes
    return null
  }

  #enter({ index, hasRole, finish }: ReadChoice): void {
    const before = this.#choices.get(index)
    if (before === undefined && !hasRole) this.#writeRole(index)
    if (before === undefined || finish !== null) this.#choices.set(index, finish)
    this.finishReason = finish ?? this.finishReason
  }

  #writeRole(index: number): void {
    const { id, model, provider } = this.#head
    const choices = [{ index, delta: { role: 'assistant', content: '' }, finish_reason: null }]
    const { createdS: created } = this
    const event = { id, object: 'chat.completion.chunk', created, model, provider, choices }
    EVENTS.text(`data: ${JSON.stringify(event)}`)
    EVENTS.lineEnds()
  }

  #remember(usage: Buffer | null): void {
    if (usage !== null && usage.length <= USAGE_BYTES_MAX) this.#usage = Buffer.from(usage)
  }
}
