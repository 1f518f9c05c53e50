import { SpanList, type KeptPlaces, type MemberSpan } from '../schemas/kept-body.ts'
import {
  JSON_DEPTH_MAX,
  JSON_VALUES_MAX,
  KEPT_MARKS_MAX,
  KEPT_MEMBERS_MAX,
} from '../schemas/limits/limits.ts'
import * as json from '../schemas/values/json-bytes.ts'
import { tooDeep } from './json-fault.ts'
import {
  endOfLiteral,
  endOfString,
  endOfText,
  isWritten,
  jsonBytes,
  LONE_SURROGATE,
  mendSurrogates,
  NOT_FINITE,
  type JsonBytes,
} from './json-syntax.ts'
import {
  hashedWith,
  misspelledAt,
  NO_NAME,
  plannedAt,
  type Deciding,
  type Key,
  type KeptNames,
  type Plan,
} from './kept-plan.ts'

/** Local names: looking up another module's name at each use costs a tenth of the time of these loops. */
const {
  BACKSLASH,
  CLOSE_LIST,
  CLOSE_OBJECT,
  COLON,
  COMMA,
  OPEN_LIST,
  OPEN_OBJECT,
  QUOTE,
  WRONG,
  endOfSpace,
} = json

const TOO_DEEP = -4
const TOO_MANY = -5
const TOO_MANY_MEMBERS = -6
const TOO_MANY_MARKS = -7
const OTHER_CASE = -8
const FAULTS: Readonly<Record<number, string>> = {
  [LONE_SURROGATE]: 'A string contains a lone surrogate.',
  [NOT_FINITE]: 'A number is out of range.',
  [TOO_MANY]: `The known members contain more than ${JSON_VALUES_MAX} objects, lists and members.`,
  [TOO_MANY_MEMBERS]: `Known members are repeated more than ${KEPT_MEMBERS_MAX} times.`,
  [TOO_MANY_MARKS]: `The messages and tools have more than ${KEPT_MARKS_MAX} extensions, such as cache_control.`,
}

const UPPER_A = 0x41
const LAST_ASCII = 0x7f
const NONE: ReadonlySet<number> = new Set()
/** More values than a body can have. Used for skipped values, which take no memory and are not limited. */
const UNCOUNTED = 2 ** 30

type Place = { -readonly [figure in Exclude<keyof MemberSpan, 'name'>]: number }

/** A member of the outermost object. */
export interface Member extends json.Span {
  readonly name: string
}

export type BodyScan =
  /**
   * Of members with the same name only the last is listed, at the place of the first. `others` has as many unknown
   * members as requested.
   */
  | {
      readonly ok: true
      readonly known: readonly Member[]
      readonly others: readonly Member[]
      /** Members of the body, whatever their names. */
      readonly count: number
      /** Null without `keeps`. */
      readonly places: KeptPlaces | null
      /**
       * The key of the first nested member that makes the body ambiguous, and the name that it repeats or
       * misspells; null: none does.
       */
      readonly ambiguous: Misnamed | null
    }
  /** The body is not an object; `first` is the first byte of its value. */
  | { readonly ok: true; readonly known: null; readonly first: number }
  /**
   * For valid JSON that is refused, `detail` gives the reason, or `misnamed` a member of the outermost object
   * that has a known name in another case. Without both the body is not JSON.
   */
  | {
      readonly ok: false
      readonly detail: string | null
      readonly misnamed?: Misnamed
    }

export interface Misnamed {
  /** The opening quote of the key. */
  readonly at: number
  readonly name: string
}

export interface ScanInput {
  /** The names of known members, in ASCII. */
  readonly names: readonly string[]
  /** Number of unknown members whose places are returned; the others are skipped. */
  readonly othersMax: number
  /** Nesting levels; JSON_DEPTH_MAX when omitted. */
  readonly depthMax?: number
  /** The members whose places are returned; `names` are among them. */
  readonly keeps?: KeptNames
}

/**
 * One pass over the bytes of a JSON body, which are UTF-8, before any of it is parsed: the body is strict
 * JSON, no deeper than `depthMax`, and the contents of its known members fit into the heap of a thread. The
 * scan decides as `JSON.parse` and `jsonFault` do, also about repeated members; these two check the strings
 * of known members.
 */
export function scanBody(bytes: Uint8Array, input: ScanInput): BodyScan {
  return new BodyScanner(bytes, input).run()
}

