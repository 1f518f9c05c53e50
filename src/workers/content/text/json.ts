import { JSON_TEXT_DEPTH_MAX } from '../../../schemas/files/file-limits.ts'
import { ARRAY, AUTOMATA, Automaton, type HeldText, OBJECT, SHARED_ACTIONS } from '../automaton.ts'

const STATES = {
  failed: 0,
  /** On a line that has no value yet: only objects and arrays may begin here. */
  start: 1,
  value: 2,
  valueOrEnd: 3,
  key: 4,
  keyOrEnd: 5,
  colon: 6,
  after: 7,
  keyText: 8,
  keyEscape: 9,
  keyHex: 10,
  text: 14,
  textEscape: 15,
  textHex: 16,
  minus: 20,
  zero: 21,
  integer: 22,
  point: 23,
  fraction: 24,
  exponent: 25,
  exponentSign: 26,
  exponentDigits: 27,
  /** `true`, `false` and `null` without their first letters; a state for each letter. */
  words: 28,
  /** After the value of the whole text, on the same line. */
  done: 38,
  count: 39,
} as const

/** Actions, which need more than a next state. Their numbers are above those of the states. */
const ACTIONS = { ...SHARED_ACTIONS, newLine: SHARED_ACTIONS.stop } as const

/** The line break, which the two tables treat differently. */
const LINE_FEED = 0x0a

/** The text as JSON, by RFC 8259 and contract C26. */
export interface JsonFinding {
  /** The whole text is one object or array. */
  readonly isJson: boolean
  /** At least two lines that are not empty, each with one object or array. */
  readonly isNdjson: boolean
  /** The reading stopped at a depth above JSON_TEXT_DEPTH_MAX. */
  readonly isTooDeep: boolean
}

const NO_LEVELS = new Uint8Array(0)

/**
 * Reads JSON and NDJSON in one pass: with a table of states and one byte of memory for each open level. A
 * line break inside a value rules out NDJSON, a second value rules out JSON, and the reading stops when both
 * are ruled out.
 */
export class JsonScanner {
  #state: number = STATES.start
  /** The kinds of the open levels, kept between two pieces of the text. */
  #levels: Uint8Array = NO_LEVELS
  #depth = 0
  #values = 0
  #mayBeNdjson = true
  #isTooDeep = false

