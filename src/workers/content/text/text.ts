import { AUTOMATA, HELD_BYTES_MAX } from '../automaton.ts'
import { hasSeparatorLine, isLooseCsv } from './csv-loose.ts'
import { CsvScanner } from './csv.ts'
import { JsonScanner } from './json.ts'
import { hasMarkdownSigns } from './markdown-signs.ts'
import { MarkdownScanner } from './markdown.ts'
import { SOURCE_HEAD_BYTES, SOURCE_TAIL_BYTES, sourceKind } from './source-text.ts'
import { Utf8Check } from './utf8.ts'
import type { TextType } from '../verdict.ts'
import { HeadWindow, TailWindow } from '../windows.ts'

/** First bytes of a text that show a table that is not strict. Decision. */
const CSV_HEAD_BYTES = 65_536
/** First bytes of a text that show Markdown by its conventions. Decision. */
const MARKDOWN_HEAD_BYTES = 16_384

const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf] as const

/**
 * Determines the type of a text by its structure, and whether it is UTF-8 at all. A byte order mark is
 * tolerated and skipped.
 */
export class TextScanner {
  readonly #utf8 = new Utf8Check()
  readonly #head = new HeadWindow(CSV_HEAD_BYTES)
  readonly #tail = new TailWindow(SOURCE_TAIL_BYTES)
  readonly #json = new JsonScanner()
  readonly #csv = new CsvScanner()
  readonly #markdown = new MarkdownScanner()
  /** False: every structure has its answer. */
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
      const isOpen = [this.#json.push(held), this.#csv.push(held), this.#markdown.push(held)]
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
    const isMarkdown = this.#markdown.finish() || hasMarkdownSigns(head.slice(0, MARKDOWN_HEAD_BYTES))
    return isMarkdown && source !== 'docstring' ? 'text/markdown' : 'text/plain'
  }

  /** A text that begins like JSON is never CSV, however many commas are on its lines. */
  #isLooseCsv(head: string): boolean {
    return !/^\s*[[{]/.test(head) && isLooseCsv(head, !this.#head.isFull)
  }

  /**
   * A valid text may begin with the mark's first byte and not with the mark: its bytes are read after all.
   */
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
