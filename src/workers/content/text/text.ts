import { isUtf8 } from 'node:buffer'
import { AUTOMATA, HELD_BYTES_MAX } from '../automaton.ts'
import type { TextType } from '../verdict.ts'
import { HeadWindow, TailWindow } from '../windows.ts'
import { CsvScanner } from './csv.ts'
import { JsonScanner } from './json.ts'
import { isMarkdown, MARKDOWN_HEAD_BYTES } from './markdown.ts'
import { SOURCE_HEAD_BYTES, SOURCE_TAIL_BYTES, sourceKind } from './source-text.ts'

/** First bytes of a text in which a table that is not strict CSV is recognized. Decision. */
const CSV_HEAD_BYTES = 65_536

const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf] as const

/** Determines the type of a text by its structure, and whether it is UTF-8 at all. A byte order mark is tolerated and skipped. */
export class TextScanner {
  readonly #utf8 = new Utf8Check()
  readonly #head = new HeadWindow(CSV_HEAD_BYTES)
  readonly #tail = new TailWindow(SOURCE_TAIL_BYTES)
  readonly #json = new JsonScanner()
  readonly #csv = new CsvScanner()
  /** False: every structure has been decided. */
  #isOpen = true
  /** Bytes of a byte order mark so far, or null once its presence is decided. */
  #markBytes: number | null = 0

