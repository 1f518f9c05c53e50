import { SpanList } from '../schemas/kept-body.ts'
import * as json from '../schemas/values/json-bytes.ts'
import { endOfLiteral, endOfText, isWritten } from './json-syntax.ts'
import type { JsonPath } from '../schemas/values/json-path.ts'

const { CLOSE_LIST, CLOSE_OBJECT, endOfSpace, OPEN_LIST, OPEN_OBJECT, QUOTE } = json

/** A place on the path to objects that are searched. */
interface Place {
  /** Index of the path that ends here; null when none does. */
  target: number | null
  readonly within: Map<string | number, Place>
}

/**
 * Finds objects in the bytes of a body by the paths that its parsed value has for them. Of several members
 * with one name the last counts, as with `JSON.parse`.
 * @param bytes of a JSON body that was read
 * @param paths of objects that exist in the value; each once
 * @param names of members whose places are kept
 * @returns packed spans by path, each with the index of its name: the members of the object, in their order
 */
export function locatedObjects(
  bytes: Uint8Array,
  paths: readonly JsonPath[],
  names: readonly string[],
): readonly Uint32Array[] {
  const root: Place = { target: null, within: new Map() }
  for (const [nth, path] of paths.entries()) {
    let place = root
    for (const step of path) place = placeAt(place, step)
    place.target = nth
  }
  return new Locator(bytes, names).run(root, paths.length)
}

function placeAt({ within }: Place, step: string | number): Place {
  const place = within.get(step) ?? { target: null, within: new Map() }
  within.set(step, place)
  return place
}

class Locator {
  readonly #bytes: Buffer
  readonly #names: readonly string[]
  readonly #found: Uint32Array[] = []

  constructor({ buffer, byteOffset, byteLength }: Uint8Array, names: readonly string[]) {
    this.#bytes = Buffer.from(buffer, byteOffset, byteLength)
    this.#names = names
  }

  run(root: Place, count: number): readonly Uint32Array[] {
    this.#value(endOfSpace(this.#bytes, 0), root)
    // A path that was not found leaves a hole in the list.
    if (Object.keys(this.#found).length !== count)
      throw new Error('the parsed value does not match the bytes of the body')
    return this.#found
  }

  #value(at: number, place: Place | null): number {
    const byte = this.#bytes[at]
    if (place !== null && byte === OPEN_OBJECT) return this.#object(at + 1, place)
    if (place !== null && byte === OPEN_LIST) return this.#list(at + 1, place)
    return endOfValue(this.#bytes, at)
  }

  #object(open: number, place: Place): number {
    const bytes = this.#bytes
    const found = place.target === null ? null : new SpanList()
    let at = endOfSpace(bytes, open)
    let comma = 0
    while (bytes[at] === QUOTE) {
      const keyStart = at
      const colon = endOfSpace(bytes, endOfText(bytes, at + 1))
      const start = endOfSpace(bytes, colon + 1)
      const end = this.#value(start, this.#memberAt(keyStart + 1, place))
      const after = endOfSpace(bytes, end)
      const isLast = bytes[after] === CLOSE_OBJECT
      at = isLast ? after : endOfSpace(bytes, after + 1)
      const next = isLast ? 0 : at
      const index =
        found === null ? -1 : this.#names.findIndex((name) => isWritten(bytes, keyStart + 1, name))
      if (index >= 0) found?.add(index, { keyStart, start, end, next, comma, inner: 0 })
      comma = after
    }
    if (place.target !== null && found !== null) this.#found[place.target] = found.packed()
    return at + 1
  }

  #memberAt(key: number, { within }: Place): Place | null {
    for (const [name, place] of within)
      if (typeof name === 'string' && isWritten(this.#bytes, key, name)) return place
    return null
  }

  #list(open: number, { within }: Place): number {
    const bytes = this.#bytes
    let at = endOfSpace(bytes, open)
    for (let nth = 0; bytes[at] !== CLOSE_LIST; nth++) {
      const after = endOfSpace(bytes, this.#value(at, within.get(nth) ?? null))
      if (bytes[after] === CLOSE_LIST) return after + 1
      at = endOfSpace(bytes, after + 1)
    }
    return at + 1
  }
}

/** @returns the end of a value of any kind */
function endOfValue(bytes: Buffer, start: number): number {
  let at = start
  let depth = 0
  do {
    const byte = bytes[at]
    if (byte === QUOTE) at = endOfText(bytes, at + 1)
    else if (byte === OPEN_OBJECT || byte === OPEN_LIST) {
      depth++
      at++
    } else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) {
      depth--
      at++
    } else if (depth === 0) at = endOfLiteral(bytes, at)
    else at++
  } while (depth > 0)
  return at
}

/**
 * The path of a member, which ends with its name as written in the body.
 * @param bytes of a JSON body that was read
 * @param key the opening quote of its key
 */
export function pathTo({ buffer, byteOffset, byteLength }: Uint8Array, key: number): JsonPath {
  const bytes = Buffer.from(buffer, byteOffset, byteLength)
  const path: (string | number)[] = []
  const nameAt = (start: number): string =>
    JSON.parse(bytes.toString('utf8', start, endOfText(bytes, start + 1))) as string
  let at = endOfSpace(bytes, 0)
  while (at < key) {
    const isObject = bytes[at] === OPEN_OBJECT
    let nth = -1
    let first: number
    let start: number
    let end = at
    // Skips members or elements until the one that contains the key.
    do {
      nth++
      first = start = endOfSpace(bytes, end + 1)
      if (isObject) {
        if (first === key) return [...path, nameAt(first)]
        start = endOfSpace(bytes, endOfSpace(bytes, endOfText(bytes, first + 1)) + 1)
      }
      end = endOfSpace(bytes, endOfValue(bytes, start))
    } while (end <= key)
    path.push(isObject ? nameAt(first) : nth)
    at = start
  }
  throw new Error('no member begins at this position')
}
