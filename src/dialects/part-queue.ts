import { createHash, randomUUID } from 'node:crypto'
import type { Failure } from '../schemas/failures.ts'
import type { Signature } from './prompt/prompt.ts'
import type { WrittenPart } from './parts.ts'
import type { NamedCall } from './chat/tool-calls.ts'

/** The most UTF-16 units of parts that wait for the end of an earlier call. Decision. */
export const HELD_UNITS_MAX = 1_048_576
/** UTF-16 units that a part counts in addition to its text or signature, for its memory and its events. */
export const PART_UNITS = 64

const TOO_MUCH: Failure = { name: 'upstream_too_large', fields: { limit: HELD_UNITS_MAX } }
const NAMELESS: Failure = { name: 'upstream_invalid', detail: 'The model called a tool without a name.' }

export interface QueueOptions {
  readonly write: (part: WrittenPart) => void
  /** The provider's id of the answer; null: not reported. */
  readonly answerId: () => string | null
}

/**
 * Puts parts in order: a tool call is written whole before anything that arrived after its start. Fragments
 * of the first part in the queue are written at once.
 */
export class PartQueue {
  calls = 0
  readonly #options: QueueOptions
  readonly #line: (OpenCall | WrittenPart)[] = []
  #heldUnits = 0
  #last: OpenCall | null = null
  readonly #made = new MadeCallIds()

  constructor(options: QueueOptions) {
    this.#options = options
  }

  /** Bytes of memory that waiting parts take. */
  get heldBytes(): number {
    return this.#heldUnits * 2
  }

  say(part: WrittenPart): Failure | null {
    if (this.#line.length === 0) {
      this.#options.write(part)
      return null
    }
    this.#line.push(part)
    return this.#hold(unitsOf(part))
  }

  /** Counts a part that waits elsewhere until its call begins. */
  keep(part: WrittenPart): Failure | null {
    return this.#hold(unitsOf(part))
  }

  /** Removes a kept part from the count. */
  drop(part: WrittenPart): void {
    this.#heldUnits -= unitsOf(part)
  }

  /** A call has begun; its fragments follow by `add`. @param nth its place among the calls */
  begin(nth = 0): OpenCall {
    const call = new OpenCall(nth)
    this.#line.push(call)
    return call
  }

  add(call: OpenCall, text: string): Failure | null {
    const before = call.held.length
    call.add(text)
    this.#heldUnits += call.held.length - before
    // Text that is written at once does not count as held, however long it is.
    return this.advance() ?? this.#crowded()
  }

  /** A call's signature is lost if it comes after another call has begun. */
  sign(call: OpenCall, signature: Signature): Failure | null {
    if (call.isWritten) {
      if (call === this.#last) this.#options.write(signed(signature))
      return null
    }
    if (call.signature !== null) this.drop(signed(call.signature))
    call.signature = signature
    return this.keep(signed(signature))
  }

  /** No part follows: writes all waiting parts. */
  flush(): Failure | null {
    for (const item of this.#line) if (item instanceof OpenCall) item.isClosed = true
    return this.advance()
  }

  /** Writes the parts that need not wait any more. */
  advance(): Failure | null {
    for (let [first] = this.#line; first !== undefined; [first] = this.#line) {
      if (!(first instanceof OpenCall)) this.#release(first)
      else if (!this.#call(first)) return first.isClosed ? NAMELESS : null
      this.#line.shift()
    }
    return null
  }

  /** @returns all of the call was written */
  #call(call: OpenCall): boolean {
    if (!call.hasBegun) {
      // Some servers begin with an empty call.
      if (call.name === null) return call.isClosed && call.held === ''
      if (call.id === null && call.held === '' && !call.isOver) return false
      this.#begun(call, call.name)
    }
    if (call.held !== '') this.#argue(call)
    if (call.isOver) this.#ended(call)
    return call.isOver
  }

  #argue(call: OpenCall): void {
    this.#options.write({ kind: 'arguments', choice: 0, text: call.held })
    this.#heldUnits -= call.held.length
    call.held = ''
    call.hasArguments = true
  }

  #begun(call: OpenCall, name: string): void {
    call.hasBegun = true
    this.#last = call
    call.id ??= this.#made.of({ nth: this.calls, name, answerId: this.#options.answerId() })
    this.calls++
    this.#options.write({ kind: 'tool', choice: 0, id: call.id, name })
  }

