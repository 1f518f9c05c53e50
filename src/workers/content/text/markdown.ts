import { AUTOMATA, Automaton, type HeldText } from '../automaton.ts'
import { ACTIONS, DASHES, DASHES_TABLE, MARKDOWN_TABLE, PLAIN_LINES_TABLE, STATES } from './markdown-table.ts'

/** Bytes of a link: a bracket that closes later begins no link. Decision. */
const LINK_BYTES_MAX = 4_096

const BRACKET = 0x5b
/** Bytes from one bracket to the next, at most, where these are close to each other. */
const BRACKETS_APART = 3

/**
 * Searches for one sure sign of Markdown: a fence, a table or a link. Two tables of states over the bytes:
 * one for lines and links, one for the row of dashes under a table's head, which must have as many cells as
 * the head. The scanner keeps counts of the lines before, and no text.
 */
export class MarkdownScanner {
  #isFound = false
  #state: number = STATES.lineStart
  #dashes: number = DASHES.none
  #pipes = 0
  #hasLeadingPipe = false
  /** Cells of the line before, 0 for a line without a pipe. */
  #cellsAbove = 0
  /** Bytes before the current chunk. */
  #passed = 0
  /** Place of the bracket that may begin a link. */
  #linkAt = 0
  #lastByte = 0
  /** The chunk that is being read. */
  #chunk: Uint8Array = NOTHING

  /** False: a sign has been found. */
  push({ bytes }: HeldText): boolean {
    if (this.#isFound) return false
    this.#chunk = bytes
    for (let at = 0; at < bytes.length && !this.#isFound;)
      at = this.#isPlain ? this.#readPlain(bytes, at) : this.#readTable(bytes, at)
    this.#passed += bytes.length
    this.#lastByte = bytes[bytes.length - 1] ?? this.#lastByte
    this.#chunk = NOTHING
    return !this.#isFound
  }

  /** Neither this line so far nor the line before has a pipe: no line can be a table's row of dashes. */
  get #isPlain(): boolean {
    return this.#pipes === 0 && this.#cellsAbove === 0
  }

  /** @returns the place after a pipe, or the end */
  #readPlain(bytes: Uint8Array, from: number): number {
    let bracketAt = -Infinity
    for (let at = from; ; at++) {
      AUTOMATA.state = this.#state
      at = AUTOMATA.read(PLAIN_LINES, at, bytes.length)
      const { action, state } = AUTOMATA
      this.#state = action === 0 ? state : this.#act(action, state, at)
      if (action === 0) return bytes.length
      if (this.#isFound || this.#pipes > 0) return at + 1
      // A run that each bracket ends would cost more than reading byte by byte.
      if (at - bracketAt <= BRACKETS_APART) at = this.#passBrackets(bytes, at)
      bracketAt = at
    }
  }

  /**
   * Reads byte by byte while brackets follow each other closely.
   * @returns the place of the last byte that was read
   */
  #passBrackets(bytes: Uint8Array, from: number): number {
    let state = this.#state
    let at = from
    let bracketAt = from
    while (at - bracketAt < BRACKETS_APART && at + 1 < bytes.length) {
      const next = PLAIN_LINES_TABLE[(state << 8) | (bytes[at + 1] ?? 0)] ?? 0
      if (next === ACTIONS.openLink) {
        // Each bracket in a row begins a link, and only the last of these may be complete.
        at = bracketAt = lastInRow(bytes, at + 1, BRACKET)
        state = this.#openLink(at)
        continue
      }
      if (next >= ACTIONS.first) break
      state = next
      at++
    }
    this.#state = state
    return at
  }

