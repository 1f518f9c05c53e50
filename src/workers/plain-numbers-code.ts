/*
 * The WebAssembly of `plain-numbers.ts`, assembled here, so that the executed code can be read. The code
 * checks sixteen bytes together. Each byte has one class, which its low four bits tell once the byte is known
 * to be one of `,-.0123456789`, a space or a line break. A space, 0x20, is treated as a line break, 0x0a; no
 * two of the others have the same low bits.
 */
const SPACE = 1
const COMMA = 2
const MINUS = 4
const DOT = 8
const DIGIT = 16
const BEFORE_NUMBER = SPACE | COMMA | MINUS
const BEFORE_DIGIT = BEFORE_NUMBER | DOT | DIGIT

const LINE_BREAK_BYTE = 0x0a
const SPACE_BYTE = 0x20

/** By the low four bits: a byte, its class, and the classes that may precede it. */
const KNOWN: readonly (readonly [byte: number, itsClass: number, before: number])[] = [
  ...Array.from({ length: 10 }, (_, digit) => [0x30 + digit, DIGIT, BEFORE_DIGIT] as const),
  [LINE_BREAK_BYTE, SPACE, SPACE | COMMA],
  [0, 0, 0],
  [0x2c, COMMA, DIGIT],
  [0x2d, MINUS, SPACE | COMMA],
  [0x2e, DOT, DIGIT],
  [0, 0, 0],
]
const STEP_BYTES = KNOWN.length

const I32 = 0x7f
const V128 = 0x7b
const PAGES = 1

/** Names of the operands of instructions: the parameters, then the variables. */
const [AT, END, LOW, CLASSES, LAST, BEFORE] = [0, 1, 2, 3, 4, 5]

const get = (name: number): readonly number[] => [0x20, name]
const set = (name: number): readonly number[] => [0x21, name]
const keep = (name: number): readonly number[] => [0x22, name]
const int = (value: number): readonly number[] => [0x41, value]
const vector = (lanes: readonly number[]): readonly number[] => [0xfd, 0x0c, ...lanes]
const all = (lane: number): readonly number[] => vector(KNOWN.map(() => lane))
/** Takes the 16 bytes that begin this many bytes before the second of two consecutive vectors. */
const back = (bytes: number): readonly number[] => [
  0xfd,
  0x0d,
  ...KNOWN.map((_, lane) => STEP_BYTES - bytes + lane),
]
const ADD = [0x6a]
const IS_ABOVE = [0x4b]
const RETURN_AT_IF = [0x04, 0x40, ...get(AT), 0x0f, 0x0b]
const IS_FALSE = [0x45]
const LOAD = [0xfd, 0x00, 0x00, 0x00]
/** Looks each lane up in the row below it. */
const LOOK_UP = [0xfd, 0x0e]
const EQUAL = [0xfd, 0x23]
const DIFFER = [0xfd, 0x24]
const AND = [0xfd, 0x4e]
const AND_NOT = [0xfd, 0x4f]
const XOR = [0xfd, 0x51]
const ALL_TRUE = [0xfd, 0x63]
const LEAST = [0xfd, 0x77]

/** `(at, end) → at`: the place after the last step in which every byte fits the two bytes before it. */
const RUN = [
  ...all(COMMA),
  ...set(LAST),
  0x03,
  0x40,
  ...get(AT),
  ...int(STEP_BYTES),
  ...ADD,
  ...get(END),
  ...IS_ABOVE,
  ...RETURN_AT_IF,
  // The bytes, with spaces as line breaks.
  ...get(AT),
  ...LOAD,
  ...keep(LOW),
  ...get(LOW),
  ...all(SPACE_BYTE),
  ...EQUAL,
  ...all(SPACE_BYTE ^ LINE_BREAK_BYTE),
  ...AND,
  ...XOR,
  ...keep(BEFORE),
  ...all(0x0f),
  ...AND,
  ...set(LOW),
  // Their classes, 0 for unknown bytes.
  ...vector(KNOWN.map(([byte]) => byte)),
  ...get(LOW),
  ...LOOK_UP,
  ...get(BEFORE),
  ...EQUAL,
  ...vector(KNOWN.map(([, itsClass]) => itsClass)),
  ...get(LOW),
  ...LOOK_UP,
  ...AND,
  ...set(CLASSES),
  ...get(CLASSES),
  // Whether the byte before may precede each byte.
  ...get(LAST),
  ...get(CLASSES),
  ...back(1),
  ...keep(BEFORE),
  ...vector(KNOWN.map(([, , before]) => before)),
  ...get(LOW),
  ...LOOK_UP,
  ...AND,
  ...LEAST,
  // A point follows the first digit of a number, and nothing else.
  ...get(BEFORE),
  ...all(DIGIT),
  ...EQUAL,
  ...get(LAST),
  ...get(CLASSES),
  ...back(2),
  ...all(BEFORE_NUMBER),
  ...AND,
  ...all(0),
  ...DIFFER,
  ...AND,
  ...get(CLASSES),
  ...all(DOT),
  ...EQUAL,
  ...XOR,
  ...AND_NOT,
  ...ALL_TRUE,
  ...IS_FALSE,
  ...RETURN_AT_IF,
  ...get(CLASSES),
  ...set(LAST),
  ...get(AT),
  ...int(STEP_BYTES),
  ...ADD,
  ...set(AT),
  0x0c,
  0x00,
  0x0b,
  0x00,
  0x0b,
]

/** A module that exports its `memory` of 64 KiB, and `run`. */
export function plainNumbersCode(): Uint8Array {
  const code = [1, 4, V128, ...RUN]
  return Uint8Array.from([
    0x00,
    ...latin1('asm'),
    1,
    0,
    0,
    0,
    ...section(1, [1, 0x60, 2, I32, I32, 1, I32]),
    ...section(3, [1, 0]),
    ...section(5, [1, 1, PAGES, PAGES]),
    ...section(7, [2, ...named('memory'), 2, 0, ...named('run'), 0, 0]),
    ...section(10, [1, ...sized(code)]),
  ])
}

function section(id: number, content: readonly number[]): readonly number[] {
  return [id, ...sized(content)]
}

function named(name: string): readonly number[] {
  return sized(latin1(name))
}

/** The content after its length, in groups of seven bits. */
function sized(content: readonly number[]): readonly number[] {
  const length: number[] = []
  for (let rest = content.length; rest > 0 || length.length === 0; rest >>= 7)
    length.push((rest & 0x7f) | (rest > 0x7f ? 0x80 : 0))
  return [...length, ...content]
}

function latin1(text: string): readonly number[] {
  return [...Buffer.from(text, 'latin1')]
}
