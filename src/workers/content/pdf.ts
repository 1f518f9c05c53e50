import { ArchiveBehind } from './archive-behind.ts'
import { broken, foreign, UNCLAIMED, whole, type StructureEnd, type StructureScanner } from './verdict.ts'
import { HeadWindow, TailWindow } from './windows.ts'

/** Bytes of white space before the header, and of it or zeros behind the end marker. */
const PADDING_BYTES_MAX = 1_024
const MARK_BYTES = 3
const HEADER_BYTES = 8
const HEADER = /^(?:\xef\xbb\xbf)?[\0\t\n\f\r ]{0,1024}%PDF-[12]\.\d/
const START_MARK = 'startxref'
/** Room for `startxref` and its number before an end marker that stands as early as it may. */
const TAIL_BYTES = 2 * PADDING_BYTES_MAX
/** `startxref`, a place, and the end marker behind which nothing is. */
const END = /^startxref\s{1,8}(\d{1,12})\s{1,8}%%EOF[\0\t\n\f\r ]{0,1024}$/

/**
 * PDF: its header at the beginning, an object, and at the end `startxref` with a place inside the file and the end
 * marker. Readers bear other bytes before and behind, and so would take what is another format, too: here is only a
 * byte order mark and white space. An archive whose comment ends as a PDF does is found all the same. The objects
 * themselves are not read.
 */
export class PdfScanner implements StructureScanner {
  readonly #head = new HeadWindow(PADDING_BYTES_MAX + MARK_BYTES + HEADER_BYTES)
  readonly #tail = new TailWindow(TAIL_BYTES)
  readonly #archive = new ArchiveBehind()
  #hasHeader: boolean | null = null
  #hasObject = false
  #sizeBytes = 0
  #lastBytes = ''

  push(chunk: Uint8Array): boolean {
    this.#sizeBytes += chunk.length
    this.#head.push(chunk)
    // What is none must not cost what only a PDF needs.
    if (this.#hasHeader === null && this.#head.isFull && !this.#findHeader()) return false
    this.#tail.push(chunk)
    this.#archive.push(chunk)
    if (!this.#hasObject) this.#lookForObject(chunk)
    return true
  }

  finish(): StructureEnd {
    if (!(this.#hasHeader ?? this.#findHeader())) return UNCLAIMED
    if (!this.#hasObject || !this.#endsWell()) return broken('a PDF document')
    return this.#archive.isThere() ? foreign('a PDF document that is a ZIP archive, too') : whole('application/pdf')
  }

  #findHeader(): boolean {
    this.#hasHeader = HEADER.test(this.#head.latin1())
    return this.#hasHeader
  }

  /** `obj` ends the first line of every object. It may lie across chunks. */
  #lookForObject(chunk: Uint8Array): void {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length)
    const border = this.#lastBytes + bytes.toString('latin1', 0, 3)
    this.#hasObject = border.includes(' obj') || bytes.includes(' obj', 0, 'latin1')
    this.#lastBytes = chunk.length >= 3 ? bytes.toString('latin1', chunk.length - 3) : border.slice(-3)
  }

  #endsWell(): boolean {
    const tail = this.#tail.latin1()
    const startAt = tail.lastIndexOf(START_MARK)
    const place = startAt < 0 ? undefined : END.exec(tail.slice(startAt))?.[1]
    return place !== undefined && Number(place) < this.#sizeBytes
  }
}
