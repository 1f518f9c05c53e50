import { createHash } from 'node:crypto'
import { TOOLS_MAX } from '../../schemas/inference/inference-limits.ts'
import { LOWER_N, OPEN_OBJECT, QUOTE, OPEN_LIST, WRONG, type Span } from '../../schemas/values/json-bytes.ts'
import { countAt, isAt, isText } from '../walk/json-reader.ts'
import { ODD, type Members, type ObjectWalk, SeenMembers, type Output } from '../walk/object-walk.ts'
import type { FoundFragment, FoundFragments } from './tool-calls.ts'
import { STREAM_MENDED_BYTES_MAX } from '../../schemas/inference/stream-limits.ts'
import { objectOf } from '../../schemas/values/members.ts'
import { writtenAnew } from '../walk/written-json.ts'

/** The most texts, and the most pictures, in a `content` that is a list and is joined. Decision. */
export const CONTENT_PARTS_MAX = 4_096

const TOOL_INDEX = 1
const TOOL_TYPE = 2
const TOOL_FUNCTION = 4
const TOOL_ID = 8
const TYPE_FUNCTION = '"type":"function"'
/** Stands for the name of a call where only its presence matters. */
const NAMED = 'f'
/** The most bytes, with quotes, of an id that is kept unchanged; most providers have shorter ones. */
const ID_BYTES_MAX = 256

/** An item of `tool_calls`. */
export class ToolMembers implements Members {
  readonly itemsMax = TOOLS_MAX
  readonly #walk: ObjectWalk
  readonly #form: ChatForm
  readonly #functions: FunctionMembers
  readonly #fragments: FoundFragments
  readonly #seen = new SeenMembers()
  #nth = 0
  #hasId = false
  /** Null: the walk is over a whole answer, whose calls are complete. */
  #fragment: FoundFragment | null = null

  constructor(
    walk: ObjectWalk,
    more: {
      readonly form: ChatForm
      readonly functions: FunctionMembers
      readonly fragments: FoundFragments
    },
  ) {
    this.#walk = walk
    this.#form = more.form
    this.#functions = more.functions
    this.#fragments = more.fragments
  }

  begin(nth: number): void {
    this.#seen.bits = 0
    this.#nth = nth
    this.#hasId = false
    this.#fragment = this.#form === 'event' ? this.#fragments.begun() : null
    this.#functions.hasName = false
  }

