import { AUTOMATA, type HeldText } from '../automaton.ts'
import { TailWindow } from '../windows.ts'

/** `PK`, 5, 6: the mark of the record at the end of every zip. */
const END_MARK = 'PK\x05\x06'
/** Bytes of that record without its comment, which has at most 65,535 bytes. */
const END_BYTES = 22
/** The mark of a line of the directory. */
const LINE_MARK = 'PK\x01\x02'
/** The mark right before that record when sizes need 64 bits; it points to these sizes. */
const WIDE_MARK = 'PK\x06\x07'
/** Bytes of the locator with WIDE_MARK. */
const WIDE_BYTES = 20
/** The bytes at the end in which zip readers search for that record. */
const TAIL_BYTES = END_BYTES + 0xffff
/**
 * The first bytes of an archive as words, the lowest byte first: the mark of an entry, or the end mark of an
 * empty archive.
 */
const START_WORDS = [0x04034b50, 0x06054b50] as const
const MARK_BYTES = 4
/** `stream` with its line end, before the first mark of an attachment. */
const STREAM_START = /stream(?:\r\n|\n|\r)$/
/** Bytes of the longest match of STREAM_START. */
const STREAM_START_BYTES = 8
/** Bytes that are kept of a chunk: the start of a stream and the mark after it may lie across two chunks. */
const BORDER_BYTES = STREAM_START_BYTES + 4
/** `endstream` after white space. */
const STREAM_END = /^[\0\t\n\f\r ]{0,8}endstream/
/** Bytes of the longest match of STREAM_END. */
const STREAM_END_BYTES = 17
/**
 * The number of entries of archives in streams that are examined, from the first: with more, a PDF cannot be
 * distinguished from an archive. Decision.
 */
const MARKS_MAX = 65_536

/**
 * Tells whether zip readers would take another file for an archive. These search for the end record from the
 * end of the file backward; they tolerate bytes before the archive, and some tolerate bytes after it. So no
 * such record may be near the end, except that of a PDF's attachment: an archive that begins where a stream
 * begins, and after which the stream ends.
 */
export class ArchiveBehind {
  readonly #tail = new TailWindow(TAIL_BYTES)
  readonly #starts = new Set<number>()
  #sizeBytes = 0
  #marks = 0
  /** The last bytes of the earlier chunks. */
  #border = ''

  push({ bytes }: HeldText): void {
    this.#tail.push(bytes)
    this.#lookForStarts(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length))
    this.#sizeBytes += bytes.length
  }

  /** The last 64 KiB of the file. */
  get lastBytes(): Uint8Array {
    return Buffer.from(this.#tail.latin1(), 'latin1')
  }

  isThere(mayBeAttached: boolean): boolean {
    const tail = this.#tail.latin1()
    const tailAt = this.#sizeBytes - tail.length
    for (let at = tail.indexOf(END_MARK); at >= 0; at = tail.indexOf(END_MARK, at + 1)) {
      if (at + END_BYTES <= tail.length && this.#endsArchive(tail, { at, tailAt, mayBeAttached })) return true
    }
    return false
  }

  #endsArchive(tail: string, place: { at: number; tailAt: number; mayBeAttached: boolean }): boolean {
    const { at, tailAt, mayBeAttached } = place
    const record = Buffer.from(tail.slice(at, at + END_BYTES), 'latin1')
    const [directoryBytes, directoryAt] = [record.readUInt32LE(12), record.readUInt32LE(16)]
    // No attachment is this large.
    if (tail.startsWith(WIDE_MARK, at - WIDE_BYTES)) return true
    const lineAt = at - directoryBytes
    // The mark is there by chance when no directory is before it. A directory that begins before the tail is
    // assumed to exist.
    if (tailAt + lineAt < 0 || (lineAt >= 0 && directoryBytes > 0 && !tail.startsWith(LINE_MARK, lineAt)))
      return false
    const isAttached = mayBeAttached && this.#starts.has(tailAt + lineAt - directoryAt)
    const behind = at + END_BYTES + record.readUInt16LE(20)
    return !isAttached || !STREAM_END.test(tail.slice(behind, behind + STREAM_END_BYTES))
  }

  #lookForStarts(bytes: Buffer): void {
    if (this.#marks >= MARKS_MAX) return
    // First the bytes across the border of two chunks.
    const across = Buffer.from(this.#border + bytes.toString('latin1', 0, BORDER_BYTES), 'latin1')
    for (let at = 0; at + MARK_BYTES <= across.length; at++)
      if (this.#marks < MARKS_MAX && isStartWord(across.readUInt32LE(at)))
        this.#look(across, { at, bytesAt: this.#sizeBytes - this.#border.length })
    const next = (from: number): number => AUTOMATA.wordIn(bytes, from, START_WORDS)
    for (let at = next(0); at >= 0 && this.#marks < MARKS_MAX; at = next(at + MARK_BYTES))
      this.#look(bytes, { at, bytesAt: this.#sizeBytes })
    const last = bytes.length < BORDER_BYTES ? across : bytes
    this.#border = last.toString('latin1', Math.max(0, last.length - BORDER_BYTES))
  }

  /** @param bytesAt place of the bytes in the file */
  #look(bytes: Buffer, { at, bytesAt }: { at: number; bytesAt: number }): void {
    this.#marks++
    const before = bytes[at - 1]
    const isStart =
      (before === 0x0a || before === 0x0d) &&
      STREAM_START.test(bytes.toString('latin1', Math.max(0, at - STREAM_START_BYTES), at))
    if (isStart) this.#starts.add(bytesAt + at)
  }
}

function isStartWord(word: number): boolean {
  return word === START_WORDS[0] || word === START_WORDS[1]
}
