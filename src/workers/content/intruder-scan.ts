import { ArchiveBehind } from './archive/archive-behind.ts'
import { AUTOMATA, HELD_BYTES_MAX } from './automaton.ts'
import { INTRUDERS_ANYWHERE, INTRUDERS_OUTSIDE, type Intruder } from './intruders.ts'
import { SignatureScan } from './signature-scan.ts'

/**
 * Searches a whole file for signatures that would make the file two formats at once, wherever they occur.
 * Source: contract C36.
 */
export class IntruderScan {
  readonly #archive = new ArchiveBehind()
  readonly #scan = new SignatureScan<Intruder>(INTRUDERS_ANYWHERE, (intruder) => {
    if (intruder.isMarkup === true) this.#markup ??= intruder.found
    else this.#other ??= intruder.found
  })
  #markup: string | null = null
  #other: string | null = null

  push(chunk: Uint8Array): void {
    for (let at = 0; at < chunk.length; at += HELD_BYTES_MAX) {
      const held = AUTOMATA.hold(chunk.subarray(at, at + HELD_BYTES_MAX))
      this.#scan.push(held.bytes)
      this.#archive.push(held)
    }
  }

  /** Call once, before the results are read. */
  finish(): void {
    this.#scan.finish()
  }

  /** The second format of a picture or a recording. */
  get inMedia(): string | null {
    return this.#other ?? this.#markup ?? (this.#archive.isThere(false) ? 'a ZIP archive' : null)
  }

  /** The second format of a file without an end mark, by its last 64 KiB. */
  get atEnd(): string | null {
    const outside = new OutsideScan()
    outside.push(this.#archive.lastBytes)
    return outside.finish()
  }

  /** The second format of a PDF, which may have an archive attached and describe pages and scripts. */
  get inPdf(): string | null {
    return this.#archive.isThere(true) ? 'a ZIP archive' : this.#other
  }
}

/**
 * Bytes from which a piece is scanned by itself: a scan of each smaller piece would cost more than its bytes.
 */
const JOINED_BYTES_MAX = 512
/** Bytes of small pieces that are joined before they are scanned. */
const JOINING_BYTES = 4_096

/** Searches the bytes before the beginning and after the end of a file's format. */
export class OutsideScan {
  #found: string | null = null
  /** Short pieces that wait for their scan. */
  #joined: Uint8Array | null = null
  #length = 0
  readonly #scan = new SignatureScan<Intruder>(INTRUDERS_OUTSIDE, (intruder) => {
    this.#found ??= intruder.found
  })

  /** Adds the bytes in `[from, to)`. */
  push(bytes: Uint8Array, from = 0, to = bytes.length): void {
    if (to - from >= JOINED_BYTES_MAX) {
      this.#scanJoined()
      this.#scan.push(bytes.subarray(from, to))
      return
    }
    if (this.#length + to - from > JOINING_BYTES) this.#scanJoined()
    const joined = (this.#joined ??= new Uint8Array(JOINING_BYTES))
    for (let at = from; at < to; at++) joined[this.#length++] = bytes[at] ?? 0
  }

  /** Call once. */
  finish(): string | null {
    this.#scanJoined()
    this.#scan.finish()
    return this.#found
  }

  #scanJoined(): void {
    if (this.#length > 0) this.#scan.push((this.#joined ?? NO_BYTES).subarray(0, this.#length))
    this.#length = 0
  }
}

const NO_BYTES = new Uint8Array(0)
