/**
 * The grammar of RFC 8259 as a table: a row of 256 entries for each state; an entry is the next state or an
 * action.
 */
import { ARRAY, AUTOMATA, OBJECT, SHARED_ACTIONS } from '../automaton.ts'

/** Numbers of the states. */
export const STATES = {
  failed: 0,
  /** On a line without a value so far: only objects and arrays begin here. */
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
  /** `true`, `false` and `null` without their first letters, a state for each letter. */
  words: 28,
  /** After a value of the whole text, on its line. */
  done: 38,
  count: 39,
} as const

const WORDS = ['rue', 'alse', 'ull'] as const

/** Actions, which need more than a next state. Their numbers are above those of the states. */
export const ACTIONS = { ...SHARED_ACTIONS, newLine: SHARED_ACTIONS.stop } as const

const SPACE = ' \t\r\n'
const DIGITS = '0123456789'
/** The line break, in which the tables differ. */
export const LINE_FEED = 0x0a

/** Treats line breaks as white space. */
export const JSON_TABLE: Uint8Array = buildTable()
/** Reports a line break within a value, after which the text cannot be NDJSON. */
export const JSON_LINES_TABLE: Uint8Array = buildLinesTable()

AUTOMATA.follow(ACTIONS.openObject, STATES.keyOrEnd)
AUTOMATA.follow(ACTIONS.openArray, STATES.valueOrEnd)
AUTOMATA.follow(ACTIONS.closeObject, STATES.after)
AUTOMATA.follow(ACTIONS.closeArray, STATES.after)
AUTOMATA.follow(ACTIONS.comma + OBJECT, STATES.key)
AUTOMATA.follow(ACTIONS.comma + ARRAY, STATES.value)

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
 * A string: the number of its escape state is one higher than its own, those of its four hex states two to
 * five higher.
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
