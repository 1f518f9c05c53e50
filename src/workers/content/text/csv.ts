import { AUTOMATA, Automaton, SHARED_ACTIONS, type HeldText } from '../automaton.ts'

/**
 * Whether a text is CSV under RFC 4180: at least two records, all with the same number of fields, two or
 * more, separated by `,`, `;` or tab. Lines end with CR LF or LF. Empty lines at the very end are not
 * records; elsewhere an empty line is a record with a single field. The memory used does not depend on the text.
 */
export class CsvScanner {
  #candidates: readonly CsvCandidate[] = [
    new CsvCandidate(','),
    new CsvCandidate(';'),
    new CsvCandidate('\t'),
  ]

  /** False: the text is not CSV, and no further byte can change that. */
  push(text: HeldText): boolean {
    if (this.#candidates.length > 0)
      this.#candidates = this.#candidates.filter((candidate) => candidate.push(text))
    return this.#candidates.length > 0
  }

  finish(): boolean {
    return this.#candidates.some((candidate) => candidate.finish())
  }
}

/** Reads the text with one delimiter. */
class CsvCandidate {
  readonly #automaton: Automaton
  #state = FIELD
  #fields = 0
  #records = 0
  #expected = 0
  #hasEmptyLine = false

  constructor(delimiter: keyof typeof AUTOMATONS) {
    this.#automaton = AUTOMATONS[delimiter]
  }

  /** False: the text is not CSV with this delimiter. No further calls follow. */
  push({ bytes }: HeldText): boolean {
    AUTOMATA.state = this.#state
    AUTOMATA.count = this.#fields
    for (let at = 0; at < bytes.length; at++) {
      at = AUTOMATA.read(this.#automaton, at, bytes.length)
      this.#fields = AUTOMATA.count
      if (AUTOMATA.action === 0) break
      if (AUTOMATA.action === FAIL || !this.#endRecord(AUTOMATA.state)) return false
      AUTOMATA.state = FIELD
      AUTOMATA.count = 0
    }
    this.#state = AUTOMATA.state
    return true
  }

  finish(): boolean {
    const isCut = this.#state === QUOTED || this.#state === RETURN || this.#state === EMPTY_RETURN
    if (isCut) return false
    const isOpen = this.#state !== FIELD || this.#fields > 0
    return (!isOpen || this.#endRecord(this.#state)) && this.#records >= 2
  }

  /** @param state the state before the line break */
  #endRecord(state: number): boolean {
    if (this.#fields === 0 && (state === FIELD || state === EMPTY_RETURN)) {
      this.#hasEmptyLine = true
      return this.#records > 0
    }
    if (this.#hasEmptyLine) return false
    const fields = this.#fields + 1
    this.#fields = 0
    if (this.#records++ === 0) this.#expected = fields
    return fields >= 2 && fields === this.#expected
  }
}

/** At the beginning of a field. */
const FIELD = 0
/** Within a plain field. */
const PLAIN = 1
/** Within a quoted field. */
const QUOTED = 2
/** After the closing quote of a field. */
const CLOSED = 3
/** After a CR that ends a record. */
const RETURN = 4
/** After a CR that ends an empty line. */
const EMPTY_RETURN = 5
/** The number of states. */
const STATES = 6
/** Action at the end of a field, which is counted. */
const DELIMIT = SHARED_ACTIONS.count
/** Action at the end of a record. */
const RECORD = SHARED_ACTIONS.stop
/** Action at a byte that CSV does not allow. */
const FAIL = SHARED_ACTIONS.stop + 1

AUTOMATA.follow(DELIMIT, FIELD)
const AUTOMATONS = { ',': automatonOf(','), ';': automatonOf(';'), '\t': automatonOf('\t') } as const

function automatonOf(delimiter: string): Automaton {
  const table = new Uint8Array(STATES * 256).fill(FAIL)
  const put = (state: number, byte: string, next: number): void => {
    table[state * 256 + byte.charCodeAt(0)] = next
  }
  for (const state of [FIELD, PLAIN]) table.fill(PLAIN, state * 256, state * 256 + 256)
  table.fill(QUOTED, QUOTED * 256, QUOTED * 256 + 256)
  for (const state of [FIELD, PLAIN, CLOSED]) {
    put(state, delimiter, DELIMIT)
    put(state, '\n', RECORD)
    put(state, '\r', state === FIELD ? EMPTY_RETURN : RETURN)
  }
  put(FIELD, '"', QUOTED)
  // RFC 4180 does not allow a quote inside an unquoted field.
  put(PLAIN, '"', FAIL)
  put(QUOTED, '"', CLOSED)
  put(CLOSED, '"', QUOTED)
  for (const state of [RETURN, EMPTY_RETURN]) put(state, '\n', RECORD)
  return new Automaton(AUTOMATA, table)
}
