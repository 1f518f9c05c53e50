import { STREAM_MENDED_BYTES_MAX } from '../../schemas/inference/stream-limits.ts'
import type { Members, ObjectWalk } from '../walk/object-walk.ts'
import type { SpliceSink } from '../walk/splices.ts'
import { ResponseMembers, isNamed, ItemMembers } from './members.ts'
import type { NativeHead } from '../parts.ts'
import { writtenAnew } from '../walk/written-json.ts'
import { BACKSLASH, LOWER_N, OPEN_OBJECT, QUOTE, type Span } from '../../schemas/values/json-bytes.ts'
import { ODD, SeenMembers, WholeWalk } from '../walk/object-walk.ts'
import { countAt, isAt } from '../walk/json-reader.ts'

/** The most bytes of `incomplete_details` that are parsed; providers write one short word. */
const DETAILS_BYTES_MAX = 1_024

/** An event of responses, or a whole answer: finds the parts that Sluice replaces, adds or counts. All other bytes are passed on unchanged. */
export class ResponseWalk extends WholeWalk {
  readonly event: EventMembers
  readonly response: ResponseMembers
  readonly #top: Members
  readonly #mendedMax: number

  /** @param form `answer`: the bytes are a response themselves */
  constructor(head: NativeHead, form: 'event' | 'answer') {
    super()
    this.response = new ResponseMembers(this.walk, head)
    this.event = new EventMembers(this.walk, this.response)
    this.#top = form === 'event' ? this.event : this.response
    this.#mendedMax = form === 'event' ? STREAM_MENDED_BYTES_MAX : Infinity
  }

  /** Decoded at each call. */
  get upstreamId(): string | null {
    return this.textOf(this.response.id)
  }

  /** Status of the response, in the provider's words. */
  get status(): string | null {
    return this.textOf(this.response.status)
  }

  get serviceTier(): string | null {
    return this.textOf(this.response.tier)
  }

  /** Why the model stopped before the answer was complete. */
  get incompleteReason(): string | null {
    const at = this.response.incomplete
    if (at === null || at.end - at.start > DETAILS_BYTES_MAX) return null
    const { reason } = JSON.parse(this.bytes.toString('utf8', at.start, at.end)) as { reason?: unknown }
    return typeof reason === 'string' ? reason : null
  }

  /** The error of the response, as separate JSON. */
  get reportedError(): Buffer {
    const error = this.partOf(this.response.error) ?? Buffer.from('null')
    return Buffer.concat([Buffer.from('{"error":'), error, Buffer.from('}')])
  }

  /** The figures of the provider; null: the bytes have none. Valid as long as the bytes are. */
  get usage(): Buffer | null {
    return this.partOf(this.response.usage)
  }

  /** Writes all bytes and adds the missing members of the response. @param status for a response without a status */
  write(out: SpliceSink, status: string): void {
    const { close } = this.response
    if (close === -1) return this.walk.splices.apply(this.start, this.end, out)
    this.walk.splices.apply(this.start, close, out)
    out.text(this.response.added(status, true))
    this.walk.splices.apply(close, this.end, out)
  }

  /** Writes the parts before and after the usage of the response. @param status as for `write` */
  around(before: SpliceSink, behind: SpliceSink, status: string): void {
    const { splices } = this.walk
    const { close, usage } = this.response
    const added = this.response.added(status, false)
    if (usage === null) {
      splices.apply(this.start, close, before)
      before.text(`${added === '' ? ',' : `${added},`}"usage":`)
    } else {
      splices.apply(this.start, usage.start, before)
      splices.apply(usage.end, close, behind)
      behind.text(added)
    }
    splices.apply(close, this.end, behind)
  }

  protected override over(): number {
    return this.object(this.#top)
  }

  protected override anew(bytes: Buffer): Buffer | null {
    return bytes.length > this.#mendedMax ? null : writtenAnew(bytes, () => undefined)
  }
}

const TYPE = 1

const NUMBER = 2

const RESPONSE = 4

const ITEM = 8

/** Members that repeat a whole text whose fragments the deltas contained. */
const TEXTS: readonly string[] = ['text', 'refusal', 'arguments', 'input', 'code', 'transcript', 'diff']

const PICTURE: readonly string[] = ['partial_image_b64']

/** The most bytes of an event's type, with quotes; real types have fewer than half as many. */
const TYPE_BYTES_MAX = 128

const TYPE_FORM = /^\w[\w.-]*$/

/** The outermost object of an event of a stream of responses. */
export class EventMembers implements Members {
  readonly itemsMax = 0
  /** The event's sequence number in its stream. */
  number = 0
  /** The name in the event's `event:` line; the empty string without one. */
  name = ''
  /** The empty string: the event has no valid type, neither in its data nor in its `event:` line. */
  type = ''
  /** The provider reports a failure. */
  hasError = false
  /** A piece of text, reasoning, a picture, a sound or a tool call. */
  hasDelta = false
  /** Bytes in UTF-8 of the piece. */
  deltaBytes = 0
  /** Bytes in UTF-8 of whole texts. */
  textBytes = 0
  /** The event has no `response` that is an object. */
  isBare = true
  readonly item: ItemMembers
  readonly #walk: ObjectWalk
  readonly #response: ResponseMembers
  readonly #seen = new SeenMembers()
  #typeAt: Span | null = null