  member(key: number, length: number, at: number, depth: number): number {
    const { json } = this.#walk
    const { bytes } = json
    if (length === 8 && isAt(bytes, key, 'function')) {
      if (!this.#seen.isFirst(TOOL_FUNCTION)) return ODD
      if (bytes[at] === OPEN_OBJECT) return this.#walk.object(this.#functions, at, 0, depth)
      return this.#walk.cut(json.value(at, depth))
    }
    const end = json.value(at, depth)
    if (length === 2 && isAt(bytes, key, 'id')) return this.#id(at, end)
    if (length === 4 && isAt(bytes, key, 'type')) return this.#type(at, end)
    if (length === 5 && isAt(bytes, key, 'index')) return this.#index(at, end)
    return end
  }

  end(): string {
    const fragment = this.#fragment
    // The fragment with the id begins a call, and client helpers require the type in it. Mistral writes none.
    const needsType = fragment === null || this.#hasId
    const type = needsType && !this.#seen.has(TOOL_TYPE) ? TYPE_FUNCTION : ''
    if (fragment === null) return type
    if (this.#functions.hasName) fragment.name = NAMED
    if (this.#seen.has(TOOL_INDEX)) return type
    this.#spliced(fragment)
    return `"index":${this.#nth}${type === '' ? '' : `,${type}`}`
  }

  other(): number {
    return ODD
  }

  #id(at: number, end: number): number {
    if (!this.#seen.isFirst(TOOL_ID)) return ODD
    const { bytes } = this.#walk.json
    this.#hasId = bytes[at] === QUOTE
    if (!this.#hasId) return this.#walk.cut(end)
    if (this.#fragment !== null && end > at + 2) this.#fragment.id = idAt(bytes, at, end)
    return end
  }

  #type(at: number, end: number): number {
    if (!this.#seen.isFirst(TOOL_TYPE)) return ODD
    if (this.#walk.json.bytes[at] === QUOTE && end > at + 2) return end
    return this.#walk.replace(at, end, '"function"')
  }

  #index(at: number, end: number): number {
    if (!this.#seen.isFirst(TOOL_INDEX)) return ODD
    const index = countAt(this.#walk.json.bytes, at, end)
    const fragment = this.#fragment
    if (fragment !== null) this.#spliced(fragment)
    // A whole answer has all its calls, so each gets the index of its place.
    if (index < 0 || (fragment === null && index !== this.#nth))
      return this.#walk.replace(at, end, String(this.#nth))
    if (fragment === null) return end
    fragment.index = index
    fragment.shown = index
    fragment.start = at
    fragment.end = end
    return end
  }

  /** The next splice writes the index. */
  #spliced(fragment: FoundFragment): void {
    fragment.shown = this.#nth
    fragment.splice = this.#walk.splices.count
    fragment.start = 0
    fragment.end = 0
  }
}

/** Longer ids are replaced by their digests, since a stream could have thousands of them. */
function idAt(bytes: Buffer, at: number, end: number): string {
  if (end - at > ID_BYTES_MAX) return createHash('sha256').update(bytes.subarray(at, end)).digest('base64')
  const json = bytes.toString('utf8', at, end)
  return json.includes('\\') ? (JSON.parse(json) as string) : json.slice(1, -1)
}

const FUNCTION_NAME = 1
const FUNCTION_ARGUMENTS = 2

/** `function` of a tool call. */
export class FunctionMembers implements Members {
  readonly itemsMax = 0
  readonly #walk: ObjectWalk
  readonly #form: ChatForm
  readonly #output: Output
  readonly #seen = new SeenMembers()
  /** The function that was read last has a name. */
  hasName = false

  constructor(walk: ObjectWalk, form: ChatForm, output: Output) {
    this.#walk = walk
    this.#form = form
    this.#output = output
  }

  begin(): void {
    this.#seen.bits = 0
    this.hasName = false
  }

  member(key: number, length: number, at: number, depth: number): number {
    const { json } = this.#walk
    const before = json.textBytes
    const end = json.value(at, depth)
    const isNull = json.bytes[at] === LOWER_N
    if (length === 4 && isAt(json.bytes, key, 'name')) {
      if (!this.#seen.isFirst(FUNCTION_NAME)) return ODD
      this.hasName = json.bytes[at] === QUOTE && end > at + 2
      return isNull ? this.#walk.cut(end) : end
    }
    if (length !== 9 || !isAt(json.bytes, key, 'arguments')) return end
    if (!this.#seen.isFirst(FUNCTION_ARGUMENTS)) return ODD
    if (isNull) return this.#form === 'answer' ? this.#walk.replace(at, end, '""') : this.#walk.cut(end)
    if (json.bytes[at] !== QUOTE) return this.#object(at, end)
    this.#output.add(json.textBytes - before)
    return end
  }

  /** Some servers write the arguments as an object; clients require its JSON as a text. */
  #object(at: number, end: number): number {
    if (end < 0) return end
    this.#output.add(end - at)
    const json = this.#walk.json.bytes.toString('utf8', at, end)
    return this.#walk.replace(at, end, JSON.stringify(json))
  }

  end(): string {
    return this.#form === 'answer' && !this.#seen.has(FUNCTION_ARGUMENTS) ? '"arguments":""' : ''
  }

  other(): number {
    return ODD
  }
}

const TYPE = 1

const TEXT = 2

const THINKING = 4

const IMAGE = 8

/** Parts of a list with unchanged bytes; texts are kept without their quotes. */
class FoundParts {
  readonly spans: Span[] = []
  /** Bytes in UTF-8 of the texts, decoded. */
  bytes = 0
  /** There are more than CONTENT_PARTS_MAX. */
  areTooMany = false

  clear(): void {
    this.spans.length = 0
    this.bytes = 0
    this.areTooMany = false
  }

  addText({ start, end }: Span, bytes: number): void {
    if (end === start + 2) return
    this.add({ start: start + 1, end: end - 1 })
    this.bytes += bytes
  }

  add(span: Span): void {
    if (this.spans.length < CONTENT_PARTS_MAX) this.spans.push(span)
    else this.areTooMany = true
  }
}

/**
 * The items of a `content` that is a list: Mistral writes its reasoning so, as parts of type `thinking`
 * between those of type `text`. Clients require one text, and reasoning and pictures in separate members as
 * OpenRouter writes them. Parts of other types are left out.
 */
export class ContentParts implements Members {
  readonly itemsMax = Infinity
  readonly texts = new FoundParts()
  readonly thoughts = new FoundParts()
  /** Values of `image_url`. */
  readonly pictures = new FoundParts()
  readonly #walk: ObjectWalk
  readonly #thinking: ThinkingParts
  readonly #seen = new SeenMembers()
  /** The text of the item; used only if the item's type is a text type. */
  #text: Span | null = null
  #textBytes = 0
  #isText = true

  constructor(walk: ObjectWalk) {
    this.#walk = walk
    this.#thinking = new ThinkingParts(walk, this.thoughts)
  }

  clear(): void {
    this.texts.clear()
    this.thoughts.clear()
    this.pictures.clear()
  }

  /** @param at the opening bracket. @returns the place after the list, or a fault; WRONG for too many parts */
  list(at: number, depth: number): number {
    const end = this.#walk.list(this, at, depth)
    const { texts, thoughts, pictures } = this
    return texts.areTooMany || thoughts.areTooMany || pictures.areTooMany ? WRONG : end
  }

  begin(): void {
    this.#seen.bits = 0
    this.#text = null
    this.#isText = true
  }

  member(key: number, length: number, at: number, depth: number): number {
    const { json } = this.#walk
    const { bytes } = json
    if (length === 8 && isAt(bytes, key, 'thinking'))
      return this.#seen.isFirst(THINKING) ? this.#thinking.value(at, depth) : ODD
    const before = json.textBytes
    const end = json.value(at, depth)
    if (length === 4 && isAt(bytes, key, 'type')) {
      if (!this.#seen.isFirst(TYPE)) return ODD
      this.#isText = isText(bytes, at, end, 'text')
    } else if (length === 4 && isAt(bytes, key, 'text')) {
      if (!this.#seen.isFirst(TEXT)) return ODD
      if (bytes[at] === QUOTE && end > 0) this.#text = { start: at, end }
      this.#textBytes = json.textBytes - before
    } else if (length === 9 && isAt(bytes, key, 'image_url')) {
      if (!this.#seen.isFirst(IMAGE)) return ODD
      if (bytes[at] === OPEN_OBJECT && end > 0) this.pictures.add({ start: at, end })
    }
    return end
  }

  end(): string {
    if (this.#text !== null && this.#isText) this.texts.addText(this.#text, this.#textBytes)
    return ''
  }

  other(at: number, depth: number): number {
    return textAt(this.#walk, at, depth, this.texts)
  }
}

/** The value of `thinking`: a text, or a list of parts with texts. */
class ThinkingParts implements Members {
  readonly itemsMax = Infinity
  readonly #walk: ObjectWalk
  readonly #found: FoundParts
  readonly #seen = new SeenMembers()

  constructor(walk: ObjectWalk, found: FoundParts) {
    this.#walk = walk
    this.#found = found
  }

  value(at: number, depth: number): number {
    const isList = this.#walk.json.bytes[at] === OPEN_LIST
    return isList ? this.#walk.list(this, at, depth) : textAt(this.#walk, at, depth, this.#found)
  }

  begin(): void {
    this.#seen.bits = 0
  }

  member(key: number, length: number, at: number, depth: number): number {
    const { json } = this.#walk
    if (length !== 4 || !isAt(json.bytes, key, 'text')) return json.value(at, depth)
    return this.#seen.isFirst(TEXT) ? textAt(this.#walk, at, depth, this.#found) : ODD
  }

  end(): string {
    return ''
  }

  other(at: number, depth: number): number {
    return textAt(this.#walk, at, depth, this.#found)
  }
}

/** Keeps the value if it is a text. @returns as `JsonReader.value` */
function textAt({ json }: ObjectWalk, at: number, depth: number, found: FoundParts): number {
  const before = json.textBytes
  const end = json.value(at, depth)
  if (json.bytes[at] === QUOTE && end > 0) found.addText({ start: at, end }, json.textBytes - before)
  return end
}

/** An event of a stream, or a whole answer; clients have different requirements for the two. */
export type ChatForm = 'event' | 'answer'

/**
 * Parses and rewrites an event or an answer that the walk over its bytes could not handle, and replaces nulls
 * where clients require lists or objects. Large events are refused: 16 MiB would hold the thread for 200 ms.
 * @returns as `writtenAnew`; null also for an event above STREAM_MENDED_BYTES_MAX
 */
export function mend(bytes: Buffer, form: ChatForm): Buffer | null {
  if (form === 'event' && bytes.length > STREAM_MENDED_BYTES_MAX) return null
  return writtenAnew(bytes, (top) => {
    if (top['choices'] === null) delete top['choices']
    if (Array.isArray(top['choices'])) for (const choice of top['choices']) mendChoice(choice, form)
  })
}

function mendChoice(choice: unknown, form: ChatForm): void {
  const members = objectOf(choice)
  if (members === null) return
  if (form === 'event') members['delta'] ??= {}
  const delta = objectOf(members[form === 'event' ? 'delta' : 'message'])
  if (delta === null || !Array.isArray(delta['tool_calls'])) return
  delta['tool_calls'] = delta['tool_calls'].filter((call) => objectOf(call) !== null)
}
