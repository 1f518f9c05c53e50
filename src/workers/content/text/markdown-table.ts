/**
 * Signs of Markdown as tables: a row of 256 entries for each state; an entry is the next state or an action.
 */
import { SHARED_ACTIONS } from '../automaton.ts'

export const STATES = {
  lineStart: 0,
  /** After a CR: the start of a line, unless LF belongs to the same line break. */
  afterReturn: 1,
  /** After one to three spaces. */
  indent: 2,
  /** After one and two backticks, three or more, and the words after those. */
  tick: 12,
  fence: 14,
  fenceNote: 15,
  rest: 30,
  pipe: 31,
  escape: 32,
  linkStart: 33,
  linkText: 34,
  linkEscape: 35,
  linkClosed: 36,
  target: 37,
  targetText: 38,
  targetNested: 39,
  targetAngle: 40,
  afterTarget: 41,
  /** In a title within `"`, `'` and `(`, and after the title. */
  title: 42,
  afterTitle: 45,
  /** After an empty line, where further empty lines change nothing. */
  emptyLine: 46,
  count: 47,
} as const

export const ACTIONS = {
  first: SHARED_ACTIONS.first,
  found: SHARED_ACTIONS.stop,
  endLine: SHARED_ACTIONS.stop + 1,
  endLineByReturn: SHARED_ACTIONS.stop + 2,
  pipe: SHARED_ACTIONS.stop + 3,
  leadingPipe: SHARED_ACTIONS.stop + 4,
  openLink: SHARED_ACTIONS.stop + 5,
  endLink: SHARED_ACTIONS.stop + 6,
} as const

/** States of the row of dashes under a table's head; from `enough` on the row may end. */
export const DASHES = {
  none: 0,
  start: 1,
  lead: 2,
  colon: 3,
  enough: 4,
  cell: 4,
  dash: 5,
  closed: 6,
  gap: 7,
} as const

const BLANK = ' \t'
const LINE_FEED = 0x0a
const RETURN = 0x0d

export const MARKDOWN_TABLE: Uint8Array = buildMarkdown()
/** The same without actions at the ends of lines: for lines without a pipe that follow another such line. */
export const PLAIN_LINES_TABLE: Uint8Array = buildPlainLines()
export const DASHES_TABLE: Uint8Array = buildDashes()

type Put = (state: number, bytes: string, next: number) => void

function putInto(table: Uint8Array): Put {
  return (state, bytes, next) => {
    for (const byte of Buffer.from(bytes, 'latin1')) table[state * 256 + byte] = next
  }
}

function buildMarkdown(): Uint8Array {
  const table = new Uint8Array(STATES.count * 256)
  const put = putInto(table)
  for (let state = 0; state < STATES.count; state++) {
    table.fill(STATES.rest, state * 256, state * 256 + 256)
    put(state, '\n', ACTIONS.endLine)
    put(state, '\r', ACTIONS.endLineByReturn)
    put(state, '|', ACTIONS.pipe)
    put(state, '[', ACTIONS.openLink)
    put(state, '\\', STATES.escape)
  }
  put(STATES.escape, '|[\\', STATES.rest)
  put(STATES.pipe, BLANK, STATES.pipe)
  putLineStarts(put)
  putFences(put, table)
  putLinks(put, table)
  return table
}

function buildPlainLines(): Uint8Array {
  const table = MARKDOWN_TABLE.slice()
  const put = putInto(table)
  for (let state = 0; state < STATES.count; state++) {
    const isEmpty = state === STATES.lineStart
    if (table[state * 256 + LINE_FEED] === ACTIONS.endLine)
      put(state, '\n', isEmpty ? STATES.emptyLine : STATES.lineStart)
    if (table[state * 256 + RETURN] === ACTIONS.endLineByReturn) put(state, '\r', STATES.afterReturn)
  }
  return table
}

