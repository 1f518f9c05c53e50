import type { Failure } from '../../schemas/failures.ts'
import { STREAM_MENDED_BYTES_MAX } from '../../schemas/inference/stream-limits.ts'
import { endOfSpace } from '../../schemas/values/json-bytes.ts'
import { EVENTS, INVALID, isDoneMark, NativeEvents } from '../native-events.ts'
import type { SseEvent } from '../sse-reader.ts'
import { EventWalk, type KeptEvent } from './walk.ts'
import { messageId, NO_USAGE, toldMembers } from './members.ts'
import { MessagesUsage } from './usage.ts'
import type { FinalEvents, ShownUsage, TokenUsage, NativeHead, FailureOf } from '../parts.ts'
import { usageBetween } from '../usage.ts'

const PING = 'ping'

/** An event with the usage so far, which may turn out to be the last one. */
interface HeldDelta extends KeptEvent {
  /** It tells the output, which clients require. */
  readonly isTold: boolean
}

/**
 * The stream of a provider that speaks Anthropic's messages, for a caller that does. Events pass as their
 * bytes came, whatever their types; only the first is changed (D13), and pings are not passed on. The last
 * `message_delta`, which has the usage, and `message_stop` are kept for `finalEvents`.
 */
export class NativeMessagesStream extends NativeEvents {
  /** Bytes in UTF-8 of delivered text, thinking and arguments of tools. D26. */
  outputBytes = 0
  protected readonly walk: EventWalk
  readonly #head: NativeHead
  readonly #usage = new MessagesUsage()
  #hasBegun = false
  #held: HeldDelta | null = null
  /** `message_stop`; null: it has not come. */
  #stop: Buffer | null = null

  constructor(head: NativeHead, failureOf: FailureOf) {
    super(failureOf)
    this.#head = head
    this.walk = new EventWalk(head)
  }

  override get heldBytes(): number {
    return super.heldBytes + (this.#held?.json.length ?? 0)
  }

  get usage(): TokenUsage | null {
    return this.#usage.tokens
  }

  get finalEvents(): FinalEvents {
    return { withUsage: (usage) => [this.#lastEvents(usage)] }
  }

  protected override take({ name, data, isOneLine }: SseEvent): Failure | null {
    if (name === 'error') return this.failureOf(data)
    const start = endOfSpace(data, 0)
    if (name === PING || start === data.length || isDoneMark(data, start)) return null
    const walk = this.walk
    walk.name = name
    if (!walk.run(data, isOneLine)) return INVALID
    if (walk.hasError) return this.failureOf(data)
    switch (walk.type) {
      case PING:
        return null
      case 'message_start':
        this.#begin()
        return null
      case 'message_stop':
        if (!this.#hasBegun) return INVALID
        this.#stop = walk.kept().json
        this.isDone = true
        return null
      default:
        if (!this.#hasBegun) this.#writeBegin()
        this.#flush()
        return walk.type === 'message_delta' ? this.#hold() : this.#pass()
    }
  }

  /** The first of several counts; a second would be an error to clients. */
  #begin(): void {
    const walk = this.walk
    const usage = walk.begunUsage
    if (usage !== null) this.#usage.begun(usage)
    this.upstreamId ??= walk.upstreamId
    this.reported = this.#usage.reported
    if (this.#hasBegun) return
    this.#hasBegun = true
    this.#pass()
  }

  #pass(): null {
    const { output } = this.walk
    this.walk.write(EVENTS)
    if (output.isThere) this.hasOutput = true
    this.outputBytes += output.bytes
    this.#usage.saw(this.walk.searches)
    return null
  }

  #hold(): Failure | null {
    const kept = this.walk.kept()
    if (kept.json.length > STREAM_MENDED_BYTES_MAX) return INVALID
    const isTold =
      kept.usage !== null &&
      kept.isUsageObject &&
      this.#usage.told(kept.json.subarray(kept.usage.start, kept.usage.end))
    this.reported = this.#usage.reported
    this.#held = { ...kept, isTold }
    this.finishReason = this.walk.stopReason ?? this.finishReason
    return null
  }

  /** The event that was kept was not the last of its kind. */
  #flush(): void {
    const held = this.#held
    if (held === null) return
    this.#held = null
    const output = (this.usage?.output ?? 0) + (this.usage?.reasoning ?? 0)
    const json = held.isTold ? held.json : withUsageOf(held, Buffer.from(`{"output_tokens":${output}}`))
    writeEvent('message_delta', json)
  }

  #lastEvents(shown: ShownUsage): Uint8Array {
    const held = this.#held ?? NO_DELTA
    const { usage } = held
    const isShown = held.isTold && usage !== null && this.#usage.isCredible(this.hasOutput)
    const told = isShown ? toldMembers(held.json.subarray(usage.start, usage.end)) : null
    EVENTS.clear()
    const put = usageBetween({ before: [], told, after: [] }, shown)
    writeEvent('message_delta', withUsageOf(held, Buffer.concat(put)))
    if (this.#stop !== null) writeEvent('message_stop', this.#stop)
    return EVENTS.take() ?? Buffer.alloc(0)
  }

  #writeBegin(): void {
    this.#hasBegun = true
    const id = JSON.stringify(messageId(this.#head))
    const model = JSON.stringify(this.#head.model)
    const message =
      `{"id":${id},"type":"message","role":"assistant","model":${model},"content":[],` +
      `"stop_reason":null,"stop_sequence":null,"usage":${NO_USAGE}}`
    writeEvent('message_start', Buffer.from(`{"type":"message_start","message":${message}}`))
  }
}

/** For a provider that tells neither why a message ended nor what it used. */
const NO_DELTA: HeldDelta = {
  json: Buffer.from('{"type":"message_delta","delta":{"stop_reason":null,"stop_sequence":null}}'),
  usage: null,
  isUsageObject: false,
  isTold: false,
}

function withUsageOf({ json, usage }: KeptEvent, put: Uint8Array): Buffer {
  if (usage !== null) return Buffer.concat([json.subarray(0, usage.start), put, json.subarray(usage.end)])
  // An event has a type at least.
  return Buffer.concat([json.subarray(0, -1), Buffer.from(',"usage":'), put, json.subarray(-1)])
}

function writeEvent(name: string, json: Buffer): void {
  EVENTS.text(`event: ${name}\ndata: `)
  EVENTS.whole(json)
  EVENTS.lineEnds()
}
