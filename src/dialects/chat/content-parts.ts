import { CONTENT_PARTS_MAX } from '../../schemas/inference/stream-limits.ts'
import { OPEN_LIST, OPEN_OBJECT, QUOTE, WRONG, type Span } from '../../schemas/values/json-bytes.ts'
import { isAt, isText } from '../walk/json-reader.ts'
import { ODD, type Members, type ObjectWalk, SeenMembers } from '../walk/object-walk.ts'

const TYPE = 1
const TEXT = 2
const THINKING = 4
const IMAGE = 8

/** Parts of a list as they came; the quotes of texts are left out. */
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
 * The items of a `content` that is a list: Mistral writes its reasoning so, as parts of type `thinking` between
 * those of type `text`. Clients want one text, with the reasoning and the pictures beside it as OpenRouter
 * writes them; parts of other types are left out. D23.
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
  /** The text of the item, which counts when its type is right. */
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

  /** @param at the opening bracket. @returns the place behind the list, or a fault; WRONG also for too many parts */
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

/** Keeps the value where it is a text. @returns as `JsonReader.value` */
function textAt({ json }: ObjectWalk, at: number, depth: number, found: FoundParts): number {
  const before = json.textBytes
  const end = json.value(at, depth)
  if (json.bytes[at] === QUOTE && end > 0) found.addText({ start: at, end }, json.textBytes - before)
  return end
}
