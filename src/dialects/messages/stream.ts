import type { Failure } from '../../schemas/failures.ts'
import { STREAM_MENDED_BYTES_MAX } from '../../schemas/inference/stream-limits.ts'
import { endOfSpace, OPEN_OBJECT, QUOTE, type Span } from '../../schemas/values/json-bytes.ts'
import { objectOf } from '../../schemas/values/members.ts'
import { EVENTS, INVALID, isDoneMark, NativeEvents } from '../native-events.ts'
import type { SseEvent } from '../sse-reader.ts'
import type { FailureOf, FinalEvents, NativeHead, ShownUsage, TokenUsage } from '../parts.ts'
import { usageBetween } from '../usage.ts'
import { isAt } from '../walk/json-reader.ts'
import { ODD, type Members, type ObjectWalk, SeenMembers, Output, WholeWalk } from '../walk/object-walk.ts'
import type { EventBuffer } from '../walk/splices.ts'
import { writtenAnew } from '../walk/written-json.ts'
import { BlockMembers, DeltaMembers, messageId, MessageMembers, NO_USAGE, usageMembersOf } from './members.ts'
import { MessagesUsage } from './usage.ts'

const PING = 'ping'

/** An event with the usage so far, held back because it may be the last one. */
interface HeldDelta extends KeptEvent {
  /** It reports output tokens, which clients require. */
  readonly hasOutputCount: boolean
}

/**
 * The stream of a provider that speaks Anthropic's messages, for a caller that does. Events of all types are
 * passed on with unchanged bytes, except the first, which is changed, and pings, which are left out. The last
 * `message_delta`, which has the usage, and `message_stop` are kept for `finalEvents`.
 */
export class NativeMessagesStream extends NativeEvents {
  /** Bytes in UTF-8 of delivered text, thinking and arguments of tools. */
  outputBytes = 0
  protected readonly walk: EventWalk
  readonly #head: NativeHead
  readonly #usage = new MessagesUsage()
  #hasBegun = false
  #held: HeldDelta | null = null
  /** The event `message_stop`; null: not received so far. */
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

  /** Only the first `message_start` counts; clients treat a second one as an error. */
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
    const hasOutputCount =
      kept.usage !== null &&
      kept.isUsageObject &&
      this.#usage.update(kept.json.subarray(kept.usage.start, kept.usage.end))
    this.reported = this.#usage.reported
    this.#held = { ...kept, hasOutputCount }
    this.finishReason = this.walk.stopReason ?? this.finishReason
    return null
  }

  /** Passes on the held event, which was not the last of its kind. */
  #flush(): void {
    const held = this.#held
    if (held === null) return
    this.#held = null
    const output = (this.usage?.output ?? 0) + (this.usage?.reasoning ?? 0)
    const json = held.hasOutputCount
      ? held.json
      : withUsageOf(held, Buffer.from(`{"output_tokens":${output}}`))
    writeEvent('message_delta', json)
  }

  #lastEvents(shown: ShownUsage): Uint8Array {
    const held = this.#held ?? NO_DELTA
    const { usage } = held
    const isShown = held.hasOutputCount && usage !== null && this.#usage.isCredible(this.hasOutput)
    const usageMembers = isShown ? usageMembersOf(held.json.subarray(usage.start, usage.end)) : null
    EVENTS.clear()
    const put = usageBetween({ before: [], usageMembers, after: [] }, shown)
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

/** Used when the provider reports neither a stop reason nor usage. */
const NO_DELTA: HeldDelta = {
  json: Buffer.from('{"type":"message_delta","delta":{"stop_reason":null,"stop_sequence":null}}'),
  usage: null,
  isUsageObject: false,
  hasOutputCount: false,
}

function withUsageOf({ json, usage }: KeptEvent, put: Uint8Array): Buffer {
  if (usage !== null) return Buffer.concat([json.subarray(0, usage.start), put, json.subarray(usage.end)])
  // An event has at least the member `type`, so the comma is valid.
  return Buffer.concat([json.subarray(0, -1), Buffer.from(',"usage":'), put, json.subarray(-1)])
}

function writeEvent(name: string, json: Buffer): void {
  EVENTS.text(`event: ${name}\ndata: `)
  EVENTS.whole(json)
  EVENTS.lineEnds()
}

/**
 * Walks over an event of a messages stream as the provider wrote it: finds the parts that Sluice replaces in
 * the first event and the output that it counts in all events. All other bytes are passed on unchanged.
 */
class EventWalk extends WholeWalk {
  readonly output = new Output()
  /** The name in the event's `event:` line, used when the data has no type. */
  name = ''
  readonly #top: EventMembers

  constructor(head: NativeHead) {
    super()
    this.#top = new EventMembers(this.walk, head, this.output)
  }

  get type(): string {
    return this.#top.type
  }

  get hasError(): boolean {
    return this.#top.hasError || this.#top.type === 'error'
  }

