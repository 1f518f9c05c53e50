import { JSON_VALUES_MAX } from '../schemas/limits/json-limits.ts'
import { JSON_DEPTH_MAX } from '../schemas/limits/limits.ts'
import * as json from './json-bytes.ts'
import {
  endOfLiteral,
  endOfSpace,
  endOfString,
  endOfText,
  isWritten,
  jsonBytes,
  LONE_SURROGATE,
  NOT_FINITE,
  WRONG,
  type JsonBytes,
} from './json-syntax.ts'

/**
 * Names of this module's own: the lookup of another module's name at each use costs a tenth of the time of
 * these loops.
 */
const { CLOSE_LIST, CLOSE_OBJECT, COLON, COMMA, OPEN_LIST, OPEN_OBJECT, QUOTE } = json

const TOO_DEEP = -4
const TOO_MANY = -5

const FAULTS: Readonly<Record<number, string>> = {
  [LONE_SURROGATE]: 'A string holds a lone surrogate.',
  [NOT_FINITE]: 'A number is out of range.',
  [TOO_DEEP]: `It nests deeper than ${JSON_DEPTH_MAX} levels.`,
  [TOO_MANY]: `The members that are read hold more than ${JSON_VALUES_MAX} objects, lists and members.`,
}

/** More than a body can have: skipped values take no memory. */
const UNCOUNTED = 2 ** 30

/** A member of the outermost object. */
export interface Member extends json.Span {
  readonly name: string
}

export type BodyScan =
  /**
   * The last of two members with the same name, at the place of the first. Among the unknown members as many as
   * requested.
   */
  | { readonly ok: true; readonly known: readonly Member[]; readonly others: readonly Member[] }
  /** The body is not an object; `first` is the first byte of its value. */
  | { readonly ok: true; readonly known: null; readonly first: number }
  /**
   * `at` is the byte of the syntax error. It is null for valid JSON that is refused; `detail` then gives the
   * reason.
   */
  | { readonly ok: false; readonly detail: string | null; readonly at: number | null }

export interface ScanInput {
  /** The names of known members, in ASCII. */
  readonly names: readonly string[]
  /** Unknown members whose places are returned; the others are skipped. */
  readonly othersMax: number
}

/**
 * One pass over the bytes of a JSON body, which are UTF-8, before any of it is parsed: the body is strict
 * JSON, no deeper than JSON_DEPTH_MAX, and the contents of its known members fit into the heap of a thread.
 * The scan decides as `JSON.parse` and `jsonFault` do, also about repeated members; these two check the
 * strings of known members. C10.
 */
export function scanBody(bytes: Uint8Array, input: ScanInput): BodyScan {
  return new BodyScanner(bytes, input).run()
}

class BodyScanner {
  readonly #json: JsonBytes
  readonly #bytes: Buffer
  readonly #input: ScanInput
  readonly #known = new Map<string, Member>()
  readonly #others = new Map<string, Member>()
  /** Objects, lists and members that may still come. */
  #room = JSON_VALUES_MAX
  /** The value belongs to a known member: it is parsed next, which checks its strings. */
  #isParsed = false
  /** The byte that the scan has reached. */
  #at = 0

  constructor(bytes: Uint8Array, input: ScanInput) {
    this.#json = jsonBytes(bytes)
    this.#bytes = this.#json.bytes
    this.#input = input
  }

