import { isUtf8 } from 'node:buffer'
import { JSON_DEPTH_MAX } from '../../schemas/limits/limits.ts'
import {
  BACKSLASH,
  CLOSE_LIST,
  CLOSE_OBJECT,
  COLON,
  COMMA,
  endOfSpace,
  OPEN_OBJECT,
  QUOTE,
  WRONG,
  type Span,
} from '../../schemas/values/json-bytes.ts'
import { JsonReader } from './json-reader.ts'
import { Pieces, Splices } from './splices.ts'
import type { ThinksIn } from '../../schemas/models/protocols.ts'

/** The walk cannot handle the bytes; a parser has to read them. */
export const ODD = -2

/** Reads the members of one kind of object. Places and faults are those of `JsonReader`, and ODD. */
export interface Members {
  /** Called when an object begins. @param nth its index in its list; 0 outside lists */
  begin(nth: number): void
  /**
   * @param key its first byte after the quote
   * @param length of the key, in bytes
   * @param at the first byte of the value
   * @param depth of the value
   */
  member(key: number, length: number, at: number, depth: number): number
  /** Called after all members were read. Returns members to be added, with commas between them. @param at the closing brace */
  end(at: number): string
  /** Reads an item of the list that is not an object. */
  other(at: number, depth: number): number
  /** The most items of the list: each may have members to be replaced, which take memory. */
  readonly itemsMax: number
}

/** Walks over objects, reads their members and cuts some of them. */
export class ObjectWalk {
  readonly json = new JsonReader(Buffer.alloc(0))
  readonly splices = new Splices()
  #isCut = false

  begin(bytes: Buffer): void {
    this.json.begin(bytes)
    this.splices.clear()
    this.#isCut = false
  }

  /** The bytes of `[from, to)` with their parts replaced. */
  pieces(from: number, to: number): readonly Buffer[] {
    const pieces = new Pieces(this.json.bytes)
    this.splices.apply(from, to, pieces)
    return pieces.all
  }

  /** Cuts the member that is being read. @param end of its value */
  cut(end: number): number {
    this.#isCut = true
    return end
  }

  /** @param end of the value; if it is a fault, nothing is replaced */
  replace(at: number, end: number, put: string): number {
    if (end >= 0) this.splices.add(at, end, put)
    return end
  }

  object(members: Members, open: number, nth: number, depth: number): number {
    if (depth > JSON_DEPTH_MAX) return WRONG
    members.begin(nth)
    const { bytes } = this.json
    const at = endOfSpace(bytes, open + 1)
    return bytes[at] === CLOSE_OBJECT ? this.#close(members, at, true) : this.#rest(members, at, -1, depth)
  }

  /** Continues in an object after a member that is kept. @param end of the member's value */
  resume(members: Members, end: number, depth: number): number {
    if (end < 0) return end
    const { bytes } = this.json
    const at = endOfSpace(bytes, end)
    if (bytes[at] === CLOSE_OBJECT) return this.#close(members, at, false)
    return bytes[at] === COMMA ? this.#rest(members, endOfSpace(bytes, at + 1), end, depth) : WRONG
  }

  /** Walks over a list and reads its objects. */
  list(members: Members, open: number, depth: number): number {
    if (depth > JSON_DEPTH_MAX) return WRONG
    const { bytes } = this.json
    let at = endOfSpace(bytes, open + 1)
    if (bytes[at] === CLOSE_LIST) return at + 1
    for (let nth = 0; ; nth++) {
      if (nth === members.itemsMax) return WRONG
      const end =
        bytes[at] === OPEN_OBJECT ? this.object(members, at, nth, depth + 1) : members.other(at, depth + 1)
      if (end < 0) return end
      at = endOfSpace(bytes, end)
      if (bytes[at] === CLOSE_LIST) return at + 1
      if (bytes[at] !== COMMA) return WRONG
      at = endOfSpace(bytes, at + 1)
    }
  }

  /** @param first the quote of the next key @param before the end of the last kept member; -1: none was kept */
  #rest(members: Members, first: number, before: number, depth: number): number {
    const { bytes } = this.json
    let at = first
    let lastEnd = before
    for (;;) {
      if (bytes[at] !== QUOTE) return WRONG
      const keyEnd = endOfKey(bytes, at + 1)
      if (keyEnd < 0) return keyEnd
      const colon = endOfSpace(bytes, keyEnd + 1)
      if (bytes[colon] !== COLON) return WRONG
      const end = members.member(at + 1, keyEnd - at - 1, endOfSpace(bytes, colon + 1), depth + 1)
      if (end < 0) return end
      const next = endOfSpace(bytes, end)
      const isLast = bytes[next] === CLOSE_OBJECT
      if (!isLast && bytes[next] !== COMMA) return WRONG
      const nextKey = isLast ? next : endOfSpace(bytes, next + 1)
      // A member is cut with the comma before it, the first member with the comma after it.
      if (!this.#isCut) lastEnd = end
      else if (lastEnd === -1) this.splices.add(at, isLast ? end : nextKey, '')
      else {
        this.splices.add(lastEnd, end, '')
        lastEnd = end
      }
      this.#isCut = false
      if (isLast) return this.#close(members, next, lastEnd === -1)
      at = nextKey
    }
  }

