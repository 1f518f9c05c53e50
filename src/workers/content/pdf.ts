import { OutsideScan, type IntruderScan } from './intruder-scan.ts'
import { CLAIM_BYTES, claimOf } from './trailer.ts'
import { broken, foreign, joinedTo, UNCLAIMED, whole, type StructureEnd } from './verdict.ts'
import { HeadWindow } from './windows.ts'

const WHAT = 'a PDF document'
const DAMAGED = 'a PDF document that is damaged or cut short'
/** Bytes before the header that readers bear. Contract C36. */
const JUNK_BYTES_MAX = 1_024
const MARK_BYTES = 3
const HEADER_BYTES = 6
const HEADER = /^(?:\xef\xbb\xbf)?[^]{0,1024}?(?=%PDF-\d)/
/** Nothing but a byte order mark and white space: such a file is never plain text. */
const CLEAN_START = /^(?:\xef\xbb\xbf)?[\0\t\n\f\r ]*$/
/** Marks behind which a document, or one of its updates, is at its end; the next object begins another update. */
const ENDS = ['trailer', 'startxref', '%%EOF'].map((mark) => Buffer.from(mark))
const TRAILER = 0
const OBJECT = Buffer.from(' obj')
const TABLE_STREAM = Buffer.from('/XRef')
const LONGEST_MARK_BYTES = 9
/** The end marks themselves, before what stands behind. */
const END_PARTS = /^(?:trailer\b[^]*|(?:startxref\s*\d*\s*)?(?:%%EOF)?)/

/**
 * PDF: its header within the first 1,024 bytes, an object, and a trailer or a table of places, by which readers find
 * their way even where the end is cut off or overwritten. Other bytes before, between updates and behind are borne as
 * readers bear them, but for those of another format. The objects themselves are not read.
 */
export class PdfScanner {
  readonly #head = new HeadWindow(JUNK_BYTES_MAX + MARK_BYTES + HEADER_BYTES)
  readonly #outside = new OutsideScan()
  /** The beginning of what stands behind the last end mark. */
  readonly #behind = new HeadWindow(CLAIM_BYTES)
  #isBehind = false
  #hasObject = false
  #hasTable = false
  /** Bytes in which a mark may begin that goes on in the next chunk. */
  #carry: Buffer = Buffer.alloc(0)

  /** False: it is none. */
  push(chunk: Uint8Array): boolean {
    if (!this.#head.isFull) {
      this.#head.push(chunk)
      // What is none must not cost what only a PDF needs.
      if (this.#head.isFull && this.#headerAt() < 0) return false
    }
    const bytes = Buffer.concat([this.#carry, chunk])
    const to = Math.max(0, bytes.length - LONGEST_MARK_BYTES + 1)
    this.#read(bytes, to)
    this.#carry = Buffer.from(bytes.subarray(to))
    return true
  }

  /** @param scan has seen the whole file */
  finish(scan: IntruderScan): StructureEnd {
    const headerAt = this.#headerAt()
    if (headerAt < 0) return UNCLAIMED
    this.#read(this.#carry, this.#carry.length)
    const before = this.#head.latin1().slice(0, headerAt)
    const isClean = CLEAN_START.test(before)
    if (!this.#hasObject || !this.#hasTable) return isClean ? foreign(DAMAGED) : broken(WHAT)
    const claim = scan.inPdf ?? this.#claim(isClean ? '' : before)
    return claim === null ? whole('application/pdf') : joinedTo(WHAT, claim)
  }

  /** What stands outside of the document. */
  #claim(before: string): string | null {
    this.#outside.push(Buffer.from(before, 'latin1'))
    const behind = this.#isBehind ? this.#behind.latin1().replace(END_PARTS, '') : ''
    return this.#outside.finish() ?? claimOf(before) ?? claimOf(behind)
  }

  /** Reads what lies before `to`; marks that begin there may go on behind it. */
  #read(bytes: Buffer, to: number): void {
    this.#hasTable ||= within(bytes.indexOf(TABLE_STREAM), to)
    const ends = ENDS.map(() => -1)
    let object = -1
    for (let at = 0; at < to;) {
      for (const [nth, mark] of ENDS.entries()) ends[nth] = next(bytes, mark, { from: at, known: ends[nth] ?? -1 })
      object = next(bytes, OBJECT, { from: at, known: object })
      const end = Math.min(...ends)
      const until = Math.min(to, end, this.#isBehind || !this.#hasObject ? object : Infinity)
      if (this.#isBehind) this.#pass(bytes.subarray(at, until))
      if (until === to) return
      this.#isBehind = until === end
      if (this.#isBehind) {
        this.#hasTable ||= end === ends[TRAILER]
        // The mark itself is the first of what stands behind.
        this.#behind.clear()
        this.#pass(bytes.subarray(until, until + 1))
      } else this.#hasObject = true
      at = until + 1
    }
  }

  #pass(bytes: Uint8Array): void {
    this.#behind.push(bytes)
    this.#outside.push(bytes)
  }

  #headerAt(): number {
    return HEADER.exec(this.#head.latin1())?.[0].length ?? -1
  }
}

function within(at: number, to: number): boolean {
  return at >= 0 && at < to
}

/** The place of a mark from `from` on, or Infinity; `known` is what was found before, which may still be ahead. */
function next(bytes: Buffer, mark: Uint8Array, { from, known }: { from: number; known: number }): number {
  if (known >= from) return known
  const at = bytes.indexOf(mark, from)
  return at < 0 ? Infinity : at
}
