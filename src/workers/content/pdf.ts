import { AUTOMATA, Automaton, HELD_BYTES_MAX, type HeldText, SHARED_ACTIONS } from './automaton.ts'
import { OutsideScan, type IntruderScan } from './intruder-scan.ts'
import { CLAIM_BYTES, claimOf } from './trailer.ts'
import { broken, foreign, joinedTo, UNCLAIMED, whole, type StructureEnd } from './verdict.ts'
import { HeadWindow } from './windows.ts'

const WHAT = 'a PDF document'
const DAMAGED = 'a PDF document that is damaged or cut short'
/** Bytes before the header that readers tolerate. */
const JUNK_BYTES_MAX = 1_024
/** Bytes of a byte order mark. */
const MARK_BYTES = 3
/** Bytes of `%PDF-` and a digit. */
const HEADER_BYTES = 6
/** A byte order mark, tolerated bytes, and the header. */
const HEADER = /^(?:\xef\xbb\xbf)?[^]{0,1024}?(?=%PDF-\d)/
/** Only a byte order mark and white space: a file with nothing else before its header is never plain text. */
const CLEAN_START = /^(?:\xef\xbb\xbf)?[\0\t\n\f\r ]*$/
/** The first byte of `trailer`, a mark after which a document or one of its updates may end. */
const TRAILER = 0x74
/** The first byte of ` obj`, a mark that begins a further update. */
const OBJECT = 0x20
/** The marks after which a document may end; each begins with a different byte. */
const END_MARKS = ['trailer', 'startxref', '%%EOF']
const TABLE_STREAM = Buffer.from('/XRef')
/** The first byte of `<<`, which begins the dictionary of a trailer. */
const LESS = 0x3c
/** The first byte of `%%EOF`. */
const PERCENT = 0x25
const SPACE = 0x20
/** The bytes before ` obj` where an object begins: its two numbers, at the start of a line. */
const NUMBERS = /(?:^|[\r\n])[\0\t\f ]*\d{1,10}[\0\t\n\f\r ]+\d{1,5}[\0\t\n\f\r ]*$/
/** Bytes that are read before ` obj`. */
const NUMBERS_BYTES = 32
/** Bytes of the longest mark: `trailer`, white space, and `<<`. */
const LONGEST_MARK_BYTES = 16
/** Bytes of the shortest mark; no mark begins within another. */
const SHORTEST_MARK_BYTES = 4
/** Bytes that are held at once, in addition to the beginning of a mark before them. */
const WINDOW_BYTES = HELD_BYTES_MAX - LONGEST_MARK_BYTES
/** The end marks themselves, without the bytes that follow them. */
const END_PARTS = /^(?:trailer\b[^]*|(?:startxref\s*\d*\s*)?(?:%%EOF)?)/

/**
 * PDF: its header within the first 1,024 bytes, an object (`1 0 obj`, at the start of a line), and `startxref`, a
 * trailer or a cross-reference table, by which readers find objects even when the end is cut off or overwritten. Other
 * bytes before the document, between updates and after it are tolerated, as readers do, unless they are another format.
 * The objects themselves are not read.
 */
export class PdfScanner {
  readonly #head = new HeadWindow(JUNK_BYTES_MAX + MARK_BYTES + HEADER_BYTES)
  readonly #outside = new OutsideScan()
  /** The first bytes after the last end mark. */
  readonly #behind = new HeadWindow(CLAIM_BYTES)
  #isBehind = false
  #hasObject = false
  #hasTable = false
  /** Bytes with the possible beginning of a mark that continues in the next chunk. */
  #carry = new Uint8Array(0)
  /** The last bytes before those of `#carry`. */
  #passed = ''

