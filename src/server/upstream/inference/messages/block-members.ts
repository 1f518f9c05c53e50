import { LOWER_N, OPEN_LIST, OPEN_OBJECT, QUOTE } from '../../../../schemas/values/json-bytes.ts'
import type { Output } from '../walk/output.ts'
import { isAt } from '../../../../dialects/walk/json-reader.ts'
import { ODD, type Members, type ObjectWalk } from '../../../../dialects/walk/object-walk.ts'

/** A content block: of a message that has come whole, or at its begin in a stream. */
export class BlockMembers implements Members {
  readonly itemsMax = Infinity
  /** Searches of the web that gave results, which one without cost has not. */
  searches = 0
  readonly #walk: ObjectWalk
  readonly #output: Output
  /** Blocks of text and thinking begin empty; every other block is an output by itself. */
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
    // An empty object is the begin of arguments that follow in fragments.
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
  /** Why the message ended, of `message_delta`; null: it says nothing. */
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
    // A signature, a citation, or something that is not known yet.
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