  constructor(walk: ObjectWalk, response: ResponseMembers) {
    this.#walk = walk
    this.#response = response
    this.item = new ItemMembers(walk)
  }

  begin(): void {
    this.type = ''
    this.hasError = false
    this.hasDelta = false
    this.deltaBytes = 0
    this.textBytes = 0
    this.isBare = true
    this.#seen.bits = 0
    this.#typeAt = null
    this.item.clear()
    this.#response.clear()
  }

  member(key: number, length: number, at: number, depth: number): number {
    const { json } = this.#walk
    const { bytes } = json
    if (length === 4 && isAt(bytes, key, 'type')) return this.#typed(at, depth)
    if (length === 4 && isAt(bytes, key, 'item')) return this.#item(at, depth)
    if (length === 5 && isAt(bytes, key, 'delta')) return this.#delta(at, depth)
    if (length === 5 && isAt(bytes, key, 'error')) {
      const end = json.value(at, depth)
      if (bytes[at] !== LOWER_N) this.hasError = true
      return end
    }
    if (length === 8 && isAt(bytes, key, 'response')) return this.#responded(at, depth)
    if (length === 15 && isAt(bytes, key, 'sequence_number')) return this.#numbered(at, depth)
    if (bytes[at] !== QUOTE) return json.value(at, depth)
    if (isNamed(TEXTS, bytes, key, length)) {
      const { end, bytes: more } = this.#string(at)
      this.textBytes += more
      return end
    }
    if (isNamed(PICTURE, bytes, key, length)) this.hasDelta = true
    return json.string(at)
  }

  end(): string {
    const at = this.#typeAt
    const type = at === null ? this.name : this.#walk.json.bytes.toString('latin1', at.start + 1, at.end - 1)
    this.type = TYPE_FORM.test(type) ? type : ''
    // Clients read the type from the data, so it is added there.
    return this.type === '' || at !== null ? '' : `"type":"${type}"`
  }

  other(): number {
    return ODD
  }

  #typed(at: number, depth: number): number {
    if (!this.#seen.isFirst(TYPE)) return ODD
    const { json } = this.#walk
    const end = json.value(at, depth)
    // An unusable type is removed; the name of the event replaces it.
    if (json.bytes[at] !== QUOTE || end <= at + 2 || end - at > TYPE_BYTES_MAX)
      return end < 0 ? end : this.#walk.cut(end)
    for (let nth = at; nth < end; nth++) if (json.bytes[nth] === BACKSLASH) return ODD
    this.#typeAt = { start: at, end }
    return end
  }

  #item(at: number, depth: number): number {
    if (!this.#seen.isFirst(ITEM)) return ODD
    const { json } = this.#walk
    return json.bytes[at] === OPEN_OBJECT ? this.#walk.object(this.item, at, 0, depth) : json.value(at, depth)
  }

  #delta(at: number, depth: number): number {
    const { json } = this.#walk
    if (json.bytes[at] !== QUOTE) {
      if (json.bytes[at] === OPEN_OBJECT) this.hasDelta = true
      return json.value(at, depth)
    }
    const { end, bytes } = this.#string(at)
    this.deltaBytes += bytes
    if (bytes > 0) this.hasDelta = true
    return end
  }

  #responded(at: number, depth: number): number {
    if (!this.#seen.isFirst(RESPONSE)) return ODD
    const { json } = this.#walk
    if (json.bytes[at] !== OPEN_OBJECT) return json.value(at, depth)
    this.isBare = false
    return this.#walk.object(this.#response, at, 0, depth)
  }

  #numbered(at: number, depth: number): number {
    if (!this.#seen.isFirst(NUMBER)) return ODD
    const { json } = this.#walk
    const end = json.value(at, depth)
    return countAt(json.bytes, at, end) === this.number
      ? end
      : this.#walk.replace(at, end, String(this.number))
  }

  #string(at: number): { readonly end: number; readonly bytes: number } {
    const { json } = this.#walk
    const before = json.textBytes
    const end = json.string(at)
    return { end, bytes: json.textBytes - before }
  }
}
