import { LOWER_N, OPEN_LIST, OPEN_OBJECT, QUOTE, type Span } from '../../schemas/values/json-bytes.ts'
import { ODD, type Members, type ObjectWalk, SeenMembers } from '../walk/object-walk.ts'
import { countAt, isAt } from '../walk/json-reader.ts'
import type { NativeHead } from '../parts.ts'
import { JSON_VALUES_MAX } from '../../schemas/limits/limits.ts'

/** A member that every response to a caller must have. */
interface Required {
  readonly name: string
  /** The JSON to add if the member is missing; null for a value that depends on the answer. */
  readonly put: string | null
  /** A null counts as missing, since validating clients refuse it. */
  readonly isNoNull?: true
  readonly bit: number
}

/** Members in the order in which missing ones are added. */
const REQUIRED: readonly Required[] = [
  { name: 'id', put: null, isNoNull: true },
  { name: 'object', put: '"response"', isNoNull: true },
  { name: 'created_at', put: null, isNoNull: true },
  { name: 'completed_at', put: 'null' },
  { name: 'status', put: null, isNoNull: true },
  { name: 'background', put: 'null' },
  { name: 'error', put: 'null' },
  { name: 'incomplete_details', put: 'null' },
  { name: 'instructions', put: 'null' },
  { name: 'max_output_tokens', put: 'null' },
  { name: 'metadata', put: '{}' },
  { name: 'model', put: null },
  { name: 'output', put: '[]', isNoNull: true },
  { name: 'parallel_tool_calls', put: 'true', isNoNull: true },
  { name: 'presence_penalty', put: 'null' },
  { name: 'frequency_penalty', put: 'null' },
  { name: 'previous_response_id', put: 'null' },
  { name: 'reasoning', put: 'null' },
  { name: 'service_tier', put: 'null' },
  { name: 'temperature', put: 'null' },
  { name: 'tool_choice', put: '"auto"', isNoNull: true },
  { name: 'tools', put: '[]', isNoNull: true },
  { name: 'top_p', put: 'null' },
  { name: 'truncation', put: 'null' },
  { name: 'usage', put: 'null' },
  { name: 'user', put: 'null' },
].map((one, nth) => ({ ...one, bit: 2 ** nth }) as Required)

const USAGE = REQUIRED.find(({ name }) => name === 'usage')?.bit ?? 0
const BY_LENGTH = new Map<number, readonly Required[]>()
for (const one of REQUIRED) BY_LENGTH.set(one.name.length, [...(BY_LENGTH.get(one.name.length) ?? []), one])

/** The most bytes, with quotes, of a provider's id that is kept; real ids are shorter. */
const ID_BYTES_MAX = 256
/** The most bytes of a time; a longer value is not a time. */
const TIME_BYTES_MAX = 32

/** The object of a response: an answer, or `response` of the events that have one. */
export class ResponseMembers implements Members {
  readonly itemsMax = 0
  /** The provider's own id, a JSON string. */
  id: Span | null = null
  /** A JSON string. */
  status: Span | null = null
  /** `service_tier`, a JSON string. */
  tier: Span | null = null
  /** The value, unless it is null. */
  error: Span | null = null
  /** `incomplete_details`, an object. */
  incomplete: Span | null = null
  /** The value, which may be the literal null. */
  usage: Span | null = null
  /** `output` is a list. */
  hasList = false
  readonly items: ItemMembers
  /** Offset of the closing brace; -1: no object was read. */
  close = -1
  readonly #walk: ObjectWalk
  readonly #head: NativeHead
  readonly #model: string
  readonly #seen = new SeenMembers()
  /** Members that stay. */
  #kept = 0

  constructor(walk: ObjectWalk, head: NativeHead) {
    this.#walk = walk
    this.#head = head
    this.#model = JSON.stringify(head.model)
    this.items = new ItemMembers(walk)
  }

  clear(): void {
    this.id = null
    this.status = null
    this.tier = null
    this.error = null
    this.incomplete = null
    this.usage = null
    this.hasList = false
    this.close = -1
    this.#seen.bits = 0
    this.#kept = 0
    this.items.clear()
  }

  begin(): void {
    this.clear()
  }