  /** False: the file is not UTF-8 text. */
  push(chunk: Uint8Array): boolean {
    if (!this.#utf8.push(chunk)) return false
    const text = this.#markBytes === null ? chunk : this.#withoutMark(chunk, this.#markBytes)
    this.#read(text)
    return true
  }

  get fault(): 'nul' | 'invalid' | null {
    return this.#utf8.fault
  }

  /** Null: the file is not UTF-8 text. */
  finish(): TextType | null {
    return this.#utf8.finish() ? this.#typeByStructure() : null
  }

  #read(text: Uint8Array): void {
    this.#head.push(text)
    this.#tail.push(text)
    for (let at = 0; at < text.length && this.#isOpen; at += HELD_BYTES_MAX) {
      const held = AUTOMATA.hold(text.subarray(at, at + HELD_BYTES_MAX))
      const isOpen = [this.#json.push(held), this.#csv.push(held)]
      this.#isOpen = isOpen.includes(true)
    }
  }

  /** The order of contract C26. */
  #typeByStructure(): TextType {
    const { isJson, isNdjson, isTooDeep } = this.#json.finish()
    if (isJson) return 'application/json'
    if (isNdjson) return 'application/x-ndjson'
    const head = this.#head.latin1()
    if (hasSeparatorLine(head)) return 'text/csv'
    const source = sourceKind(head.slice(0, SOURCE_HEAD_BYTES), this.#tail.latin1())
    if (isTooDeep || source === 'document' || source === 'script') return 'text/plain'
    if (source !== 'fragment' && (this.#csv.finish() || this.#isLooseCsv(head))) return 'text/csv'
    if (source === 'docstring' || !isMarkdown(markdownHead(head))) return 'text/plain'
    return 'text/markdown'
  }

  /** A text that begins like JSON is never treated as CSV, however many commas its lines have. */
  #isLooseCsv(head: string): boolean {
    return !/^\s*[[{]/.test(head) && isLooseCsv(head, !this.#head.isFull)
  }

  /** A valid text may share only the first byte with the mark: its bytes are then read after all. */
  #withoutMark(chunk: Uint8Array, seen: number): Uint8Array {
    let at = 0
    while (
      seen + at < BYTE_ORDER_MARK.length &&
      at < chunk.length &&
      chunk[at] === BYTE_ORDER_MARK[seen + at]
    )
      at++
    if (seen + at === BYTE_ORDER_MARK.length) {
      this.#markBytes = null
      return chunk.subarray(at)
    }
    if (at === chunk.length) {
      this.#markBytes = seen + at
      return chunk.subarray(at)
    }
    this.#markBytes = null
    if (seen > 0) this.#read(Uint8Array.from(BYTE_ORDER_MARK.slice(0, seen)))
    return chunk
  }
}

/**
 * Checks strict UTF-8 without NUL, over a stream of chunks: no overlong forms, no surrogates, nothing above
 * U+10FFFF, and no sequence that is cut off at the end. Node's vectorized check does the work; this class handles
 * sequences across chunks.
 */
export class Utf8Check {
  fault: 'nul' | 'invalid' | null = null
  /** A sequence that the last chunk began and did not end. */
  readonly #cut = new Uint8Array(SEQUENCE_BYTES_MAX)
  #cutLength = 0

  /** False: the text is not valid, and no further byte can change that. */
  push(chunk: Uint8Array): boolean {
    if (this.fault !== null) return false
    // `indexOf` of a plain Uint8Array compares byte by byte.
    if (Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length).indexOf(0) >= 0) return this.#fail('nul')
    const start = this.#cutLength === 0 ? 0 : this.#completeCut(chunk)
    if (start < 0) return this.#fail('invalid')
    const end = start + wholeLength(chunk.subarray(start))
    if (!isUtf8(chunk.subarray(start, end))) return this.#fail('invalid')
    if (end < chunk.length) {
      this.#cut.set(chunk.subarray(end))
      this.#cutLength = chunk.length - end
    }
    return true
  }

  /** Whether all of the text was valid. */
  finish(): boolean {
    if (this.fault === null && this.#cutLength > 0) this.#fail('invalid')
    return this.fault === null
  }

  /** @returns the place in the chunk after the completed sequence, or -1 when the sequence is invalid */
  #completeCut(chunk: Uint8Array): number {
    const missing = sequenceBytes(this.#cut[0] ?? 0) - this.#cutLength
    const taken = chunk.subarray(0, missing)
    this.#cut.set(taken, this.#cutLength)
    this.#cutLength += taken.length
    if (taken.length < missing) return chunk.length
    const isValid = isUtf8(this.#cut.subarray(0, this.#cutLength))
    this.#cutLength = 0
    return isValid ? missing : -1
  }

  #fail(fault: 'nul' | 'invalid'): false {
    this.fault = fault
    return false
  }
}

const SEQUENCE_BYTES_MAX = 4

/** Bytes of the sequence that begins with a byte; any other byte counts as one and is checked with the rest. */
function sequenceBytes(lead: number): number {
  if (lead >= 0xf0 && lead < 0xf8) return 4
  if (lead >= 0xe0) return lead < 0xf0 ? 3 : 1
  return lead >= 0xc0 ? 2 : 1
}

/** Length of the chunk without an incomplete sequence at its end. */
function wholeLength(chunk: Uint8Array): number {
  for (let back = 1; back < SEQUENCE_BYTES_MAX && back <= chunk.length; back++) {
    const byte = chunk[chunk.length - back] ?? 0
    if (byte < 0x80) return chunk.length
    if (byte >= 0xc0) return sequenceBytes(byte) > back ? chunk.length - back : chunk.length
  }
  return chunk.length
}

/** Lines before the records that are a title, a comment or empty. Decision. */
const LEADING_LINES_MAX = 5
/** Fewest records of a table that does not follow RFC 4180. Decision. */
const RECORDS_MIN = 3
/** Fewest fields of most records in such a table. Decision. */
const FIELDS_MIN = 3
/** Share of the records that have the most common number of fields. Decision. */
const SAME_SHARE_MIN = 0.8
/** The same share for a table in which no record has a single field. Decision. */
const SAME_SHARE_MIN_WITHOUT_SINGLES = 0.6
/** `sep=;` in the first line, with which programs name the delimiter for spreadsheets. */
const SEPARATOR_LINE = /^"?sep=([,;\t|])"?\r?\n/i

/**
 * Whether a text is a table as spreadsheets and programs write it: with a title, ragged records, or quotes
 * within fields.
 * @param head the text's first bytes, one character for each byte
 * @param isWhole whether `head` is the whole text
 */
function isLooseCsv(head: string, isWhole: boolean): boolean {
  return [',', ';', '\t'].some((delimiter) => isTable(countFields(head, delimiter, isWhole)))
}

/** Whether the first line names the delimiter and the next lines contain it. */
function hasSeparatorLine(head: string): boolean {
  const separator = SEPARATOR_LINE.exec(head)
  const [first = 0] =
    separator === null ? [] : countFields(head.slice(separator[0].length), separator[1] ?? ',')
  return first >= 2
}

function isTable(counts: readonly number[]): boolean {
  const first = counts.findIndex((fields) => fields >= 2)
  if (first < 0 || first > LEADING_LINES_MAX) return false
  const records = counts.slice(first).filter((fields) => fields > 0)
  const [most, same] = mostCommon(records)
  if (records.length < RECORDS_MIN || most < 2) return false
  // In prose, lines often have one comma each; below a title such lines are a table.
  if (same === records.length && first > 0) return true
  const isEach = records.every((fields) => fields >= 2)
  return (
    most >= FIELDS_MIN && same >= (isEach ? SAME_SHARE_MIN_WITHOUT_SINGLES : SAME_SHARE_MIN) * records.length
  )
}

function mostCommon(records: readonly number[]): readonly [fields: number, records: number] {
  const sums = new Map<number, number>()
  for (const fields of records) sums.set(fields, (sums.get(fields) ?? 0) + 1)
  return [...sums].reduce((best, sum) => (sum[1] > best[1] ? sum : best), [0, 0])
}

/**
 * Fields of each line, 0 for an empty line. A quote at a field's beginning opens a quoted field that may span
 * lines. Empty when a quote is never closed.
 */
function countFields(text: string, delimiter: string, isWhole = true): readonly number[] {
  const counts: number[] = []
  const special = new RegExp(`["${delimiter}\\n]`, 'g')
  let [fields, fieldAt, lineAt] = [1, 0, 0]
  for (let found = special.exec(text); found !== null; found = special.exec(text)) {
    const at = found.index
    if (found[0] === '"') {
      if (at !== fieldAt) continue
      const end = closingQuote(text, at + 1)
      if (end < 0) return isWhole ? [] : counts
      special.lastIndex = end + 1
      continue
    }
    if (found[0] === '\n') {
      counts.push(isEmpty(text, lineAt, at) ? 0 : fields)
      fields = 1
      lineAt = at + 1
    } else fields++
    fieldAt = at + 1
  }
  if (isWhole && !isEmpty(text, lineAt, text.length)) counts.push(fields)
  return counts
}

function isEmpty(text: string, start: number, end: number): boolean {
  return end === start || (end === start + 1 && text[start] === '\r')
}

/** @returns the place of the quote that ends a field; two consecutive quotes stand for one character. -1 when the field does not end */
function closingQuote(text: string, from: number): number {
  for (let at = text.indexOf('"', from); at >= 0; at = text.indexOf('"', at + 2))
    if (text[at + 1] !== '"') return at
  return -1
}

/** The text in which Markdown is searched. A longer text is cut, and the cut is not an end of its line. */
function markdownHead(text: string): string {
  return text.length > MARKDOWN_HEAD_BYTES ? `${text.slice(0, MARKDOWN_HEAD_BYTES)}x\nx` : text
}
