import type { Failure } from '../schemas/failures.ts'
import type { Signature } from './prompt.ts'
import { MadeCallIds } from '../server/upstream/inference/parts/made-call-ids.ts'
import { OpenCall } from '../server/upstream/inference/parts/open-call.ts'
import type { WrittenPart } from './parts.ts'

/** UTF-16 units of parts that wait for the end of a call before them. Decision. */
export const HELD_UNITS_MAX = 1_048_576
/** UTF-16 units that a part counts beside its text or its signature, for its memory and its events. */
export const PART_UNITS = 64

const TOO_MUCH: Failure = { name: 'upstream_too_large', fields: { limit: HELD_UNITS_MAX } }
const NAMELESS: Failure = { name: 'upstream_invalid', detail: 'The model called a tool without a name.' }

export interface QueueOptions {
  readonly write: (part: WrittenPart) => void
  /** The provider's id of the answer; null: it told none. */
  readonly answerId: () => string | null
}

/**
 * Puts parts in one line: a call of a tool is written whole before anything that came behind its begin. What
 * belongs to the first of the line is written at once. D5.
 */
export class PartQueue {
  /** Calls that have begun. */
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

  /** A part that was kept waits no more. */
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
    // What is written at once is not held, however long it is.
    return this.advance() ?? this.#crowded()
  }

  /** A call's signature that comes when another call has begun has no place any more. */
  sign(call: OpenCall, signature: Signature): Failure | null {
    if (call.isWritten) {
      if (call === this.#last) this.#options.write(signed(signature))
      return null
    }
    if (call.signature !== null) this.drop(signed(call.signature))
    call.signature = signature
    return this.keep(signed(signature))
  }

  /** Nothing follows: all that waits is written. */
  flush(): Failure | null {
    for (const item of this.#line) if (item instanceof OpenCall) item.isClosed = true
    return this.advance()
  }

  /** Writes what need not wait any more. */
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
    // A call without arguments has an empty object of them.
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
