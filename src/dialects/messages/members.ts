import { OPEN_LIST, OPEN_OBJECT, QUOTE, type Span, LOWER_N } from '../../schemas/values/json-bytes.ts'
import { countAt, isAt } from '../walk/json-reader.ts'
import { ODD, type Members, SeenMembers, type Output, ObjectWalk } from '../walk/object-walk.ts'
import type { NativeHead } from '../parts.ts'
import { USAGE_OURS } from '../../schemas/inference/text-members.ts'
import { writtenAnew } from '../walk/written-json.ts'

/** `start`: within the first event of a stream. `answer`: a whole answer. */
export type MessageForm = 'start' | 'answer'

/** The usage at the beginning of a message, before anything was counted. */
export const NO_USAGE =
  '{"input_tokens":0,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":0}'

/** Id of a message when the provider gives none. */
export function messageId({ id }: Pick<NativeHead, 'id'>): string {
  return `msg_${id.slice(id.indexOf('_') + 1)}`
}

const ID = 1
const TYPE = 2
const ROLE = 4
const MODEL = 8
const CONTENT = 16
const STOP_REASON = 32
const STOP_SEQUENCE = 64
const USAGE = 128
const ERROR = 256

/** The most bytes, with quotes, of a provider's id that is kept; real ids are shorter. */
const ID_BYTES_MAX = 256

/** A message. Clients require all its usual members, and no null in its usage. */
export class MessageMembers implements Members {
  readonly itemsMax = 0
  /** The provider's own id, a text of JSON; null: the message has none. */
  id: Span | null = null
  /** The value of `usage`; null: the message has none. */
  usage: Span | null = null
  stopReason: Span | null = null
  /** The provider reports a failure. */
  hasError = false
  readonly #walk: ObjectWalk
  readonly #form: MessageForm
  readonly #blocks: BlockMembers
  readonly #usage: StartUsage
  readonly #texts: { readonly id: string; readonly model: string }
  readonly #seen = new SeenMembers()

  constructor(
    walk: ObjectWalk,
    more: { readonly form: MessageForm; readonly head: NativeHead; readonly blocks: BlockMembers },
  ) {
    this.#walk = walk
    this.#form = more.form
    this.#blocks = more.blocks
    this.#usage = new StartUsage(walk)
    this.#texts = { id: JSON.stringify(messageId(more.head)), model: JSON.stringify(more.head.model) }
  }

  begin(): void {
    this.#seen.bits = 0
    this.id = null
    this.usage = null
    this.stopReason = null
    this.hasError = false
  }

  /** Whether the members that Sluice cannot add are present. */
  get isMessage(): boolean {
    return this.#seen.has(CONTENT) && !this.hasError
  }

  member(key: number, length: number, at: number, depth: number): number {
    const { json } = this.#walk
    switch (length) {
      case 2:
        if (isAt(json.bytes, key, 'id')) return this.#id(at, depth)
        break
      case 4:
        if (isAt(json.bytes, key, 'type')) return this.#fixedMember(TYPE, at, depth)
        if (isAt(json.bytes, key, 'role')) return this.#fixedMember(ROLE, at, depth)
        break
      case 5:
        if (isAt(json.bytes, key, 'model'))
          return this.#seen.isFirst(MODEL) ? this.#put(at, depth, this.#texts.model) : ODD
        if (isAt(json.bytes, key, 'usage')) return this.#used(at, depth)
        if (isAt(json.bytes, key, 'error')) return this.#failed(at, depth)
        break
      case 7:
        if (isAt(json.bytes, key, 'content')) return this.#content(at, depth)
        break
      case 11:
        if (isAt(json.bytes, key, 'stop_reason')) return this.#stopped(at, depth)
        break
      case 13:
        if (isAt(json.bytes, key, 'stop_sequence')) this.#seen.isFirst(STOP_SEQUENCE)
        break
    }
    return json.value(at, depth)
  }