class BodyScanner {
  readonly #json: JsonBytes
  readonly #bytes: Buffer
  readonly #input: ScanInput
  readonly #keeps: KeptNames | null
  readonly #depthMax: number
  readonly #members = new SpanList()
  readonly #marks = new SpanList()
  #count = 0
  /** Index of the name of the outermost object's current member. */
  #topIndex = NO_NAME
  readonly #known = new Map<string, Member>()
  readonly #others = new Map<string, Member>()
  /** Objects, lists and members that are still allowed. */
  #room = JSON_VALUES_MAX
  /** Whether the value belongs to a known member, which is parsed next; the parser checks its strings. */
  #isParsed = false
  readonly #key: { -readonly [figure in keyof Key]: Key[figure] } = { start: 0, hash: 0, isOdd: false }
  #ambiguous: Misnamed | null = null
  #misnamed: Misnamed | null = null
  /** The next member to keep. It is reused: a new object for each would be half of the cost of a small body. */
  readonly #place: Place = { keyStart: 0, start: 0, end: 0, next: 0, comma: 0, inner: 0 }

  constructor(bytes: Uint8Array, input: ScanInput) {
    this.#json = jsonBytes(bytes)
    this.#bytes = this.#json.bytes
    this.#input = input
    this.#keeps = input.keeps ?? null
    this.#depthMax = input.depthMax ?? JSON_DEPTH_MAX
  }