  #ended(call: OpenCall): void {
    call.isWritten = true
    // The arguments of a call without any are an empty object.
    if (!call.hasArguments) this.#options.write({ kind: 'arguments', choice: 0, text: '{}' })
    if (call.signature !== null) this.#release(signed(call.signature))
  }

  #release(part: WrittenPart): void {
    this.drop(part)
    this.#options.write(part)
  }

  #hold(units: number): Failure | null {
    this.#heldUnits += units
    return this.#crowded()
  }

  #crowded(): Failure | null {
    return this.#heldUnits > HELD_UNITS_MAX ? TOO_MUCH : null
  }
}

/** UTF-16 units that a part counts. */
export function unitsOf(part: WrittenPart): number {
  if ('text' in part) return PART_UNITS + part.text.length
  return PART_UNITS + (part.kind === 'signature' ? part.signature.data.length : 0)
}

function signed(signature: Signature): WrittenPart {
  return { kind: 'signature', choice: 0, signature, of: 'call' }
}

/** A tool call whose fragments come one by one; the name is not always first. */
export class OpenCall implements NamedCall {
  readonly nth: number
  /** The provider's index; null: none. */
  index: number | null = null
  /** Null: not received so far. */
  id: string | null = null
  /** Null: not received so far. */
  name: string | null = null
  signature: Signature | null = null
  /** Its first part was written. */
  hasBegun = false
  /** Some of its arguments were written. */
  hasArguments = false
  /** All of it was written. */
  isWritten = false
  /** Arguments that were not written yet. */
  held = ''
  /** No more fragments follow, by the provider's report or because the answer has ended. */
  isClosed = false
  readonly #end = new JsonEnd()

  /** @param nth its place among the calls, from 0 on */
  constructor(nth: number) {
    this.nth = nth
  }

  /** No arguments follow. */
  get isOver(): boolean {
    return this.isClosed || this.#end.isOver
  }

  /** Arguments are one JSON value. Text after its end, such as the same value again, is ignored. */
  add(text: string): void {
    if (this.isOver) return
    this.held += text.slice(0, this.#end.add(text))
  }
}

const HASH_CHARS = 16

export interface UnnamedCall {
  /** Number of earlier calls in the answer. */
  readonly nth: number
  readonly name: string
  /** The provider's id of the answer; null: not reported so far. */
  readonly answerId: string | null
}

/** Ids for the calls of an answer whose provider gives none. They are unique within a conversation. */
export class MadeCallIds {
  #seed: string | null = null

  of({ nth, name, answerId }: UnnamedCall): string {
    this.#seed ??= answerId ?? randomUUID()
    const hash = createHash('sha256').update(JSON.stringify([this.#seed, nth, name]))
    return `call_${nth}_${hash.digest('hex').slice(0, HASH_CHARS)}`
  }
}

const [QUOTE, BACKSLASH, OPEN_OBJECT, OPEN_LIST, CLOSE_OBJECT, CLOSE_LIST] = Array.from('"\\{[}]', (unit) =>
  unit.charCodeAt(0),
)

/** Finds the end of a JSON object or list that comes in pieces. For any other value it never finds an end. */
export class JsonEnd {
  #depth = 0
  #isString = false
  #isEscaped = false
  #isOver = false

  /** The value is whole: only white space may follow. */
  get isOver(): boolean {
    return this.#isOver
  }

  /** @returns UTF-16 units of the text that belong to the value */
  add(text: string): number {
    let at = 0
    for (; at < text.length && !this.#isOver; at++) this.#take(text.charCodeAt(at))
    return at
  }

  #take(unit: number): void {
    if (this.#isEscaped) this.#isEscaped = false
    else if (unit === QUOTE) this.#isString = !this.#isString
    else if (this.#isString) this.#isEscaped = unit === BACKSLASH
    else if (unit === OPEN_OBJECT || unit === OPEN_LIST) this.#depth++
    else if (unit === CLOSE_OBJECT || unit === CLOSE_LIST) this.#isOver = --this.#depth <= 0
  }
}
