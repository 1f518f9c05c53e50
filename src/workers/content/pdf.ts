import { broken, UNCLAIMED, whole, type StructureEnd, type StructureScanner } from './verdict.ts'
import { HeadWindow, TailWindow } from './windows.ts'

/** Bytes before the header and behind the end marker that readers bear, and we with them. */
const JUNK_BYTES_MAX = 1_024
const HEADER_BYTES = 8
const END_MARK = '%%EOF'
/** Room for `startxref` and its number before an end marker that stands as early as it may. */
const TAIL_BYTES = 2 * JUNK_BYTES_MAX

/**
 * PDF: its header within the first 1,024 bytes, an object, and near the end `startxref` with a place inside
 * the file and the end marker, which at most 1,024 bytes follow. The objects themselves are not read.
 */
export class PdfScanner implements StructureScanner {
  readonly #head = new HeadWindow(JUNK_BYTES_MAX + HEADER_BYTES)
  readonly #tail = new TailWindow(TAIL_BYTES)
  #headerAt = -1
  #isJudged = false
  #hasObject = false
  #sizeBytes = 0
  #lastBytes = ''

  push(chunk: Uint8Array): boolean {
    this.#sizeBytes += chunk.length
    this.#head.push(chunk)
    this.#tail.push(chunk)
    if (!this.#hasObject) this.#lookForObject(chunk)
    return this.#isJudged || !this.#head.isFull || this.#findHeader()
  }

  finish(): StructureEnd {
    if (!this.#isJudged) this.#findHeader()
    if (this.#headerAt < 0) return UNCLAIMED
    if (this.#hasObject && this.#endsWell()) return whole('application/pdf')
    return this.isDisplaced ? UNCLAIMED : broken('a PDF document')
  }

  /** Whether anything but a byte order mark and white space stands before the header. */
  get isDisplaced(): boolean {
    return !/^(?:\xef\xbb\xbf)?[\0\t\n\f\r ]*$/.test(
      this.#head.latin1().slice(0, Math.max(0, this.#headerAt)),
    )
  }

  #findHeader(): boolean {
    this.#isJudged = true
    this.#headerAt = this.#head.latin1().search(/%PDF-[12]\.\d/)
    return this.#headerAt >= 0
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
    const endAt = tail.lastIndexOf(END_MARK)
    if (endAt < 0 || tail.length - endAt - END_MARK.length > JUNK_BYTES_MAX) return false
    const place = /startxref\s{1,8}(\d{1,12})\s{1,8}$/.exec(tail.slice(0, endAt))?.[1]
    return place !== undefined && Number(place) < this.#sizeBytes
  }
}
