import { JSON_TEXT_DEPTH_MAX } from '../../schemas/files/file-limits.ts'
import { exportsOf } from '../web-assembly.ts'
import { AUTOMATON_CODE } from './automaton-code.ts'

/** Actions that all tables share. Numbers below `first` are states; an action from `stop` on ends the run. */
export const SHARED_ACTIONS = {
  first: 64,
  /** Open and close a level. They end the run at the outermost level, and when a level does not match. */
  openObject: 64,
  openArray: 65,
  closeObject: 66,
  closeArray: 67,
  /** A comma in an object or array. The two numbers after this one select the next states. */
  comma: 68,
  /** Counts. */
  count: 71,
  stop: 72,
} as const

/** The kinds of levels. */
export const OBJECT = 1
export const ARRAY = 2

/** Bytes of a text that the memory holds at once: a slice of a session, with some bytes before it. */
export const HELD_BYTES_MAX = 163_840
/** Places in the memory, as in automaton.wat. */
const AT = {
  follow: 0x20,
  levels: 0x100,
  tables: 0x2a00,
  text: 0x10000,
  pairs: 0x40000,
  end: 0x50000,
} as const
const REGISTERS = { state: 0, depth: 1, count: 2, action: 3, deepest: 4 } as const
/** Bytes of the two vectors of a state. */
const SKIP_BYTES = 32
/** Bits of a vector's lane, without the highest. */
const GROUPS_MAX = 7
const COUNTED = 0x80
const WORD_BYTES = 4

/** Runs a table over the bytes in `[at, end)`. @returns the place of the byte whose action ends the run, or `end` */
type Run = (table: number, skips: number, at: number, end: number) => number

export interface Reading {
  readonly memory: Uint8Array
  readonly run: Run
  /** Checks every fourth place in `[at, end)`. @returns the first of them with a pair of the table; otherwise a place at or after `end` */
  readonly pair: (at: number, end: number) => number
  /**
   * @param one four bytes, the lowest first; `other` begins with the same two
   * @returns the first place in `[at, end)` with one of them; otherwise a place at or after `end`
   */
  readonly word: (at: number, end: number, one: number, other: number) => number
}

/** The code in WebAssembly. Null when the processor, or a flag of Node, has no vectors of 16 bytes. */
export function vectorReading(): Reading | null {
  const code = exportsOf(AUTOMATON_CODE)
  if (code === null) return null
  const memory = code['memory'] as { readonly buffer: ArrayBuffer }
  return {
    memory: new Uint8Array(memory.buffer),
    run: code['run'] as Run,
    pair: code['pair'] as Reading['pair'],
    word: code['word'] as Reading['word'],
  }
}

/** The same reading, byte by byte. */
export function byteReading(): Reading {
  const memory = new Uint8Array(AT.end)
  const registers = new Int32Array(memory.buffer, 0, AT.follow / 4)
  return {
    memory,
    run: (table, _skips, at, end) => runByBytes(memory, registers, { table, at, end }),
    pair(from, end) {
      let at = from
      while (at < end && memory[AT.pairs + pairOf(memory[at] ?? 0, memory[at + 1] ?? 0)] === 0) at += 4
      return at
    },
    word(from, end, one, other) {
      for (let at = from; at < end; at++) {
        const word = pairOf(
          pairOf(memory[at] ?? 0, memory[at + 1] ?? 0),
          pairOf(memory[at + 2] ?? 0, memory[at + 3] ?? 0) << 8,
        )
        if (word === one || word === other) return at
      }
      return end
    },
  }
}

/** The place of a pair of bytes in a table of pairs. */
export function pairOf(first: number, second: number): number {
  return first | (second << 8)
}

/** The bytes of a text that are in the memory, until the next ones replace them. */
export interface HeldText {
  readonly bytes: Uint8Array
}

/** The memory with all tables, in which a thread reads its texts one after another. */
export class Automata {
  readonly #reading: Reading
  readonly #memory: Uint8Array
  readonly #registers: Int32Array
  /** The kinds of the open levels. */
  readonly levels: Uint8Array
  #tablesEnd: number = AT.tables