function putLineStarts(put: Put): void {
  const { lineStart, afterReturn, emptyLine, indent } = STATES
  for (const state of [lineStart, afterReturn, emptyLine, indent, indent + 1, indent + 2]) {
    put(state, '`', STATES.tick)
    put(state, '|', ACTIONS.leadingPipe)
  }
  for (const state of [lineStart, afterReturn, emptyLine]) put(state, ' ', indent)
  put(indent, ' ', indent + 1)
  put(indent + 1, ' ', indent + 2)
  put(afterReturn, '\n', lineStart)
  put(emptyLine, '\n', emptyLine)
}

/** Words after three backticks contain no further backtick: that would be code within a line. */
function putFences(put: Put, table: Uint8Array): void {
  const { tick, fence, fenceNote } = STATES
  put(tick, '`', tick + 1)
  put(tick + 1, '`', fence)
  for (const state of [fence, fenceNote]) {
    fill(table, state, fenceNote)
    put(state, '`', state === fence ? fence : STATES.rest)
    put(state, '\r\n', ACTIONS.found)
  }
}

/** `[text](target)` or `[text](target "title")` on one line; text and target are not empty. */
function putLinks(put: Put, table: Uint8Array): void {
  const { linkStart, linkText, linkEscape, linkClosed, target, targetText, targetNested, targetAngle } =
    STATES
  for (const state of [linkStart, linkText]) {
    fill(table, state, linkText)
    put(state, '\\', linkEscape)
    put(state, '|', ACTIONS.pipe)
    put(state, '[', ACTIONS.openLink)
    put(state, ']', state === linkStart ? STATES.rest : linkClosed)
    putLineEnds(put, state)
  }
  fill(table, linkEscape, linkText)
  putLineEnds(put, linkEscape)
  put(linkClosed, '(', target)
  for (const state of [target, targetText, targetNested, targetAngle]) {
    fill(table, state, state === target ? targetText : state)
    putLineEnds(put, state)
  }
  put(target, BLANK, target)
  put(target, '<', targetAngle)
  put(target, ')', STATES.rest)
  put(targetText, ')', ACTIONS.endLink)
  put(targetText, '(', targetNested)
  put(targetText, '<', STATES.rest)
  put(targetText, BLANK, STATES.afterTarget)
  put(targetNested, ')', targetText)
  put(targetNested, '( \t', STATES.rest)
  put(targetAngle, '>', STATES.afterTarget)
  putTitles(put, table)
}

function putTitles(put: Put, table: Uint8Array): void {
  const { afterTarget, title, afterTitle } = STATES
  for (const state of [afterTarget, afterTitle]) {
    put(state, BLANK, state)
    put(state, ')', ACTIONS.endLink)
  }
  for (const [nth, [open, close]] of [
    ['"', '"'] as const,
    ["'", "'"] as const,
    ['(', ')'] as const,
  ].entries()) {
    put(afterTarget, open, title + nth)
    fill(table, title + nth, title + nth)
    putLineEnds(put, title + nth)
    put(title + nth, close, afterTitle)
  }
}

function fill(table: Uint8Array, state: number, next: number): void {
  table.fill(next, state * 256, state * 256 + 256)
}

function putLineEnds(put: Put, state: number): void {
  put(state, '\n', ACTIONS.endLine)
  put(state, '\r', ACTIONS.endLineByReturn)
}

/**
 * Cells of dashes with an optional colon on either side, between pipes. A line break leaves the row
 * unchanged.
 */
function buildDashes(): Uint8Array {
  const table = new Uint8Array((DASHES.gap + 1) * 256)
  const put = putInto(table)
  const { start, lead, colon, cell, dash, closed, gap } = DASHES
  for (const state of [start, lead, colon, cell, dash, closed, gap]) put(state, '\r\n', state)
  for (const state of [start, lead, cell]) {
    put(state, BLANK, state)
    put(state, ':', colon)
    put(state, '-', dash)
  }
  put(start, '|', lead)
  put(colon, '-', dash)
  put(dash, '-', dash)
  put(dash, ':', closed)
  for (const state of [dash, closed, gap]) {
    put(state, BLANK, gap)
    put(state, '|', cell)
  }
  return table
}