  /** @returns the place after the end of a line without a pipe, or the end */
  #readTable(chunk: Uint8Array, from: number): number {
    const table = MARKDOWN_TABLE
    let state = this.#state
    let dashes = this.#dashes
    let pipes = this.#pipes
    let at = from
    for (; at < chunk.length; at++) {
      const byte = chunk[at] ?? 0
      if (dashes !== DASHES.none) dashes = DASHES_TABLE[(dashes << 8) | byte] ?? 0
      const next = table[(state << 8) | byte] ?? 0
      if (next === state) {
        // Most of a text is the rest of a line: within it the other states need no check.
        if (dashes === DASHES.none) at = passSame(chunk, at, state)
      } else if (next < ACTIONS.first) {
        state = next
      } else if (next === ACTIONS.pipe && pipes > 0) {
        pipes++
        if (state === STATES.pipe && dashes === DASHES.none) {
          const last = lastInRow(chunk, at, byte)
          pipes += last - at
          at = last
        }
        state = STATES.pipe
      } else {
        const hadPipes = pipes > 0
        this.#pipes = pipes
        this.#dashes = dashes
        state = this.#act(next, state, at)
        dashes = this.#dashes
        pipes = this.#pipes
        if (this.#isFound || (!hadPipes && this.#isPlain)) {
          at++
          break
        }
      }
    }
    this.#pipes = pipes
    this.#dashes = dashes
    this.#state = state
    return at
  }

  finish(): boolean {
    const isFence = this.#state === STATES.fence || this.#state === STATES.fenceNote
    if (isFence) this.#isFound = true
    else this.#endLine(this.#state)
    return this.#isFound
  }

  /** @param at the place in the chunk of the byte that causes the action */
  #act(action: number, state: number, at: number): number {
    switch (action) {
      case ACTIONS.pipe:
        this.#pipes++
        return STATES.pipe
      case ACTIONS.endLine:
        this.#endLine(state)
        return STATES.lineStart
      case ACTIONS.endLineByReturn:
        this.#endLine(state)
        return STATES.afterReturn
      case ACTIONS.leadingPipe:
        this.#hasLeadingPipe = true
        this.#pipes++
        return STATES.pipe
      case ACTIONS.openLink:
        return this.#openLink(at)
      case ACTIONS.endLink:
        if (this.#passed + at - this.#linkAt <= LINK_BYTES_MAX) this.#isFound = true
        return STATES.rest
      default:
        this.#isFound = true
        return STATES.rest
    }
  }

  /** After an identifier or a closing bracket, a bracket is an index in code. */
  #openLink(at: number): number {
    const before = at === 0 ? this.#lastByte : (this.#chunk[at - 1] ?? 0)
    if (CODE[before] === 1) return STATES.rest
    this.#linkAt = this.#passed + at
    return STATES.linkStart
  }

  #endLine(state: number): void {
    const ends = (this.#hasLeadingPipe ? 1 : 0) + (state === STATES.pipe ? 1 : 0)
    const cells = this.#pipes === 0 ? 0 : this.#pipes + 1 - ends
    const isUnderline = this.#dashes >= DASHES.enough
    if (isUnderline && cells > 0 && cells === this.#cellsAbove) this.#isFound = true
    this.#cellsAbove = cells
    this.#pipes = 0
    this.#hasLeadingPipe = false
    this.#dashes = cells > 0 ? DASHES.start : DASHES.none
  }
}

const PLAIN_LINES = new Automaton(AUTOMATA, PLAIN_LINES_TABLE)
const NOTHING = new Uint8Array(0)

/** @returns the last place from `at` on up to which the bytes leave the state unchanged */
function passSame(chunk: Uint8Array, at: number, state: number): number {
  const table = MARKDOWN_TABLE
  const row = state << 8
  let next = at + 1
  while (next < chunk.length && table[row | (chunk[next] ?? 0)] === state) next++
  return next - 1
}

/** @returns the place of the last of the bytes that equal that at `from` */
function lastInRow(bytes: Uint8Array, from: number, byte: number): number {
  let at = from
  while (bytes[at + 1] === byte) at++
  return at
}

/** 1 for ASCII letters, digits, `_`, `)` and `]`, and 0 for the other bytes. */
const CODE = Uint8Array.from({ length: 256 }, (_, byte) =>
  /[A-Za-z0-9_)\]]/.test(String.fromCharCode(byte)) ? 1 : 0,
)