  #close(members: Members, at: number, isEmpty: boolean): number {
    const added = members.end(at)
    if (added !== '') this.splices.add(at, at, isEmpty ? added : `,${added}`)
    return at + 1
  }
}

/** @param at the place after the opening quote @returns the closing quote; ODD for a key with an escape */
function endOfKey(bytes: Buffer, at: number): number {
  const { length } = bytes
  for (; at < length; at++) {
    const byte = bytes[at] ?? 0
    if (byte === QUOTE) return at
    if (byte === BACKSLASH) return ODD
    if (byte < 0x20) return WRONG
  }
  return WRONG
}

/** The members of an object that were read, one bit each. A repeated member is ODD. */
export class SeenMembers {
  bits = 0

  /** True when all of these bits are set. */
  has(members: number): boolean {
    return (this.bits & members) === members
  }

  /** Sets the bit. @returns false: it was set before */
  isFirst(member: number): boolean {
    const isFirst = (this.bits & member) === 0
    this.bits |= member
    return isFirst
  }
}

/** The output in an event or an answer. */
export class Output {
  /** Text, reasoning, a tool call, a picture or a sound. */
  isThere = false
  /** Bytes in UTF-8 of text, reasoning and arguments of tools. */
  bytes = 0
  /** The member that held a chat's reasoning so far, in all events; null: no reasoning. */
  thinksIn: ThinksIn | null = null

  clear(): void {
    this.isThere = false
    this.bytes = 0
  }

  thinks(name: ThinksIn): void {
    this.thinksIn = thinksIn(this.thinksIn, name)
  }

  add(bytes: number): void {
    this.bytes += bytes
    if (bytes > 0) this.isThere = true
  }
}

/** @param before what was seen so far */
export function thinksIn(before: ThinksIn | null, name: ThinksIn): ThinksIn {
  return before === null || before === name ? name : 'both'
}

const NO_BYTES = Buffer.alloc(0)

/**
 * A walk over an event, or over a whole answer: one object with only white space around it. Input that the
 * walk cannot handle (names with escapes, repeated members, several lines, bytes that are not UTF-8) is
 * rewritten first, and walked over again.
 */
export abstract class WholeWalk {
  /** The walked bytes: the provider's, or the rewritten ones. */
  bytes: Buffer = NO_BYTES
  protected readonly walk = new ObjectWalk()
  /** The opening brace. */
  protected start = 0
  /** The place after the closing brace. */
  protected end = 0

  /**
   * @param isOneLine the bytes have no line end in them
   * @returns false: the bytes are not a JSON object, or have values that cannot be passed on
   */
  run(bytes: Buffer, isOneLine: boolean): boolean {
    const end = isOneLine && isUtf8(bytes) ? this.#begin(bytes) : ODD
    if (end !== ODD) return end !== WRONG
    const anew = this.anew(bytes)
    return anew !== null && this.#begin(anew) >= 0
  }

  /** Releases the bytes and keeps the counts. */
  release(): void {
    this.bytes = NO_BYTES
    this.walk.begin(NO_BYTES)
  }

  /** Walks over `bytes`. @returns their end, WRONG or ODD */
  protected abstract over(): number

  /** The bytes rewritten in the regular form; null: impossible. */
  protected abstract anew(bytes: Buffer): Buffer | null

  /** Walks over all bytes as one object with these members. */
  protected object(members: Members): number {
    this.start = endOfSpace(this.bytes, 0)
    if (this.bytes[this.start] !== OPEN_OBJECT) return ODD
    return this.ended(this.walk.object(members, this.start, 0, 1))
  }

  /** @param end of the object, or a fault */
  protected ended(end: number): number {
    if (end < 0) return end
    this.end = end
    return endOfSpace(this.bytes, end) === this.bytes.length ? end : WRONG
  }

  /** The span as a slice of the bytes, valid as long as they are; null for no span. */
  protected partOf(span: Span | null): Buffer | null {
    return span === null ? null : this.bytes.subarray(span.start, span.end)
  }

  /** The JSON string at the span, decoded; null for no span. */
  protected textOf(span: Span | null): string | null {
    return span === null ? null : (JSON.parse(this.bytes.toString('utf8', span.start, span.end)) as string)
  }

  #begin(bytes: Buffer): number {
    this.bytes = bytes
    this.walk.begin(bytes)
    return this.over()
  }
}
