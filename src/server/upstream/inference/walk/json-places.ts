import {
  CLOSE_LIST,
  CLOSE_OBJECT,
  COMMA,
  endOfSpace,
  OPEN_LIST,
  OPEN_OBJECT,
  type Span,
} from '../../../../schemas/values/json-bytes.ts'
import { JsonReader } from './json-reader.ts'

/** An item of a list, with what stands between it and its neighbours. */
export interface ItemPlace extends Span {
  /** The comma before it; 0: it is the first. */
  readonly comma: number
  /** Where the next one begins; 0: it is the last. */
  readonly next: number
}

/** Places of members and items in bytes that are valid JSON. */
export class JsonPlaces {
  readonly #bytes: Buffer
  readonly #reader: JsonReader

  constructor(bytes: Buffer) {
    this.#bytes = bytes
    this.#reader = new JsonReader(bytes)
  }

  /** The values of an object's members, of which the last of a name counts; empty: it is no object. */
  members({ start }: Span): ReadonlyMap<string, Span> {
    const bytes = this.#bytes
    const members = new Map<string, Span>()
    if (bytes[start] !== OPEN_OBJECT) return members
    let at = endOfSpace(bytes, start + 1)
    while (bytes[at] !== CLOSE_OBJECT) {
      const keyEnd = this.#reader.string(at)
      const name = JSON.parse(bytes.toString('utf8', at, keyEnd)) as string
      const value = this.#value(endOfSpace(bytes, endOfSpace(bytes, keyEnd) + 1))
      members.set(name, value)
      at = this.#behind(value.end)
    }
    return members
  }

  /** The items of a list; empty: it is none. */
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

  parsed(place: Span): unknown {
    return JSON.parse(this.bytesOf(place).toString())
  }

  #value(start: number): Span {
    const end = this.#reader.value(start, 1)
    if (end < 0) throw new Error('the bytes are no JSON')
    return { start, end }
  }

  /** The next member or item, or the end of all. */
  #behind(end: number): number {
    const at = endOfSpace(this.#bytes, end)
    return this.#bytes[at] === COMMA ? endOfSpace(this.#bytes, at + 1) : at
  }
}