  /** False: the text is neither, and no further byte can change that. */
  push({ bytes }: HeldText): boolean {
    if (this.#state === STATES.failed) return false
    AUTOMATA.levels.set(this.#levels)
    AUTOMATA.state = this.#state
    AUTOMATA.depth = this.#depth
    for (let at = 0; at < bytes.length; at++) {
      at = AUTOMATA.read(this.#mayBeNdjson ? JSON_LINES : JSON_WHOLE, at, bytes.length)
      this.#depth = AUTOMATA.depth
      if (AUTOMATA.action === 0) break
      AUTOMATA.state = this.#act(AUTOMATA.action, AUTOMATA.state)
      AUTOMATA.depth = this.#depth
    }
    this.#state = AUTOMATA.state
    this.#levels = AUTOMATA.levels.slice(0, this.#depth)
    return this.#state !== STATES.failed
  }

  finish(): JsonFinding {
    const isComplete = this.#state === STATES.start || this.#state === STATES.done
    return {
      isJson: isComplete && this.#values === 1,
      isNdjson: isComplete && this.#mayBeNdjson && this.#values >= 2,
      isTooDeep: this.#isTooDeep,
    }
  }

  /** Handles actions that the automaton leaves to the scanner: those of the outermost level, and faults. */
  #act(action: number, state: number): number {
    switch (action) {
      case ACTIONS.openObject:
        return this.#open(OBJECT, STATES.keyOrEnd)
      case ACTIONS.openArray:
        return this.#open(ARRAY, STATES.valueOrEnd)
      case ACTIONS.closeObject:
        return this.#close(OBJECT)
      case ACTIONS.closeArray:
        return this.#close(ARRAY)
      case ACTIONS.newLine:
        return this.#endLine(state)
      default:
        return STATES.failed
    }
  }

  #open(kind: number, state: number): number {
    if (this.#depth === 0 && this.#values > 0 && !this.#mayBeNdjson) return STATES.failed
    if (this.#depth === JSON_TEXT_DEPTH_MAX) {
      this.#isTooDeep = true
      return STATES.failed
    }
    AUTOMATA.levels[this.#depth++] = kind
    return state
  }

  /** Closes the outermost level, unless it is of the other kind. */
  #close(kind: number): number {
    if (this.#depth !== 1 || AUTOMATA.levels[0] !== kind) return STATES.failed
    this.#depth = 0
    this.#values++
    return STATES.done
  }

  /** Handles a line break within a value. */
  #endLine(state: number): number {
    this.#mayBeNdjson = false
    return this.#values > 0 ? STATES.failed : (JSON_TABLE[(state << 8) | LINE_FEED] ?? STATES.failed)
  }
}

const WORDS = ['rue', 'alse', 'ull'] as const
const SPACE = ' \t\r\n'
const DIGITS = '0123456789'

/**
 * The grammar of RFC 8259 as a table: a row of 256 entries for each state; an entry is the next state or an
 * action. This table treats line breaks as white space.
 */
const JSON_TABLE: Uint8Array = buildTable()
/** Like JSON_TABLE, but reports a line break within a value, after which the text cannot be NDJSON. */
const JSON_LINES_TABLE: Uint8Array = buildLinesTable()

// Within the outermost level the automaton continues by itself after these actions.
AUTOMATA.follow(ACTIONS.openObject, STATES.keyOrEnd)
AUTOMATA.follow(ACTIONS.openArray, STATES.valueOrEnd)
AUTOMATA.follow(ACTIONS.closeObject, STATES.after)
AUTOMATA.follow(ACTIONS.closeArray, STATES.after)
AUTOMATA.follow(ACTIONS.comma + OBJECT, STATES.key)
AUTOMATA.follow(ACTIONS.comma + ARRAY, STATES.value)

const JSON_WHOLE = new Automaton(AUTOMATA, JSON_TABLE)
const JSON_LINES = new Automaton(AUTOMATA, JSON_LINES_TABLE)

function buildLinesTable(): Uint8Array {
  const table = JSON_TABLE.slice()
  for (let state: number = STATES.value; state < STATES.done; state++) {
    if (table[state * 256 + LINE_FEED] !== STATES.failed) table[state * 256 + LINE_FEED] = ACTIONS.newLine
  }
  return table
}

function buildTable(): Uint8Array {
  const table = new Uint8Array(STATES.count * 256)
  const put = (state: number, bytes: string, next: number): void => {
    for (const byte of Buffer.from(bytes, 'latin1')) table[state * 256 + byte] = next
  }
  putStructure(put)
  putText(put, table, { text: STATES.keyText, end: STATES.colon })
  putText(put, table, { text: STATES.text, end: STATES.after })
  putNumbers(put)
  putWords(put)
  return table
}

type Put = (state: number, bytes: string, next: number) => void

function putStructure(put: Put): void {
  const { start, value, valueOrEnd, key, keyOrEnd, colon, after, done } = STATES
  for (const state of [start, value, valueOrEnd, key, keyOrEnd, colon, after, done]) put(state, SPACE, state)
  put(done, '\n', start)
  for (const state of [start, value, valueOrEnd]) {
    put(state, '{', ACTIONS.openObject)
    put(state, '[', ACTIONS.openArray)
  }
  for (const state of [value, valueOrEnd]) {
    put(state, '"', STATES.text)
    put(state, '-', STATES.minus)
    put(state, '0', STATES.zero)
    put(state, '123456789', STATES.integer)
  }
  for (const state of [key, keyOrEnd]) put(state, '"', STATES.keyText)
  put(valueOrEnd, ']', ACTIONS.closeArray)
  put(keyOrEnd, '}', ACTIONS.closeObject)
  put(colon, ':', value)
  putAfter(put, after)
}

/** The bytes that may follow a value inside an object or array. */
function putAfter(put: Put, state: number): void {
  put(state, SPACE, STATES.after)
  put(state, ',', ACTIONS.comma)
  put(state, '}', ACTIONS.closeObject)
  put(state, ']', ACTIONS.closeArray)
}

/**
 * Fills the rows of a string: the number of its escape state is one higher than its own, the numbers of its four hex
 * states are two to five higher.
 */
function putText(put: Put, table: Uint8Array, { text, end }: { text: number; end: number }): void {
  table.fill(text, text * 256 + 0x20, text * 256 + 256)
  put(text, '"', end)
  put(text, '\\', text + 1)
  put(text + 1, '"\\/bfnrt', text)
  put(text + 1, 'u', text + 2)
  for (let nth = 2; nth <= 5; nth++)
    put(text + nth, '0123456789abcdefABCDEF', nth === 5 ? text : text + nth + 1)
}

function putNumbers(put: Put): void {
  const { minus, zero, integer, point, fraction, exponent, exponentSign, exponentDigits } = STATES
  for (const state of [zero, integer, fraction, exponentDigits]) putAfter(put, state)
  put(minus, '0', zero)
  put(minus, '123456789', integer)
  put(integer, DIGITS, integer)
  for (const state of [zero, integer]) put(state, '.', point)
  for (const state of [point, fraction]) put(state, DIGITS, fraction)
  for (const state of [zero, integer, fraction]) put(state, 'eE', exponent)
  put(exponent, '+-', exponentSign)
  for (const state of [exponent, exponentSign, exponentDigits]) put(state, DIGITS, exponentDigits)
}

function putWords(put: Put): void {
  let state: number = STATES.words
  for (const [nth, rest] of WORDS.entries()) {
    for (const before of [STATES.value, STATES.valueOrEnd]) put(before, 'tfn'.charAt(nth), state)
    for (const [at, letter] of [...rest].entries()) {
      put(state, letter, at === rest.length - 1 ? STATES.after : state + 1)
      state++
    }
  }
}