  /** The provider's id in `message_start`, decoded at each call. */
  get upstreamId(): string | null {
    return this.textOf(this.#top.message.id)
  }

  /** The usage of the message, as it came. Valid as long as the bytes are. */
  get begunUsage(): Buffer | null {
    return this.partOf(this.#top.message.usage)
  }

  /** Searches of the web whose results the event has. */
  get searches(): number {
    return this.#top.blocks.searches
  }

  /** Of `message_delta`. */
  get stopReason(): string | null {
    return this.#top.delta.stopReason
  }

  /** A copy of the event, with the place of its `usage` object; null: it has none. */
  kept(): KeptEvent {
    const { usage } = this.#top
    return {
      json: Buffer.from(this.bytes.subarray(this.start, this.end)),
      usage: usage === null ? null : { start: usage.start - this.start, end: usage.end - this.start },
      isUsageObject: usage !== null && this.bytes[usage.start] === OPEN_OBJECT,
    }
  }

  /** Writes the event that was walked over; only the first event of a stream is changed. */
  write(out: EventBuffer): void {
    out.source = this.bytes
    out.text(`event: ${this.type}\ndata: `)
    if (this.type === 'message_start') this.walk.splices.apply(this.start, this.end, out)
    else out.bytes(this.start, this.end)
    out.lineEnds()
  }

  protected override over(): number {
    this.output.clear()
    const end = this.object(this.#top)
    if (end < 0) return end
    if (!OUTPUTS.has(this.type)) this.output.clear()
    return this.hasError || this.#top.isWhole ? end : ODD
  }

  protected override anew(bytes: Buffer): Buffer | null {
    return bytes.length > STREAM_MENDED_BYTES_MAX ? null : mend(bytes, this.name)
  }
}

interface KeptEvent {
  /** One line. */
  readonly json: Buffer
  /** The value of `usage` in it; null: it has no such member. */
  readonly usage: Span | null
  readonly isUsageObject: boolean
}

/** Valid event names, at most 64 characters; real names have fewer than half as many. */
const NAME = /^\w[\w.]{0,63}$/
/** Events that may have an output. */
const OUTPUTS: ReadonlySet<string> = new Set(['message_start', 'content_block_start', 'content_block_delta'])
/** Members without which clients cannot read an event. */
const NEEDED: ReadonlyMap<string, 'message' | 'content_block' | 'delta'> = new Map([
  ['message_start', 'message'],
  ['content_block_start', 'content_block'],
  ['content_block_delta', 'delta'],
  ['message_delta', 'delta'],
])

const TYPE = 1
const MESSAGE = 2
const BLOCK = 4
const DELTA = 8
const USAGE = 16
const ERROR = 32
const OBJECTS = { message: MESSAGE, content_block: BLOCK, delta: DELTA } as const

/** The outermost object of an event. */
class EventMembers implements Members {
  readonly itemsMax = 0
  /** The empty string: the event has no type, or an invalid one. */
  type = ''
  hasError = false
  usage: Span | null = null
  readonly message: MessageMembers
  readonly delta: DeltaMembers
  readonly #walk: ObjectWalk
  readonly blocks: BlockMembers
  readonly #seen = new SeenMembers()

  constructor(walk: ObjectWalk, head: NativeHead, output: Output) {
    this.#walk = walk
    this.blocks = new BlockMembers(walk, output)
    this.message = new MessageMembers(walk, { form: 'start', head, blocks: this.blocks })
    this.delta = new DeltaMembers(walk, output)
  }

  begin(): void {
    this.type = ''
    this.hasError = false
    this.usage = null
    this.#seen.bits = 0
    this.blocks.searches = 0
    this.message.begin()
    this.delta.begin()
  }

  /** Whether a client can read the event. */
  get isWhole(): boolean {
    if (this.type === '') return false
    const needed = NEEDED.get(this.type)
    return needed === undefined || this.#seen.has(OBJECTS[needed])
  }

  member(key: number, length: number, at: number, depth: number): number {
    const { bytes } = this.#walk.json
    switch (length) {
      case 4:
        if (isAt(bytes, key, 'type')) return this.#typed(at, depth)
        break
      case 5:
        if (isAt(bytes, key, 'delta')) return this.#within(DELTA, this.delta, at, depth)
        if (isAt(bytes, key, 'usage')) return this.#used(at, depth)
        if (isAt(bytes, key, 'error')) return this.#failed(at, depth)
        break
      case 7:
        if (isAt(bytes, key, 'message')) return this.#within(MESSAGE, this.message, at, depth)
        break
      case 13:
        if (isAt(bytes, key, 'content_block')) return this.#within(BLOCK, this.blocks, at, depth)
        break
    }
    return this.#walk.json.value(at, depth)
  }

  end(): string {
    return ''
  }

  other(): number {
    return ODD
  }

  #typed(at: number, depth: number): number {
    if (!this.#seen.isFirst(TYPE)) return ODD
    const { json } = this.#walk
    const end = json.value(at, depth)
    if (json.bytes[at] !== QUOTE || end < 0) return end
    const name = json.bytes.toString('latin1', at + 1, end - 1)
    if (NAME.test(name)) this.type = name
    return end
  }

  /** A value that is not an object is passed on but counts as missing. */
  #within(member: number, members: Members, at: number, depth: number): number {
    if (this.#walk.json.bytes[at] !== OPEN_OBJECT) return this.#walk.json.value(at, depth)
    return this.#seen.isFirst(member) ? this.#walk.object(members, at, 0, depth) : ODD
  }

  #used(at: number, depth: number): number {
    if (!this.#seen.isFirst(USAGE)) return ODD
    const end = this.#walk.json.value(at, depth)
    if (end > 0) this.usage = { start: at, end }
    return end
  }

  #failed(at: number, depth: number): number {
    const { json } = this.#walk
    const isNothing = isAt(json.bytes, at, 'null') || isAt(json.bytes, at, 'false')
    if (!this.#seen.isFirst(ERROR)) return ODD
    if (!isNothing) this.hasError = true
    return json.value(at, depth)
  }
}

/** As `writtenAnew`, but takes the type from the event's name and replaces nulls where clients require objects. */
function mend(bytes: Buffer, name: string): Buffer | null {
  return writtenAnew(bytes, (event) => {
    if (typeof event['type'] !== 'string' && NAME.test(name)) event['type'] = name
    if (event['type'] === 'message_start') event['message'] = objectOf(event['message']) ?? {}
    if (event['type'] === 'message_delta')
      event['delta'] = objectOf(event['delta']) ?? { stop_reason: null, stop_sequence: null }
  })
}