  run(): BodyScan {
    const bytes = this.#bytes
    const start = endOfSpace(bytes, 0)
    const isObject = bytes[start] === OPEN_OBJECT
    if (!isObject) this.#room = UNCOUNTED
    let end = isObject ? this.#object(start + 1, 1, null) : this.#value(start, 1, null)
    const close = end - 1
    if (end >= 0) {
      end = endOfSpace(bytes, end) === bytes.length ? end : WRONG
    }
    if (this.#misnamed !== null) return { ok: false, detail: null, misnamed: this.#misnamed }
    if (end < 0) return { ok: false, detail: this.#detailOf(end) }
    if (!isObject) return { ok: true, known: null, first: bytes[start] ?? 0 }
    const [known, others] = [[...this.#known.values()], [...this.#others.values()]]
    const places = this.#keeps === null ? null : this.#placesTo(close)
    return { ok: true, known, others, count: this.#count, places, ambiguous: this.#ambiguous }
  }

  #detailOf(fault: number): string | null {
    return fault === TOO_DEEP ? tooDeep(this.#depthMax) : (FAULTS[fault] ?? null)
  }

  #placesTo(close: number): KeptPlaces {
    return { members: this.#members.packed(), marks: this.#marks.packed(), count: this.#count, close }
  }

  #value(at: number, level: number, plan: Plan | null): number {
    switch (this.#bytes[at]) {
      case QUOTE:
        return this.#string(at)
      case OPEN_OBJECT:
        return this.#object(at + 1, level, plan)
      case OPEN_LIST:
        return this.#list(at + 1, level, plan?.each ?? null)
      default:
        return endOfLiteral(this.#bytes, at)
    }
  }

  #string(at: number): number {
    if (this.#isParsed) return endOfText(this.#bytes, at + 1)
    const start = at + 1
    const fault = endOfString(this.#json, start)
    if (fault !== LONE_SURROGATE || this.#keeps === null) return fault
    // A lone surrogate is allowed here, since such a text came from a model: refusing it would end the conversation.
    const end = endOfText(this.#bytes, start)
    if (end < 0) return end
    mendSurrogates(this.#bytes, { start, end })
    return endOfString(this.#json, start)
  }

  /** Reads a key of an object with a plan, within a member that is parsed; the key becomes `#key`. */
  #plannedKey(quote: number): number {
    const bytes = this.#bytes
    let hash = 0
    let isOdd = false
    let at = quote + 1
    for (; ; at++) {
      const byte = bytes[at]
      if (byte === QUOTE) break
      if (byte === undefined) return WRONG
      if (byte >= LAST_ASCII || (byte >= UPPER_A && byte <= BACKSLASH)) {
        isOdd = true
        if (byte === BACKSLASH) at++
      }
      hash = hashedWith(hash, byte)
    }
    const key = this.#key
    key.start = quote + 1
    key.hash = hash
    key.isOdd = isOdd
    return at + 1
  }

  /** @param plan for each element */
  #list(open: number, level: number, plan: Plan | null): number {
    if (level > this.#depthMax) return TOO_DEEP
    if (--this.#room < 0) return TOO_MANY
    const bytes = this.#bytes
    let at = endOfSpace(bytes, open)
    if (bytes[at] === CLOSE_LIST) return at + 1
    for (;;) {
      const end = this.#value(at, level + 1, plan)
      if (end < 0) return end
      at = endOfSpace(bytes, end)
      if (bytes[at] === CLOSE_LIST) return at + 1
      if (bytes[at] !== COMMA) return WRONG
      at = endOfSpace(bytes, at + 1)
    }
  }

  /** @param plan of the object; null for the outermost object, whose members have plans in `keeps` */
  #object(open: number, level: number, plan: Plan | null): number {
    if (level > this.#depthMax) return TOO_DEEP
    if (--this.#room < 0) return TOO_MANY
    const bytes = this.#bytes
    const marksBefore = this.#marks.count
    let at = endOfSpace(bytes, open)
    if (bytes[at] === CLOSE_OBJECT) return at + 1
    let comma = 0
    let counted = NONE
    let seen = 0
    for (;;) {
      if (bytes[at] !== QUOTE) return WRONG
      const keyEnd = plan === null ? this.#string(at) : this.#plannedKey(at)
      if (keyEnd < 0) return keyEnd
      const colon = endOfSpace(bytes, keyEnd)
      if (bytes[colon] !== COLON) return WRONG
      const start = endOfSpace(bytes, colon + 1)
      if (level > 1 && --this.#room < 0) return TOO_MANY
      const planned = plan === null ? null : plannedAt(plan, bytes, this.#key)
      const decider =
        planned ?? (plan !== null && this.#key.isOdd ? misspelledAt(plan, bytes, this.#key) : null)
      if (decider !== null && decider.bit !== 0) {
        const isAmbiguous = planned === null || (seen & decider.bit) !== 0
        if (isAmbiguous) this.#ambiguous ??= { at, name: decider.name }
        seen |= decider.bit
      }
      const end =
        level === 1 ? this.#top(at, keyEnd, start) : this.#value(start, level + 1, planned?.within ?? null)
      if (end < 0) return end
      const after = endOfSpace(bytes, end)
      const isLast = bytes[after] === CLOSE_OBJECT
      if (!isLast && bytes[after] !== COMMA) return WRONG
      const next = isLast ? 0 : endOfSpace(bytes, after + 1)
      const index = level === 1 ? this.#topIndex : (planned?.index ?? NO_NAME)
      if (index !== NO_NAME) {
        const place = this.#place
        place.keyStart = at
        place.start = start
        place.end = end
        place.next = next
        place.comma = comma
        const fault = this.#keep(index, level === 1)
        if (fault < 0) return fault
      }
      const deciding = planned?.deciding ?? null
      if (deciding !== null) counted = this.#countedAt(start, deciding)
      if (isLast) {
        if (plan !== null) this.#undo(plan, counted, marksBefore)
        return after + 1
      }
      comma = after
      at = next
    }
  }

  /** Keeps `#place`. @returns a fault, or 0 */
  #keep(index: number, isTop: boolean): number {
    const place = this.#place
    const list = isTop ? this.#members : this.#marks
    if (list.count >= (isTop ? KEPT_MEMBERS_MAX : KEPT_MARKS_MAX))
      return isTop ? TOO_MANY_MEMBERS : TOO_MANY_MARKS
    place.inner = this.#bytes[place.start] === OPEN_OBJECT ? endOfSpace(this.#bytes, place.start + 1) : 0
    list.add(index, place)
    return 0
  }

  /** Drops the marks of members that do not count, because the deciding member has another value. */
  #undo({ conditional }: Plan, counted: ReadonlySet<number>, marksBefore: number): void {
    if (conditional.size > 0 && this.#marks.count > marksBefore)
      this.#marks.keep(marksBefore, (index) => !conditional.has(index) || counted.has(index))
  }

  #countedAt(start: number, deciding: readonly Deciding[]): ReadonlySet<number> {
    if (this.#bytes[start] !== QUOTE) return NONE
    for (const { text, counted } of deciding) if (isWritten(this.#bytes, start + 1, text)) return counted
    return NONE
  }

  /**
   * Reads a member of the outermost object.
   * @param keyStart the opening quote of its key
   * @param keyEnd the place after the closing quote
   */
  #top(keyStart: number, keyEnd: number, start: number): number {
    this.#count++
    const keeps = this.#keeps
    const index = keeps === null ? NO_NAME : keeps.indexAt(this.#bytes, keyStart + 1)
    this.#topIndex = index
    const known = keeps === null ? this.#nameAt(keyStart + 1) : (keeps.parsed[index] ?? null)
    if (known === null) {
      // Parsers that ignore case would read this member instead of the one that was checked and priced.
      const near = index === NO_NAME && keeps !== null ? keeps.nearAt(this.#bytes, keyStart + 1) : null
      if (near !== null) {
        this.#misnamed = { at: keyStart, name: near }
        return OTHER_CASE
      }
      const end = this.#skip(start)
      if (end >= 0 && this.#others.size < this.#input.othersMax)
        this.#other({ start: keyStart, end: keyEnd }, { start, end })
      return end
    }
    const before = this.#known.get(known)
    // The last of two members with the same name is parsed.
    const skipped = before === undefined ? 0 : this.#skip(before.start)
    if (skipped < 0) return skipped
    this.#isParsed = true
    const end = this.#value(start, 2, keeps?.plans[index] ?? null)
    this.#isParsed = false
    if (end >= 0) this.#known.set(known, { name: known, start, end })
    return end
  }

  /** Skips a value of any size. */
  #skip(start: number): number {
    const room = this.#room
    this.#room = UNCOUNTED
    const end = this.#value(start, 2, null)
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
}

function textOf(bytes: Buffer, { start, end }: json.Span): string {
  return JSON.parse(bytes.toString('utf8', start, end)) as string
}