  run(): BodyScan {
    const bytes = this.#bytes
    const start = endOfSpace(bytes, 0)
    const isObject = bytes[start] === OPEN_OBJECT
    if (!isObject) this.#room = UNCOUNTED
    let end = isObject ? this.#members(start + 1, 1) : this.#value(start, 1)
    if (end >= 0) {
      this.#at = endOfSpace(bytes, end)
      end = this.#at === bytes.length ? end : WRONG
    }
    if (end < 0) return { ok: false, detail: FAULTS[end] ?? null, at: end === WRONG ? this.#at : null }
    if (!isObject) return { ok: true, known: null, first: bytes[start] ?? 0 }
    return { ok: true, known: [...this.#known.values()], others: [...this.#others.values()] }
  }

  #value(at: number, level: number): number {
    switch (this.#bytes[at]) {
      case QUOTE:
        return this.#string(at)
      case OPEN_OBJECT:
        return this.#members(at + 1, level)
      case OPEN_LIST:
        return this.#list(at + 1, level)
      default:
        this.#at = at
        return endOfLiteral(this.#bytes, at)
    }
  }

  #string(at: number): number {
    this.#at = at
    return this.#isParsed ? endOfText(this.#bytes, at + 1) : endOfString(this.#json, at + 1)
  }

  #list(open: number, level: number): number {
    if (level > JSON_DEPTH_MAX) return TOO_DEEP
    if (--this.#room < 0) return TOO_MANY
    const bytes = this.#bytes
    let at = endOfSpace(bytes, open)
    if (bytes[at] === CLOSE_LIST) return at + 1
    for (;;) {
      const end = this.#value(at, level + 1)
      if (end < 0) return end
      at = endOfSpace(bytes, end)
      if (bytes[at] === CLOSE_LIST) return at + 1
      if (bytes[at] !== COMMA) return this.#wrong(at)
      at = endOfSpace(bytes, at + 1)
    }
  }

  #members(open: number, level: number): number {
    if (level > JSON_DEPTH_MAX) return TOO_DEEP
    if (--this.#room < 0) return TOO_MANY
    const bytes = this.#bytes
    let at = endOfSpace(bytes, open)
    if (bytes[at] === CLOSE_OBJECT) return at + 1
    for (;;) {
      if (bytes[at] !== QUOTE) return this.#wrong(at)
      const keyEnd = this.#string(at)
      if (keyEnd < 0) return keyEnd
      const colon = endOfSpace(bytes, keyEnd)
      if (bytes[colon] !== COLON) return this.#wrong(colon)
      const start = endOfSpace(bytes, colon + 1)
      if (level > 1 && --this.#room < 0) return TOO_MANY
      const end = level === 1 ? this.#top({ start: at, end: keyEnd }, start) : this.#value(start, level + 1)
      if (end < 0) return end
      at = endOfSpace(bytes, end)
      if (bytes[at] === CLOSE_OBJECT) return at + 1
      if (bytes[at] !== COMMA) return this.#wrong(at)
      at = endOfSpace(bytes, at + 1)
    }
  }

  /**
   * A member of the outermost object.
   * @param key with its quotes
   */
  #top(key: json.Span, start: number): number {
    const known = this.#nameAt(key.start + 1)
    if (known === null) {
      const end = this.#skip(start)
      if (end >= 0 && this.#others.size < this.#input.othersMax) this.#other(key, { start, end })
      return end
    }
    const before = this.#known.get(known)
    // The last of two members with the same name is parsed.
    const skipped = before === undefined ? 0 : this.#skip(before.start)
    if (skipped < 0) return skipped
    this.#isParsed = true
    const end = this.#value(start, 2)
    this.#isParsed = false
    if (end >= 0) this.#known.set(known, { name: known, start, end })
    return end
  }

  /** Skips a value of any size. */
  #skip(start: number): number {
    const room = this.#room
    this.#room = UNCOUNTED
    const end = this.#value(start, 2)
    this.#room = room
    return end
  }

  #other(key: json.Span, value: json.Span): void {
    const name = textOf(this.#bytes, key)
    this.#others.set(name, { name, ...value })
  }

  #nameAt(at: number): string | null {
    for (const name of this.#input.names) if (isWritten(this.#bytes, at, name)) return name
    return null
  }

  #wrong(at: number): number {
    this.#at = at
    return WRONG
  }
}

function textOf(bytes: Buffer, { start, end }: json.Span): string {
  return JSON.parse(bytes.toString('utf8', start, end)) as string
}
