import { LOWER_N, OPEN_LIST, OPEN_OBJECT, QUOTE, type Span } from '../../schemas/values/json-bytes.ts'
import { isAt, isText } from '../walk/json-reader.ts'
import { ODD, type Members, type ObjectWalk, SeenMembers, type Output } from '../walk/object-walk.ts'
import type { FoundFragments } from './tool-calls.ts'
import { FunctionMembers, ToolMembers, ContentParts, type ChatForm } from './tool-members.ts'

const ROLE = 1
const CONTENT = 2
const TOOLS = 4
const REASONING = 8
const REASONING_CONTENT = 16
const DETAILS = 32
const REFUSAL = 64
/** The first of `NO_NULL`; the others have the next bits. */
const FIRST_NO_NULL = 128

/** Members that Sluice does not read and in which validating clients refuse null. `name` does not count as output. */
const NO_NULL = ['name', 'audio', 'images']
const IMAGES = FIRST_NO_NULL << NO_NULL.indexOf('images')

/** `delta` of an event's choice, or `message` of an answer's. */
export class DeltaMembers implements Members {
  readonly itemsMax = 0
  /** The delta has the assistant's role. */
  hasRole = false
  /** Offset of the opening quote of `content`; -1: `content` is absent, or not a text. */
  textAt = -1
  /** Offset after the closing quote of that text. */
  textEnd = -1
  /** Its bytes in UTF-8, decoded. */
  textBytes = 0
  readonly #walk: ObjectWalk
  readonly #form: ChatForm
  readonly #output: Output
  readonly #tools: ToolMembers
  readonly #functions: FunctionMembers
  readonly #content: ContentParts
  readonly #parts: PartMembers
  readonly #seen = new SeenMembers()
  /** Three members may repeat the same reasoning, so the longest of them counts. */
  #reasoningBytes = 0
  /** The value of `reasoning_content`, when it is a text. */
  #thought: Span | null = null
  /** `content` is a list. */
  #hasParts = false

  constructor(walk: ObjectWalk, form: ChatForm, output: Output, fragments: FoundFragments) {
    this.#walk = walk
    this.#form = form
    this.#output = output
    this.#functions = new FunctionMembers(walk, form, output)
    this.#tools = new ToolMembers(walk, { form, functions: this.#functions, fragments })
    this.#content = new ContentParts(walk)
    this.#parts = new PartMembers(walk)
  }

  begin(): void {
    this.hasRole = false
    this.textAt = -1
    this.#seen.bits = 0
    this.#reasoningBytes = 0
    this.#thought = null
    this.#hasParts = false
  }

  member(key: number, length: number, at: number, depth: number): number {
    const { bytes } = this.#walk.json
    switch (length) {
      case 4:
        if (isAt(bytes, key, 'role')) return this.#role(at, depth)
        break
      case 7:
        if (isAt(bytes, key, 'content')) return this.#text(at, depth)
        if (isAt(bytes, key, 'refusal')) return this.#refused(at, depth)
        break
      case 9:
        if (isAt(bytes, key, 'reasoning')) return this.#reasoning(REASONING, at, depth)
        break
      case 10:
        if (isAt(bytes, key, 'tool_calls')) return this.#toolCalls(at, depth)
        break
      case 13:
        if (isAt(bytes, key, 'function_call') && bytes[at] === OPEN_OBJECT) {
          this.#output.isThere = true
          return this.#walk.object(this.#functions, at, 0, depth)
        }
        break
      case 17:
        if (isAt(bytes, key, 'reasoning_content')) return this.#reasoningContent(at, depth)
        if (isAt(bytes, key, 'reasoning_details')) return this.#details(at, depth)
        break
    }
    return this.#media(key, length, at, depth)
  }

  end(at: number): string {
    this.#output.add(this.#reasoningBytes)
    if (this.#thought !== null && !this.#seen.has(REASONING)) {
      this.#walk.splices.add(at, at, ',"reasoning":')
      this.#walk.splices.add(at, at, this.#thought)
    }
    if (this.#hasParts) this.#writeParts(at)
    return this.#form === 'answer' && !this.#seen.has(ROLE) ? '"role":"assistant"' : ''
  }

  other(): number {
    return ODD
  }

  /** Reads the role; some providers write null or the empty string. */
  #role(at: number, depth: number): number {
    const { json } = this.#walk
    if (!this.#seen.isFirst(ROLE)) return ODD
    const end = json.value(at, depth)
    this.hasRole = end > 0 && isText(json.bytes, at, end, 'assistant')
    if (this.hasRole) return end
    return this.#form === 'answer' ? this.#walk.replace(at, end, '"assistant"') : this.#walk.cut(end)
  }

  #text(at: number, depth: number): number {
    const { json } = this.#walk
    if (!this.#seen.isFirst(CONTENT)) return ODD
    if (json.bytes[at] === OPEN_LIST) return this.#list(at, depth)
    const before = json.textBytes
    const end = json.value(at, depth)
    if (json.bytes[at] !== QUOTE) return end
    this.textAt = at
    this.textEnd = end
    this.textBytes = json.textBytes - before
    this.#output.add(this.textBytes)
    return end
  }

  /** Replaces the list by the text of its parts; their reasoning is written at the end of the delta. */
  #list(at: number, depth: number): number {
    const parts = this.#content
    parts.clear()
    const end = parts.list(at, depth)
    if (end < 0) return end
    this.#hasParts = true
    this.#output.add(parts.texts.bytes)
    this.#reasoningBytes = Math.max(this.#reasoningBytes, parts.thoughts.bytes)
    this.#walk.splices.add(at, end, '"')
    this.#put(end, parts.texts.spans, '"')
    return end
  }

