import { INFERENCE_DEPTH_MAX } from '../../schemas/inference/inference-limits.ts'
import {
  CLOSE_LIST,
  CLOSE_OBJECT,
  COMMA,
  endOfSpace,
  OPEN_LIST,
  OPEN_OBJECT,
  QUOTE,
  type Span,
} from '../../schemas/values/json-bytes.ts'
import type { Members } from '../../schemas/values/members.ts'
import { JsonReader } from './json-reader.ts'

/** An item of a list, with what stands between it and its neighbours. */
export interface ItemPlace extends Span {
  /** The comma before it; 0: it is the first. */
  readonly comma: number
  /** Where the next one begins; 0: it is the last. */
  readonly next: number
}

/**
 * Places of members and items in the body of a call, which is valid JSON. No value is made but of names and of
 * texts that are asked for: other parts may have millions of values.
 */
export class JsonPlaces {
  readonly #bytes: Buffer
  readonly #reader: JsonReader

  constructor(bytes: Buffer) {
    this.#bytes = bytes
    this.#reader = new JsonReader(bytes, INFERENCE_DEPTH_MAX)
  }

  /** The values of those of an object's members, of which the last of a name counts; empty: it is no object. */
  members({ start }: Span, names: readonly string[]): ReadonlyMap<string, Span> {
    const bytes = this.#bytes
    const members = new Map<string, Span>()
    if (bytes[start] !== OPEN_OBJECT) return members
    let at = endOfSpace(bytes, start + 1)
    while (bytes[at] !== CLOSE_OBJECT) {
      const keyEnd = this.#reader.string(at)
      const name = JSON.parse(bytes.toString('utf8', at, keyEnd)) as string
      const value = this.#value(endOfSpace(bytes, endOfSpace(bytes, keyEnd) + 1))
      if (names.includes(name)) members.set(name, value)
      at = this.#behind(value.end)
    }
    return members
  }

  /** The items of a list; empty if the value is not a list. */
  items({ start }: Span): readonly ItemPlace[] {
    const bytes = this.#bytes
    const items: ItemPlace[] = []
    if (bytes[start] !== OPEN_LIST) return items
    let comma = 0
    let at = endOfSpace(bytes, start + 1)
    while (bytes[at] !== CLOSE_LIST) {
      const item = this.#value(at)
      const behind = endOfSpace(bytes, item.end)
      at = this.#behind(item.end)
      items.push({ ...item, comma, next: bytes[behind] === COMMA ? at : 0 })
      comma = behind
    }
    return items
  }

  bytesOf({ start, end }: Span): Buffer {
    return this.#bytes.subarray(start, end)
  }

  /** Null: it is no text. */
  text(place: Span): string | null {
    if (this.#bytes[place.start] !== QUOTE) return null
    return JSON.parse(this.bytesOf(place).toString()) as string
  }

  /** The texts of those of an object's members; null stands for other values. */
  texts(place: Span, names: readonly string[]): Members {
    return Object.fromEntries(
      [...this.members(place, names)].map(([name, value]) => [name, this.text(value)]),
    )
  }

  /** Whether it is a list with items. */
  hasItems({ start }: Span): boolean {
    const bytes = this.#bytes
    return bytes[start] === OPEN_LIST && bytes[endOfSpace(bytes, start + 1)] !== CLOSE_LIST
  }

  #value(start: number): Span {
    const end = this.#reader.value(start, 1)
    if (end < 0) throw new Error('the bytes are not JSON')
    return { start, end }
  }

  /** The next member or item, or the end of all. */
  #behind(end: number): number {
    const at = endOfSpace(this.#bytes, end)
    return this.#bytes[at] === COMMA ? endOfSpace(this.#bytes, at + 1) : at
  }
}