  /** False: the file is not a PDF. */
  push(chunk: Uint8Array): boolean {
    if (!this.#head.isFull) {
      this.#head.push(chunk)
      // Only a PDF may cost this work; other files end here.
      if (this.#head.isFull && this.#headerAt() < 0) return false
    }
    for (let at = 0; at < chunk.length; at += WINDOW_BYTES) {
      const held = AUTOMATA.hold(chunk.subarray(at, at + WINDOW_BYTES), this.#carry)
      const to = Math.max(0, held.bytes.length - LONGEST_MARK_BYTES + 1)
      this.#read(held, to)
      this.#carry = held.bytes.slice(to)
      this.#passed = this.#before(held.bytes, to)
    }
    return true
  }

  /** @param scan must have read the whole file */
  finish(scan: IntruderScan): StructureEnd {
    const headerAt = this.#headerAt()
    if (headerAt < 0) return UNCLAIMED
    this.#read(AUTOMATA.hold(this.#carry), this.#carry.length)
    const before = this.#head.latin1().slice(0, headerAt)
    const isClean = CLEAN_START.test(before)
    if (!this.#hasObject || !this.#hasTable) return isClean ? foreign(DAMAGED) : broken(WHAT)
    const claim = scan.inPdf ?? this.#claim(isClean ? '' : before)
    return claim === null ? whole('application/pdf') : joinedTo(WHAT, claim)
  }

  /** The second format found in the bytes outside of the document. */
  #claim(before: string): string | null {
    this.#outside.push(Buffer.from(before, 'latin1'))
    const behind = this.#isBehind ? this.#behind.latin1().replace(END_PARTS, '') : ''
    return this.#outside.finish() ?? claimOf(before) ?? claimOf(behind)
  }

  /** Reads the bytes before `to`; marks that begin there may continue after it. */
  #read(held: HeldText, to: number): void {
    const { bytes } = held
    const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
    this.#hasTable ||= within(buffer.indexOf(TABLE_STREAM), to)
    let behindAt = this.#isBehind ? 0 : -1
    let lastEnd = -1
    for (let at = 0; ; at += SHORTEST_MARK_BYTES) {
      const marks = this.#hasObject && behindAt < 0 ? ENDS : MARKS
      at = marks.placeIn(held, at, to)
      if (at < 0) break
      if (bytes[at] === OBJECT) {
        if (!this.#isObject(bytes, at)) continue
        this.#hasObject = true
        if (behindAt >= 0) this.#outside.push(bytes, behindAt, at)
        behindAt = -1
        continue
      }
      if (bytes[at] === TRAILER && !isTrailer(bytes, at)) continue
      this.#hasTable ||= bytes[at] !== PERCENT
      lastEnd = at
      // The mark itself counts as the first of the bytes after the end.
      if (behindAt < 0) behindAt = at
    }
    if (lastEnd >= 0) this.#behind.clear()
    this.#isBehind = behindAt >= 0
    if (!this.#isBehind) return
    this.#outside.push(bytes, behindAt, to)
    this.#behind.push(bytes.subarray(Math.max(behindAt, lastEnd), to))
  }

  /** Whether the ` obj` at a place follows the two numbers of an object. */
  #isObject(bytes: Uint8Array, at: number): boolean {
    const last = bytes[at - 1] ?? SPACE
    return (last <= SPACE || isDigit(last)) && NUMBERS.test(this.#before(bytes, at))
  }

  /** The held bytes before a place. */
  #before(bytes: Uint8Array, at: number): string {
    const from = Math.max(0, at - NUMBERS_BYTES)
    const held = Buffer.from(bytes.buffer, bytes.byteOffset + from, at - from).toString('latin1')
    return from > 0 ? held : (this.#passed + held).slice(-NUMBERS_BYTES)
  }

  #headerAt(): number {
    return HEADER.exec(this.#head.latin1())?.[0].length ?? -1
  }
}

/** Whether `trailer` at a place begins a dictionary, and is not just a word of a text. */
function isTrailer(bytes: Uint8Array, at: number): boolean {
  let next = at + 'trailer'.length
  while (next < at + LONGEST_MARK_BYTES && (bytes[next] ?? LESS) <= SPACE) next++
  return bytes[next] === LESS && bytes[next + 1] === LESS
}

function isDigit(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x39
}

function within(at: number, to: number): boolean {
  return at >= 0 && at < to
}

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

/** A table with a state for each beginning of a mark. A byte leads to the state of the longest beginning with which the bytes then end. */
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

/** The marks that are searched within a document, without ` obj`: a file with many objects must not cost more than others. */
const ENDS = new Marks(END_MARKS)
/** The marks that are searched before the first object, and after an end. */
const MARKS = new Marks([...END_MARKS, ' obj'])
