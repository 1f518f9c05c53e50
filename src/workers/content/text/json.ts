import { JSON_TEXT_DEPTH_MAX } from '../../../schemas/files/file-limits.ts'
import { ARRAY, AUTOMATA, Automaton, OBJECT, type HeldText } from '../automaton.ts'
import { ACTIONS, JSON_LINES_TABLE, JSON_TABLE, LINE_FEED, STATES } from './json-table.ts'

/** The text as JSON, by RFC 8259 and contract C26. */
export interface JsonFinding {
  /** The whole text is one object or array. */
  readonly isJson: boolean
  /** At least two lines that are not empty, each with one object or array. */
  readonly isNdjson: boolean
  /** The reading stopped at a depth above JSON_TEXT_DEPTH_MAX. */
  readonly isTooDeep: boolean
}

const JSON_WHOLE = new Automaton(AUTOMATA, JSON_TABLE)
const JSON_LINES = new Automaton(AUTOMATA, JSON_LINES_TABLE)
const NO_LEVELS = new Uint8Array(0)

/**
 * Reads JSON and NDJSON in one pass: a table of states over the bytes and one byte for each open level. A
 * line break inside a value rules out NDJSON, a second value rules out JSON, and the reading stops when both
 * are ruled out.
 */
export class JsonScanner {
  #state: number = STATES.start
  /** The kinds of the open levels, between two pieces of the text. */
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

  /** What the automaton leaves to the scanner: all of the outermost level, and faults. */
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

  /** The outermost level closes, unless it is of the other kind. */
  #close(kind: number): number {
    if (this.#depth !== 1 || AUTOMATA.levels[0] !== kind) return STATES.failed
    this.#depth = 0
    this.#values++
    return STATES.done
  }

  /** A line ends within a value. */
  #endLine(state: number): number {
    this.#mayBeNdjson = false
    return this.#values > 0 ? STATES.failed : (JSON_TABLE[(state << 8) | LINE_FEED] ?? STATES.failed)
  }
}