  #writeParts(at: number): void {
    const { thoughts, pictures } = this.#content
    const { splices } = this.#walk
    if (thoughts.spans.length > 0 && !this.#seen.has(REASONING) && this.#thought === null) {
      splices.add(at, at, ',"reasoning":"')
      this.#put(at, thoughts.spans, '"')
    }
    if (thoughts.spans.length > 0 && !this.#seen.has(DETAILS)) {
      splices.add(at, at, ',"reasoning_details":[{"type":"reasoning.text","text":"')
      this.#put(at, thoughts.spans, '","index":0}]')
    }
    if (pictures.spans.length === 0 || this.#seen.has(IMAGES)) return
    this.#output.isThere = true
    splices.add(at, at, ',"images":[')
    for (const [nth, picture] of pictures.spans.entries()) {
      splices.add(at, at, `${nth === 0 ? '' : ','}{"type":"image_url","image_url":`)
      this.#put(at, [picture], '}')
    }
    splices.add(at, at, ']')
  }

  #put(at: number, spans: readonly Span[], end: string): void {
    for (const span of spans) this.#walk.splices.add(at, at, span)
    this.#walk.splices.add(at, at, end)
  }

  #refused(at: number, depth: number): number {
    const { json } = this.#walk
    if (!this.#seen.isFirst(REFUSAL)) return ODD
    const before = json.textBytes
    const end = json.value(at, depth)
    if (json.bytes[at] === QUOTE) this.#output.add(json.textBytes - before)
    return end
  }

  #reasoning(member: number, at: number, depth: number): number {
    if (!this.#seen.isFirst(member)) return ODD
    const before = this.#parts.bytes
    const end = this.#parts.text(at, depth)
    this.#reasoningBytes = Math.max(this.#reasoningBytes, this.#parts.bytes - before)
    if (member !== DETAILS && this.#walk.json.bytes[at] === QUOTE && end > at + 2)
      this.#output.thinks(member === REASONING ? 'reasoning' : 'reasoning_content')
    return end
  }

  /** DeepSeek's name for the reasoning. OpenRouter's clients do not read it, so the text is written under both names. */
  #reasoningContent(at: number, depth: number): number {
    const end = this.#reasoning(REASONING_CONTENT, at, depth)
    const hasText = this.#walk.json.bytes[at] === QUOTE && end > at + 2
    if (hasText) this.#thought = { start: at, end }
    return end
  }

  #details(at: number, depth: number): number {
    const { json } = this.#walk
    if (json.bytes[at] !== OPEN_LIST) return this.#walk.cut(json.value(at, depth))
    const end = this.#reasoning(DETAILS, at, depth)
    // A detail may be encrypted and have no readable text; the next request has to return it.
    if (end > at + 2) this.#output.isThere = true
    return end
  }

  #toolCalls(at: number, depth: number): number {
    const { json } = this.#walk
    if (!this.#seen.isFirst(TOOLS)) return ODD
    if (json.bytes[at] !== OPEN_LIST) return this.#walk.cut(json.value(at, depth))
    const end = this.#walk.list(this.#tools, at, depth)
    if (end > at + 2) this.#output.isThere = true
    return end
  }

  #media(key: number, length: number, at: number, depth: number): number {
    const { json } = this.#walk
    const end = json.value(at, depth)
    const nth = NO_NULL.findIndex((name) => name.length === length && isAt(json.bytes, key, name))
    if (nth === -1) return end
    if (!this.#seen.isFirst(FIRST_NO_NULL << nth)) return ODD
    if (json.bytes[at] === LOWER_N) return this.#walk.cut(end)
    if (nth > 0 && end > at + 2) this.#output.isThere = true
    return end
  }
}

/** Items of `reasoning_details`, and of the lists within them. */
class PartMembers implements Members {
  readonly itemsMax = Infinity
  /** Bytes of their texts so far. */
  bytes = 0
  readonly #walk: ObjectWalk

  constructor(walk: ObjectWalk) {
    this.#walk = walk
  }

  begin(): void {
    return
  }

  member(key: number, length: number, at: number, depth: number): number {
    const { json } = this.#walk
    const isText =
      (length === 4 && isAt(json.bytes, key, 'text')) ||
      (length === 7 && isAt(json.bytes, key, 'summary')) ||
      (length === 8 && isAt(json.bytes, key, 'thinking'))
    return isText ? this.text(at, depth) : json.value(at, depth)
  }

  end(): string {
    return ''
  }

  other(at: number, depth: number): number {
    return this.#walk.json.value(at, depth)
  }

  /** A text, or a list of parts. */
  text(at: number, depth: number): number {
    const { json } = this.#walk
    if (json.bytes[at] === OPEN_LIST) return this.#walk.list(this, at, depth)
    if (json.bytes[at] !== QUOTE) return json.value(at, depth)
    const before = json.textBytes
    const end = json.string(at)
    this.bytes += json.textBytes - before
    return end
  }
}
