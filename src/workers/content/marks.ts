import { AUTOMATA, Automaton, SHARED_ACTIONS, type HeldText } from './automaton.ts'

/** Finds marks, none of which may begin within another. */
export class Marks {
  readonly #marks: readonly string[]
  readonly #automaton: Automaton

  /** @param marks of one character for each byte */
  constructor(marks: readonly string[]) {
    this.#marks = marks
    this.#automaton = new Automaton(AUTOMATA, tableOf(marks))
  }

  /** @returns the first place in `[from, to)` where a mark begins, which may continue after it; else -1 */
  placeIn({ bytes }: HeldText, from: number, to: number): number {
    AUTOMATA.state = NOTHING
    const at = AUTOMATA.read(this.#automaton, from, bytes.length)
    const mark = this.#marks[AUTOMATA.action - SHARED_ACTIONS.stop]
    const place = at + 1 - (mark?.length ?? 0)
    return mark !== undefined && place < to ? place : -1
  }
}

/** The state in which no mark has begun. */
const NOTHING = 0

/**
 * A state for each beginning of a mark; a byte leads to the longest beginning that the bytes then end with.
 */
function tableOf(marks: readonly string[]): Uint8Array {
  const states = new Map<string, number>([['', NOTHING]])
  for (const mark of marks) {
    for (let length = 1; length < mark.length; length++) {
      const begin = mark.slice(0, length)
      if (!states.has(begin)) states.set(begin, states.size)
    }
  }
  const table = new Uint8Array(states.size * 256)
  const letters = new Set(marks.join(''))
  for (const [begin, state] of states) {
    for (const letter of letters) {
      const text = begin + letter
      const ended = marks.findIndex((mark) => text.endsWith(mark))
      const longest = [...text].map((_, at) => text.slice(at)).find((end) => states.has(end)) ?? ''
      table[(state << 8) | letter.charCodeAt(0)] =
        ended >= 0 ? SHARED_ACTIONS.stop + ended : (states.get(longest) ?? NOTHING)
    }
  }
  return table
}
