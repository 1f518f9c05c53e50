import { createHash } from 'node:crypto'
import { TOOLS_MAX } from '../../schemas/inference/inference-limits.ts'
import { LOWER_N, OPEN_OBJECT, QUOTE } from '../../schemas/values/json-bytes.ts'
import { countAt, isAt } from '../walk/json-reader.ts'
import { ODD, type Members, type ObjectWalk, SeenMembers, type Output } from '../walk/object-walk.ts'
import type { ChatForm } from './mend.ts'
import type { FoundFragment, FoundFragments } from './tool-calls.ts'

const TOOL_INDEX = 1
const TOOL_TYPE = 2
const TOOL_FUNCTION = 4
const TOOL_ID = 8
const TYPE_FUNCTION = '"type":"function"'
/** Stands for the name of a call: which one it is does not matter. */
const NAMED = 'f'
/** Bytes of an id that is kept as it is, with its quotes; most providers have shorter ones. */
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
  /** Null: the walk is over an answer, whose calls are whole. */
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
    // The piece with the id begins a call: helpers of clients want the type there. Mistral writes none.
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
    // Calls of a whole answer are all here: each has the index of its place.
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

/** Longer ids are known by their digests: a stream could have thousands of them. */
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

  /** Some servers write the arguments as the object that they are; clients want its JSON as a text. */
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
