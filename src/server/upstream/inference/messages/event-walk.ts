import { isUtf8 } from 'node:buffer'
import { STREAM_MENDED_BYTES_MAX } from '../../../../schemas/inference/stream-limits.ts'
import { endOfSpace, OPEN_OBJECT, QUOTE, WRONG, type Span } from '../../../../schemas/values/json-bytes.ts'
import { Output } from '../chat/delta-members.ts'
import type { EventBuffer } from '../chat/event-buffer.ts'
import { ODD, type Members, ObjectWalk } from '../chat/object-walk.ts'
import { isAt } from '../json-reader.ts'
import type { NativeHead } from '../protocol.ts'
import { objectOf, writtenAnew } from '../written-anew.ts'
import { BlockMembers, DeltaMembers } from './block-members.ts'
import { MessageMembers } from './message-members.ts'

const NO_BYTES = Buffer.alloc(0)
/** Characters of the name of an event; no protocol has half as many. */
const NAME = /^\w[\w.]{0,63}$/

/**
 * Walks over an event of a messages stream as the provider wrote it: finds what Sluice replaces in the first
 * event, and what it counts in all of them. All other bytes stay as they came. D13.
 */
export class EventWalk {
  readonly output = new Output()
  /** What was walked over: the provider's bytes, or those bytes written anew. */
  bytes: Buffer = NO_BYTES
  readonly #walk = new ObjectWalk()
  readonly #top: EventMembers
  #start = 0
  #end = 0

  constructor(head: NativeHead) {
    this.#top = new EventMembers(this.#walk, head, this.output)
  }

  get type(): string {
    return this.#top.type
  }

  get hasError(): boolean {
    return this.#top.hasError || this.#top.type === 'error'
  }

  /** Of `message_start`. Decoded at each call. */
  get upstreamId(): string | null {
    const { id } = this.#top.message
    return id === null ? null : (JSON.parse(this.bytes.toString('utf8', id.start, id.end)) as string)
  }

  /** The usage of the message, as it came. Valid as long as the bytes are. */
  get begunUsage(): Buffer | null {
    return this.#slice(this.#top.message.usage)
  }

  /** Of `message_delta`. */
  get stopReason(): string | null {
    return this.#top.delta.stopReason
  }

  /** The event in memory of its own, and the value of its `usage`, an object; null: it has none. */
  kept(): KeptEvent {
    const { usage } = this.#top
    return {
      json: Buffer.from(this.bytes.subarray(this.#start, this.#end)),
      usage: usage === null ? null : { start: usage.start - this.#start, end: usage.end - this.#start },
      isUsageObject: usage !== null && this.bytes[usage.start] === OPEN_OBJECT,
    }
  }

  /**
   * @param isOneLine the bytes have no line end in them
   * @param name of the event, for data that names no type
   * @returns false: the bytes are no JSON object, or no event that a client could read
   */
  run(bytes: Buffer, isOneLine: boolean, name: string): boolean {
    const end = isOneLine && isUtf8(bytes) ? this.#over(bytes) : ODD
    if (end !== ODD) return end !== WRONG
    const mended = bytes.length > STREAM_MENDED_BYTES_MAX ? null : mend(bytes, name)
    return mended !== null && this.#over(mended) >= 0
  }

  /** Writes the event that was walked over; only in the first event of a stream anything is replaced. */
  write(out: EventBuffer): void {
    out.source = this.bytes
    out.text(`event: ${this.type}\ndata: `)
    if (this.type === 'message_start') this.#walk.splices.apply(this.#start, this.#end, out)
    else out.bytes(this.#start, this.#end)
    out.lineEnds()
  }

  /** Lets go of the bytes. What was counted stays. */
  release(): void {
    this.bytes = NO_BYTES
    this.#walk.begin(NO_BYTES)
  }

  #over(bytes: Buffer): number {
    this.bytes = bytes
    this.#walk.begin(bytes)
    this.output.clear()
    this.#start = endOfSpace(bytes, 0)
    if (bytes[this.#start] !== OPEN_OBJECT) return ODD
    const end = this.#walk.object(this.#top, this.#start, 0, 1)
    if (end < 0) return end
    if (endOfSpace(bytes, end) !== bytes.length) return WRONG
    this.#end = end
    if (!OUTPUTS.has(this.type)) this.output.clear()
    return this.hasError || this.#top.isWhole ? end : ODD
  }

  #slice(span: Span | null): Buffer | null {
    return span === null ? null : this.bytes.subarray(span.start, span.end)
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
  readonly #blocks: BlockMembers
  #seen = 0

  constructor(walk: ObjectWalk, head: NativeHead, output: Output) {
    this.#walk = walk
    this.#blocks = new BlockMembers(walk, output)
    this.message = new MessageMembers(walk, { form: 'start', head, blocks: this.#blocks })
    this.delta = new DeltaMembers(walk, output)
  }

  begin(): void {
    this.type = ''
    this.hasError = false
    this.usage = null
    this.#seen = 0
    this.message.begin()
    this.delta.begin()
  }

  /** Whether a client can read the event. */
  get isWhole(): boolean {
    if (this.type === '') return false
    const needed = NEEDED.get(this.type)
    return needed === undefined || (this.#seen & OBJECTS[needed]) !== 0
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
        if (isAt(bytes, key, 'content_block')) return this.#within(BLOCK, this.#blocks, at, depth)
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

  #isFirst(member: number): boolean {
    const isFirst = (this.#seen & member) === 0
    this.#seen |= member
    return isFirst
  }

  #typed(at: number, depth: number): number {
    if (!this.#isFirst(TYPE)) return ODD
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
    return this.#isFirst(member) ? this.#walk.object(members, at, 0, depth) : ODD
  }

  #used(at: number, depth: number): number {
    if (!this.#isFirst(USAGE)) return ODD
    const end = this.#walk.json.value(at, depth)
    if (end > 0) this.usage = { start: at, end }
    return end
  }

  #failed(at: number, depth: number): number {
    const { json } = this.#walk
    const isNothing = isAt(json.bytes, at, 'null') || isAt(json.bytes, at, 'false')
    if (!this.#isFirst(ERROR)) return ODD
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
