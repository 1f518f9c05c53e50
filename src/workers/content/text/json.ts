import { JSON_TEXT_DEPTH_MAX } from '../../../schemas/files/file-limits.ts'
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

const OBJECT = 1
const ARRAY = 2

/**
 * Reads JSON and NDJSON in one pass: a table of states over the bytes and one byte for each open level. A
 * line break inside a value rules out NDJSON, a second value rules out JSON, and the reading stops when both
 * are ruled out.
 */
export class JsonScanner {
  #state: number = STATES.start
  readonly #levels = new Uint8Array(JSON_TEXT_DEPTH_MAX)
  #depth = 0
  #values = 0
  #mayBeNdjson = true
  #isTooDeep = false

  /** False: the text is neither, and no further byte can change that. */
  push(chunk: Uint8Array): boolean {
    let table = this.#mayBeNdjson ? JSON_LINES_TABLE : JSON_TABLE
    let state = this.#state
    if (state === STATES.failed) return false
    let row = state << 8
    for (let at = 0; at < chunk.length; at++) {
      const next = table[row | (chunk[at] ?? 0)] ?? 0
      // Within strings, numbers and white space the state stays: testing this is cheaper than waiting for the
      // row.
      if (next === state) continue
      if (next < ACTIONS.first) state = next
      else {
        state = this.#act(next, state)
        if (!this.#mayBeNdjson) table = JSON_TABLE
      }
      row = state << 8
    }
    this.#state = state
    return state !== STATES.failed
  }

  finish(): JsonFinding {
    const isComplete = this.#state === STATES.start || this.#state === STATES.done
    return {
      isJson: isComplete && this.#values === 1,
      isNdjson: isComplete && this.#mayBeNdjson && this.#values >= 2,
      isTooDeep: this.#isTooDeep,
    }
  }

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
      case ACTIONS.comma:
        return this.#levels[this.#depth - 1] === OBJECT ? STATES.key : STATES.value
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
    this.#levels[this.#depth++] = kind
    return state
  }

  #close(kind: number): number {
    if (this.#levels[this.#depth - 1] !== kind) return STATES.failed
    this.#depth--
    if (this.#depth > 0) return STATES.after
    this.#values++
    return STATES.done
  }

  /** A line ends within a value. */
  #endLine(state: number): number {
    this.#mayBeNdjson = false
    return this.#values > 0 ? STATES.failed : (JSON_TABLE[(state << 8) | LINE_FEED] ?? STATES.failed)
  }
}