  /** @param deepest maximum number of open levels */
  constructor(reading: Reading, deepest: number) {
    const { memory } = reading
    if (AT.levels + deepest > AT.tables) throw new RangeError(`not enough space for ${deepest} levels`)
    this.#reading = reading
    this.#memory = memory
    this.#registers = new Int32Array(memory.buffer, 0, AT.follow / 4)
    this.#registers[REGISTERS.deepest] = deepest
    this.levels = memory.subarray(AT.levels, AT.levels + deepest)
  }

  /** Sets the state after an action. The state after a counted byte must be set before the tables that count are added. */
  follow(action: number, state: number): void {
    this.#memory[AT.follow + action] = state
  }

  /** @returns the place of the table */
  add(table: Uint8Array): number {
    const place = this.#tablesEnd
    const states = table.length >> 8
    this.#tablesEnd += table.length + states * SKIP_BYTES
    if (this.#tablesEnd > AT.text) throw new RangeError('not enough space for the table')
    this.#memory.set(table, place)
    const counted = this.#memory[AT.follow + SHARED_ACTIONS.count] ?? 0
    for (let state = 0; state < states; state++)
      this.#memory.set(skipsOf(table, state, counted), place + table.length + state * SKIP_BYTES)
    return place
  }

  /** @param bytes up to HELD_BYTES_MAX, including those in `before` @param before bytes that precede them */
  hold(bytes: Uint8Array, before = NO_BYTES): HeldText {
    const at = AT.text + before.length
    this.#memory.set(before, AT.text)
    this.#memory.set(bytes, at)
    return { bytes: this.#memory.subarray(AT.text, at + bytes.length) }
  }

  /**
   * Reads the held text from `at` to `end`, with the state, count and depth that are set.
   * @returns the place of the byte whose `action` ends the run; or `end`, when the action is 0
   */
  read({ place, skips }: Automaton, at: number, end: number): number {
    return this.#reading.run(place, skips, AT.text + at, AT.text + end) - AT.text
  }

  /** @param entries an entry for each pair of bytes; 0 for a pair that is not searched */
  setPairs(entries: Uint8Array): void {
    this.#memory.set(entries, AT.pairs)
  }

  /** Whether the bytes are part of this memory. */
  isHeld(bytes: Uint8Array): boolean {
    return bytes.buffer === this.#memory.buffer
  }

  /**
   * Looks up every fourth place of held bytes in the table of pairs.
   * @returns the first place from `at` on with a pair of the table; otherwise a place at or after `end`
   */
  pairIn({ byteOffset }: Uint8Array, at: number, end: number): number {
    return this.#reading.pair(byteOffset + at, byteOffset + end) - byteOffset
  }

  /**
   * @param words of four bytes each, the lowest first; both begin with the same two bytes
   * @returns the first place in held bytes from `at` on with one of the words; -1 without one
   */
  wordIn({ byteOffset, length }: Uint8Array, at: number, [one, other]: readonly [number, number]): number {
    const end = byteOffset + length - WORD_BYTES + 1
    const place = this.#reading.word(byteOffset + at, end, one, other)
    return place < end ? place - byteOffset : -1
  }

  get state(): number {
    return this.#registers[REGISTERS.state] ?? 0
  }

  set state(state: number) {
    this.#registers[REGISTERS.state] = state
  }

  get depth(): number {
    return this.#registers[REGISTERS.depth] ?? 0
  }

  set depth(depth: number) {
    this.#registers[REGISTERS.depth] = depth
  }

  get count(): number {
    return this.#registers[REGISTERS.count] ?? 0
  }

  set count(count: number) {
    this.#registers[REGISTERS.count] = count
  }

  get action(): number {
    return this.#registers[REGISTERS.action] ?? 0
  }
}

const NO_BYTES = new Uint8Array(0)

/** A table in the memory. */
export class Automaton {
  readonly place: number
  readonly skips: number

  constructor(automata: Automata, table: Uint8Array) {
    this.place = automata.add(table)
    this.skips = this.place + table.length
  }
}

/**
 * The two vectors of a state. A byte that leaves the state is found by its halves: the entry of its low half and that
 * of its high half have a bit in common. High halves that leave the state with the same low halves share a bit. When
 * seven bits are not enough, some bytes are found although they do not leave the state. The highest bit marks the byte
 * that is only counted.
 * @param counted the state after a counted byte
 */
function skipsOf(table: Uint8Array, state: number, counted: number): Uint8Array {
  const skips = new Uint8Array(SKIP_BYTES)
  const only = countedByte(table, state, counted)
  const groups: number[] = []
  for (let high = 0; high < 16; high++) {
    let lows = 0
    for (let low = 0; low < 16; low++) {
      const byte = (high << 4) | low
      if (byte !== only && table[(state << 8) | byte] !== state) lows |= 1 << low
    }
    if (lows === 0) continue
    const known = groups.indexOf(lows)
    const nth = known >= 0 ? known : Math.min(groups.length, GROUPS_MAX - 1)
    groups[nth] = (groups[nth] ?? 0) | lows
    skips[16 + high] = 1 << nth
  }
  for (const [nth, lows] of groups.entries())
    for (let low = 0; low < 16; low++)
      if ((lows & (1 << low)) !== 0) skips[low] = (skips[low] ?? 0) | (1 << nth)
  if (only === null) return skips
  for (const half of [only & 0xf, 16 + (only >> 4)]) skips[half] = (skips[half] ?? 0) | COUNTED
  return skips
}

/**
 * The only byte that is counted in a state; null unless the state after it treats this byte, and the bytes that stay in
 * the state, as the state itself does. A run of all these bytes is then read together.
 */
function countedByte(table: Uint8Array, state: number, counted: number): number | null {
  const entryOf = (of: number, byte: number): number => table[(of << 8) | byte] ?? 0
  const bytes = Array.from({ length: 256 }, (_, byte) => byte)
  const [only, ...others] = bytes.filter((byte) => entryOf(state, byte) === SHARED_ACTIONS.count)
  if (only === undefined || others.length > 0) return null
  const isAlike = bytes
    .filter((byte) => byte === only || entryOf(state, byte) === state)
    .every((byte) => entryOf(counted, byte) === entryOf(state, byte))
  return isAlike ? only : null
}

interface Span {
  readonly table: number
  readonly at: number
  readonly end: number
}

/** The run of automaton.wat. */
function runByBytes(memory: Uint8Array, registers: Int32Array, { table, ...span }: Span): number {
  const { first, openArray, closeObject, comma, count } = SHARED_ACTIONS
  const deepest = registers[REGISTERS.deepest] ?? 0
  let state = registers[REGISTERS.state] ?? 0
  let depth = registers[REGISTERS.depth] ?? 0
  let action = 0
  let at = span.at
  for (; at < span.end; at++) {
    const next = memory[table + ((state << 8) | (memory[at] ?? 0))] ?? 0
    if (next < first) {
      state = next
      continue
    }
    const level = memory[AT.levels + depth - 1] ?? 0
    let follow = next
    if (next === count) registers[REGISTERS.count] = (registers[REGISTERS.count] ?? 0) + 1
    else if (next > comma || depth === 0) action = next
    else if (next === comma) follow += level
    else if (next <= openArray) {
      if (depth >= deepest) action = next
      else memory[AT.levels + depth++] = next - first + OBJECT
    } else if (depth === 1 || level !== next - closeObject + OBJECT) action = next
    else depth--
    if (action !== 0) break
    state = memory[AT.follow + follow] ?? 0
  }
  registers[REGISTERS.state] = state
  registers[REGISTERS.depth] = depth
  registers[REGISTERS.action] = action
  return at
}

/** The memory for this thread's texts. */
export const AUTOMATA = new Automata(vectorReading() ?? byteReading(), JSON_TEXT_DEPTH_MAX)
