import { TOOLS_MAX } from '../../../../schemas/inference/inference-limits.ts'
import { LOWER_N, OPEN_OBJECT, QUOTE } from '../../../../schemas/values/json-bytes.ts'
import { countAt, isAt } from '../walk/json-reader.ts'
import { ODD, type Members, type ObjectWalk } from '../walk/object-walk.ts'
import type { Output } from '../walk/output.ts'
import { SeenMembers } from '../walk/seen-members.ts'
import type { ChatForm } from './mend.ts'

const TOOL_INDEX = 1
const TOOL_TYPE = 2
const TOOL_FUNCTION = 4
const TOOL_ID = 8
const TYPE_FUNCTION = '"type":"function"'

/** An item of `tool_calls`. */
export class ToolMembers implements Members {
  readonly itemsMax = TOOLS_MAX
  readonly #walk: ObjectWalk
  readonly #form: ChatForm
  readonly #functions: FunctionMembers
  readonly #seen = new SeenMembers()
  #nth = 0
  #hasId = false

  constructor(walk: ObjectWalk, form: ChatForm, functions: FunctionMembers) {
    this.#walk = walk
    this.#form = form
    this.#functions = functions
  }

  begin(nth: number): void {
    this.#seen.bits = 0
    this.#nth = nth
    this.#hasId = false
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
    // The piece with the id begins a call: helpers of clients want the type there. Mistral writes none.
    const needsType = this.#form === 'answer' || this.#hasId
    const type = needsType && !this.#seen.has(TOOL_TYPE) ? TYPE_FUNCTION : ''
    if (this.#form === 'answer' || this.#seen.has(TOOL_INDEX)) return type
    return `"index":${this.#nth}${type === '' ? '' : `,${type}`}`
  }

  other(): number {
    return ODD
  }

  #id(at: number, end: number): number {
    if (!this.#seen.isFirst(TOOL_ID)) return ODD
    this.#hasId = this.#walk.json.bytes[at] === QUOTE
    return this.#hasId ? end : this.#walk.cut(end)
  }

  #type(at: number, end: number): number {
    if (!this.#seen.isFirst(TOOL_TYPE)) return ODD
    if (this.#walk.json.bytes[at] === QUOTE && end > at + 2) return end
    return this.#walk.replace(at, end, '"function"')
  }

  #index(at: number, end: number): number {
    if (!this.#seen.isFirst(TOOL_INDEX)) return ODD
    if (countAt(this.#walk.json.bytes, at, end) >= 0) return end
    return this.#walk.replace(at, end, String(this.#nth))
  }
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

  constructor(walk: ObjectWalk, form: ChatForm, output: Output) {
    this.#walk = walk
    this.#form = form
    this.#output = output
  }

  begin(): void {
    this.#seen.bits = 0
  }

  member(key: number, length: number, at: number, depth: number): number {
    const { json } = this.#walk
    const before = json.textBytes
    const end = json.value(at, depth)
    const isNull = json.bytes[at] === LOWER_N
    if (length === 4 && isAt(json.bytes, key, 'name')) {
      if (!this.#seen.isFirst(FUNCTION_NAME)) return ODD
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
