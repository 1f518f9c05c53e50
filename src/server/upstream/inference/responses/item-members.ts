import { JSON_VALUES_MAX } from '../../../../schemas/limits/json-limits.ts'
import { OPEN_LIST, OPEN_OBJECT, QUOTE } from '../../../../schemas/values/json-bytes.ts'
import { ODD, type Members, type ObjectWalk } from '../../../../dialects/walk/object-walk.ts'
import { isAt } from '../../../../dialects/walk/json-reader.ts'

/** Members of items and parts whose texts a model wrote. */
const TEXTS: readonly string[] = ['text', 'refusal', 'arguments', 'input', 'code']
/** Members of items with parts of their own. */
const PARTS: readonly string[] = ['content', 'summary']
/** The last letters of the type of an item that calls a tool. */
const CALL = '_call"'
const MESSAGE = '"message"'
const SEARCH_CALL = '"web_search_call"'
const SEARCH = '"search"'

/** An item of `output`, or a part of such an item. Nothing of it is changed. */
export class ItemMembers implements Members {
  readonly itemsMax = JSON_VALUES_MAX
  /** Bytes in UTF-8 of the texts of all items and parts so far. */
  bytes = 0
  /** Items so far, parts not among them. */
  count = 0
  /** One of them calls a tool. */
  isCall = false
  /** One of them is a message. */
  isMessage = false
  /** Searches of the web so far, each of which has a price; visits of pages have none. */
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
  /** It is no search. */
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

/** Whether a key is one of these names. */
export function isNamed(names: readonly string[], bytes: Buffer, key: number, length: number): boolean {
  for (const name of names) if (name.length === length && isAt(bytes, key, name)) return true
  return false
}
