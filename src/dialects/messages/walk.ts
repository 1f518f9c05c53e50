import { STREAM_MENDED_BYTES_MAX } from '../../schemas/inference/stream-limits.ts'
import { OPEN_OBJECT, QUOTE, type Span } from '../../schemas/values/json-bytes.ts'
import { objectOf } from '../../schemas/values/members.ts'
import { isAt } from '../walk/json-reader.ts'
import { ODD, type Members, type ObjectWalk, SeenMembers, Output, WholeWalk } from '../walk/object-walk.ts'
import { MessageMembers, BlockMembers, DeltaMembers } from './members.ts'
import type { NativeHead } from '../parts.ts'
import type { EventBuffer } from '../walk/splices.ts'
import { writtenAnew } from '../walk/written-json.ts'

/** Characters of the name of an event; no protocol has half as many. */
const NAME = /^\w[\w.]{0,63}$/

/**
 * Walks over an event of a messages stream as the provider wrote it: finds what Sluice replaces in the first
 * event, and what it counts in all of them. All other bytes stay as they came. D13.
 */
export class EventWalk extends WholeWalk {
  readonly output = new Output()
  /** Of the event's `event:` line, for data that names no type. */
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

  /** Of `message_start`. Decoded at each call. */
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

  /** The event in memory of its own, and the value of its `usage`, an object; null: it has none. */
  kept(): KeptEvent {
    const { usage } = this.#top
    return {
      json: Buffer.from(this.bytes.subarray(this.start, this.end)),
      usage: usage === null ? null : { start: usage.start - this.start, end: usage.end - this.start },
      isUsageObject: usage !== null && this.bytes[usage.start] === OPEN_OBJECT,
    }
  }

  /** Writes the event that was walked over; only in the first event of a stream anything is replaced. */
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

export interface KeptEvent {
  /** One line. */
  readonly json: Buffer
  /** The value of `usage` in it; null: it has no such member. */
  readonly usage: Span | null
  readonly isUsageObject: boolean
}

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

/** The outermost object of an event. */
class EventMembers implements Members {
  readonly itemsMax = 0
  /** The empty string: the event names none that can be written. */
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

  /** A value that is no object is passed on, and does not count as there. */
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

const OBJECTS = { message: MESSAGE, content_block: BLOCK, delta: DELTA } as const

/** As `writtenAnew`, with the type that the name of the event tells, and without nulls for objects. */
function mend(bytes: Buffer, name: string): Buffer | null {
  return writtenAnew(bytes, (event) => {
    if (typeof event['type'] !== 'string' && NAME.test(name)) event['type'] = name
    if (event['type'] === 'message_start') event['message'] = objectOf(event['message']) ?? {}
    if (event['type'] === 'message_delta')
      event['delta'] = objectOf(event['delta']) ?? { stop_reason: null, stop_sequence: null }
  })
}