  member(key: number, length: number, at: number, depth: number): number {
    const { json } = this.#walk
    this.#kept++
    for (const one of BY_LENGTH.get(length) ?? []) {
      if (!isAt(json.bytes, key, one.name)) continue
      if (!this.#seen.isFirst(one.bit)) return ODD
      return this.#required(one, at, depth)
    }
    return json.value(at, depth)
  }

  /** Adds nothing: `added` adds the missing members later, since they depend on members after this object. */
  end(at: number): string {
    this.close = at
    return ''
  }

  other(): number {
    return ODD
  }

  /**
   * The missing members, with a comma before each.
   * @param status for an object without `status`
   * @param hasUsage false: the usage is added elsewhere
   */
  added(status: string, hasUsage: boolean): string {
    const members: string[] = []
    for (const { name, bit, put } of REQUIRED) {
      if (this.#seen.has(bit) || (bit === USAGE && !hasUsage)) continue
      members.push(`"${name}":${put ?? this.#put(name, status)}`)
    }
    const text = members.join(',')
    return text === '' || this.#kept === 0 ? text : `,${text}`
  }

  #put(name: string, status: string): string {
    if (name === 'model') return this.#model
    if (name === 'created_at') return String(this.#head.createdS)
    return JSON.stringify(name === 'id' ? ownId(this.#head) : status)
  }

  #required({ name, bit, isNoNull }: Required, at: number, depth: number): number {
    const { json } = this.#walk
    const { bytes } = json
    if (name === 'output' && bytes[at] === OPEN_LIST) {
      this.hasList = true
      return this.#walk.list(this.items, at, depth)
    }
    const end = json.value(at, depth)
    if (end < 0) return end
    if (name === 'model') return this.#walk.replace(at, end, this.#model)
    if (name === 'created_at' || name === 'completed_at') return this.#time(name, at, end)
    this.#note(name, at, end)
    if (isNoNull !== true || bytes[at] !== LOWER_N) return end
    // It is missing.
    this.#seen.bits &= ~bit
    this.#kept--
    return this.#walk.cut(end)
  }

  #note(name: string, start: number, end: number): void {
    const { bytes } = this.#walk.json
    const span = { start, end }
    if (name === 'usage') this.usage = span
    if (name === 'error' && bytes[start] !== LOWER_N) this.error = span
    if (name === 'incomplete_details' && bytes[start] === OPEN_OBJECT) this.incomplete = span
    if (bytes[start] !== QUOTE || end <= start + 2 || end - start > ID_BYTES_MAX) return
    if (name === 'id') this.id = span
    if (name === 'status') this.status = span
    if (name === 'service_tier') this.tier = span
  }

  /** Removes the fraction of a time: servers in Python write one, and validating clients refuse it. */
  #time(name: string, at: number, end: number): number {
    const { bytes } = this.#walk.json
    if (countAt(bytes, at, end) >= 0) return end
    if (name === 'completed_at' && bytes[at] === LOWER_N) return end
    const time = end - at > TIME_BYTES_MAX ? NaN : Math.floor(Number(bytes.toString('latin1', at, end)))
    const missing = name === 'created_at' ? String(this.#head.createdS) : 'null'
    return this.#walk.replace(at, end, Number.isSafeInteger(time) && time >= 0 ? String(time) : missing)
  }
}

/** The id of an answer whose provider gave none: the call's id in the form of the Responses dialect. */
function ownId({ id }: NativeHead): string {
  return id.replace(/^gen_/, 'resp_')
}

/** Members of items and parts that contain text written by a model. */
const TEXTS: readonly string[] = ['text', 'refusal', 'arguments', 'input', 'code']

/** Members of items that contain parts. */
const PARTS: readonly string[] = ['content', 'summary']

/** The end of the types of items that call a tool. */
const CALL = '_call"'

const MESSAGE = '"message"'

const SEARCH_CALL = '"web_search_call"'

const SEARCH = '"search"'

/** An item of `output`, or a part of such an item; its bytes are not changed. */
export class ItemMembers implements Members {
  readonly itemsMax = JSON_VALUES_MAX
  /** Bytes in UTF-8 of the texts of all items and parts so far. */
  bytes = 0
  /** Number of items so far, without parts. */
  count = 0
  /** One of them calls a tool. */
  isCall = false
  /** One of them is a message. */
  isMessage = false
  /** Web searches so far; each one has a price, page visits are free. */
  searches = 0
  readonly #walk: ObjectWalk
  readonly #action: ActionMembers
  #isSearchCall = false
  /** Null: these are parts. */
  readonly #parts: ItemMembers | null

  constructor(walk: ObjectWalk, isPart = false) {
    this.#walk = walk
    this.#action = new ActionMembers(walk)
    this.#parts = isPart ? null : new ItemMembers(walk, true)
  }

  clear(): void {
    this.bytes = 0
    this.count = 0
    this.isCall = false
    this.isMessage = false
    this.searches = 0
  }

  begin(): void {
    this.count++
    this.#isSearchCall = false
    this.#action.begin()
  }

  member(key: number, length: number, at: number, depth: number): number {
    const { json } = this.#walk
    const { bytes } = json
    if (bytes[at] === QUOTE) {
      if (isNamed(TEXTS, bytes, key, length)) return this.#text(at)
      const end = json.string(at)
      if (length !== 4 || !isAt(bytes, key, 'type') || end < 0) return end
      if (isAt(bytes, end - CALL.length, CALL)) {
        this.isCall = true
        this.#isSearchCall = isAt(bytes, at, SEARCH_CALL)
      } else if (isAt(bytes, at, MESSAGE)) this.isMessage = true
      return end
    }
    if (length === 6 && isAt(bytes, key, 'action') && bytes[at] === OPEN_OBJECT && this.#parts !== null)
      return this.#walk.object(this.#action, at, 0, depth)
    if (this.#parts !== null && bytes[at] === OPEN_LIST && isNamed(PARTS, bytes, key, length)) {
      this.#parts.clear()
      const end = this.#walk.list(this.#parts, at, depth)
      this.bytes += this.#parts.bytes
      return end
    }
    return json.value(at, depth)
  }

  end(): string {
    if (this.#isSearchCall && !this.#action.isOther) this.searches++
    return ''
  }

  other(at: number, depth: number): number {
    return this.#walk.json.value(at, depth)
  }

  #text(at: number): number {
    const { json } = this.#walk
    const before = json.textBytes
    const end = json.string(at)
    this.bytes += json.textBytes - before
    return end
  }
}

/** `action` of an item that calls a tool. */
class ActionMembers implements Members {
  readonly itemsMax = 0
  /** Not a search. */
  isOther = false
  readonly #walk: ObjectWalk

  constructor(walk: ObjectWalk) {
    this.#walk = walk
  }

  begin(): void {
    this.isOther = false
  }

  member(key: number, length: number, at: number, depth: number): number {
    const { json } = this.#walk
    if (length === 4 && isAt(json.bytes, key, 'type')) this.isOther = !isAt(json.bytes, at, SEARCH)
    return json.value(at, depth)
  }

  end(): string {
    return ''
  }

  other(): number {
    return ODD
  }
}

export function isNamed(names: readonly string[], bytes: Buffer, key: number, length: number): boolean {
  for (const name of names) if (name.length === length && isAt(bytes, key, name)) return true
  return false
}