  end(): string {
    const added: string[] = []
    const add = (member: number, text: string): void => {
      if (!this.#seen.has(member)) added.push(text)
    }
    add(ID, `"id":${this.#texts.id}`)
    add(TYPE, '"type":"message"')
    add(ROLE, '"role":"assistant"')
    add(MODEL, `"model":${this.#texts.model}`)
    if (this.#form === 'start') add(CONTENT, '"content":[]')
    add(STOP_REASON, '"stop_reason":null')
    add(STOP_SEQUENCE, '"stop_sequence":null')
    // The figures of a whole answer are added last, by its writer.
    add(USAGE, this.#form === 'start' ? `"usage":${NO_USAGE}` : '"usage":')
    return added.join(',')
  }

  other(): number {
    return ODD
  }

  #put(at: number, depth: number, text: string): number {
    return this.#walk.replace(at, this.#walk.json.value(at, depth), text)
  }

  #id(at: number, depth: number): number {
    if (!this.#seen.isFirst(ID)) return ODD
    const { json } = this.#walk
    const end = json.value(at, depth)
    if (json.bytes[at] !== QUOTE || end === at + 2) return this.#walk.replace(at, end, this.#texts.id)
    if (end - at <= ID_BYTES_MAX) this.id = { start: at, end }
    return end
  }

  /** `type` and `role` have one value each. */
  #fixedMember(member: number, at: number, depth: number): number {
    if (!this.#seen.isFirst(member)) return ODD
    const { bytes } = this.#walk.json
    if (member === TYPE && isAt(bytes, at, '"error"')) this.hasError = true
    return this.#put(at, depth, member === TYPE ? '"message"' : '"assistant"')
  }

  #content(at: number, depth: number): number {
    if (!this.#seen.isFirst(CONTENT)) return ODD
    if (this.#walk.json.bytes[at] === OPEN_LIST) return this.#walk.list(this.#blocks, at, depth)
    return this.#form === 'start' ? this.#put(at, depth, '[]') : ODD
  }

  #stopped(at: number, depth: number): number {
    if (!this.#seen.isFirst(STOP_REASON)) return ODD
    const end = this.#walk.json.value(at, depth)
    if (this.#walk.json.bytes[at] === QUOTE && end - at <= ID_BYTES_MAX) this.stopReason = { start: at, end }
    return end
  }

  #used(at: number, depth: number): number {
    if (!this.#seen.isFirst(USAGE)) return ODD
    const { json } = this.#walk
    const isObject = json.bytes[at] === OPEN_OBJECT
    if (this.#form === 'start' && !isObject) return this.#put(at, depth, NO_USAGE)
    const end = this.#form === 'start' ? this.#walk.object(this.#usage, at, 0, depth) : json.value(at, depth)
    if (end > 0) this.usage = { start: at, end }
    return end
  }

  #failed(at: number, depth: number): number {
    if (!this.#seen.isFirst(ERROR)) return ODD
    const { json } = this.#walk
    if (isAt(json.bytes, at, 'null') || isAt(json.bytes, at, 'false'))
      return this.#walk.cut(json.value(at, depth))
    this.hasError = true
    return json.value(at, depth)
  }
}

const INPUT_TOKENS = 1
const OUTPUT_TOKENS = 2

/** `usage` of the first event; clients add its two figures. */
class StartUsage implements Members {
  readonly itemsMax = 0
  readonly #walk: ObjectWalk
  readonly #seen = new SeenMembers()

  constructor(walk: ObjectWalk) {
    this.#walk = walk
  }

  begin(): void {
    this.#seen.bits = 0
  }

  member(key: number, length: number, at: number, depth: number): number {
    const { json } = this.#walk
    const end = json.value(at, depth)
    if (end < 0) return end
    if (length === 12 && isAt(json.bytes, key, 'input_tokens')) return this.#figure(INPUT_TOKENS, at, end)
    if (length === 13 && isAt(json.bytes, key, 'output_tokens')) return this.#figure(OUTPUT_TOKENS, at, end)
    return end
  }

  end(): string {
    const added: string[] = []
    if (!this.#seen.has(INPUT_TOKENS)) added.push('"input_tokens":0')
    if (!this.#seen.has(OUTPUT_TOKENS)) added.push('"output_tokens":0')
    return added.join(',')
  }

  other(): number {
    return ODD
  }

  #figure(member: number, at: number, end: number): number {
    if (!this.#seen.isFirst(member)) return ODD
    return countAt(this.#walk.json.bytes, at, end) < 0 ? this.#walk.replace(at, end, '0') : end
  }
}

/** A content block of a whole message, or of the event that begins it in a stream. */
export class BlockMembers implements Members {
  readonly itemsMax = Infinity
  /** Web searches that returned results; a search without results is free. */
  searches = 0
  readonly #walk: ObjectWalk
  readonly #output: Output
  /** Blocks of text and thinking begin empty; the beginning of any other block already counts as output. */
  #isText = false
  #isSearch = false
  #hasResults = false
  #bytes = 0

  constructor(walk: ObjectWalk, output: Output) {
    this.#walk = walk
    this.#output = output
  }

  begin(): void {
    this.#isText = false
    this.#isSearch = false
    this.#hasResults = false
    this.#bytes = 0
  }

  member(key: number, length: number, at: number, depth: number): number {
    const { json } = this.#walk
    const before = json.textBytes
    const end = json.value(at, depth)
    if (end < 0) return end
    const isString = json.bytes[at] === QUOTE
    if (length === 4 && isAt(json.bytes, key, 'type')) {
      this.#isText = isAt(json.bytes, at, '"text"') || isAt(json.bytes, at, '"thinking"')
      this.#isSearch = isAt(json.bytes, at, '"web_search_tool_result"')
    } else if (length === 7 && isAt(json.bytes, key, 'content'))
      this.#hasResults = json.bytes[at] === OPEN_LIST
    else if (length === 4 && isAt(json.bytes, key, 'text') && isString) this.#bytes += json.textBytes - before
    else if (length === 8 && isAt(json.bytes, key, 'thinking') && isString)
      this.#bytes += json.textBytes - before
    // An empty object is the beginning of arguments that follow in fragments.
    else if (length === 5 && isAt(json.bytes, key, 'input') && json.bytes[at] === OPEN_OBJECT)
      this.#bytes += end - at > 2 ? end - at : 0
    return end
  }

  end(): string {
    if (!this.#isText) this.#output.isThere = true
    if (this.#isSearch && this.#hasResults) this.searches++
    this.#output.add(this.#bytes)
    return ''
  }

  other(): number {
    return ODD
  }
}

const STOP_REASON_BYTES_MAX = 256

/** `delta` of `content_block_delta` and of `message_delta`. */
export class DeltaMembers implements Members {
  readonly itemsMax = 0
  /** Stop reason in `message_delta`; null: not reported. */
  stopReason: string | null = null
  readonly #walk: ObjectWalk
  readonly #output: Output

  constructor(walk: ObjectWalk, output: Output) {
    this.#walk = walk
    this.#output = output
  }

  begin(): void {
    this.stopReason = null
  }

  member(key: number, length: number, at: number, depth: number): number {
    const { json } = this.#walk
    const { bytes } = json
    const before = json.textBytes
    const end = json.value(at, depth)
    if (end < 0 || (length === 4 && isAt(bytes, key, 'type'))) return end
    const isString = bytes[at] === QUOTE
    if (length === 11 && isAt(bytes, key, 'stop_reason')) {
      const isShort = isString && end - at <= STOP_REASON_BYTES_MAX
      this.stopReason = isShort ? (JSON.parse(bytes.toString('utf8', at, end)) as string) : null
    } else if (isString && isText(bytes, key, length)) this.#output.add(json.textBytes - before)
    // A signature, a citation, or a member unknown to Sluice.
    else if (bytes[at] !== LOWER_N && end > at + 2) this.#output.isThere = true
    return end
  }

  end(): string {
    return ''
  }

  other(): number {
    return ODD
  }
}

function isText(bytes: Buffer, key: number, length: number): boolean {
  return (
    (length === 4 && isAt(bytes, key, 'text')) ||
    (length === 8 && isAt(bytes, key, 'thinking')) ||
    (length === 12 && isAt(bytes, key, 'partial_json'))
  )
}

/**
 * The members of a usage that a provider reported, without its braces and without those that only Sluice
 * reports.
 * @param usage one JSON object, without white space around it
 * @returns null: it cannot be read
 */
export function usageMembersOf(usage: Buffer): readonly Uint8Array[] | null {
  const read = membersOf(usage)
  if (read !== null) return read
  const written = writtenAnew(usage, (top) => {
    for (const name of USAGE_OURS) delete top[name]
  })
  return written === null ? null : membersOf(written)
}

/** Null: a name contains an escape. */
function membersOf(usage: Buffer): readonly Uint8Array[] | null {
  const walk = new ObjectWalk()
  walk.begin(usage)
  if (walk.object(new OtherMembers(walk), 0, 0, 1) !== usage.length) return null
  return walk.pieces(1, usage.length - 1)
}

/** An object from which some members are removed. */
class OtherMembers implements Members {
  readonly itemsMax = 0
  readonly #walk: ObjectWalk

  constructor(walk: ObjectWalk) {
    this.#walk = walk
  }

  begin(): void {
    return
  }

  member(key: number, length: number, at: number, depth: number): number {
    const { json } = this.#walk
    const end = json.value(at, depth)
    const name = json.bytes.toString('latin1', key, key + length)
    return end > 0 && USAGE_OURS.has(name) ? this.#walk.cut(end) : end
  }

  end(): string {
    return ''
  }

  other(): number {
    return ODD
  }
}
