import type { Span } from '../../schemas/values/json-bytes.ts'

/** Receives the pieces of spliced bytes, in order. */
export interface SpliceSink {
  /** Bytes `[from, to)` of the source. */
  bytes(from: number, to: number): void
  text(text: string): void
}

/** Replacements in some bytes, in order. The lists are reused for other bytes. */
export class Splices {
  readonly #from: number[] = []
  readonly #to: number[] = []
  readonly #put: (string | Span)[] = []

  /** Replaces `[from, to)`; no part begins before the end of the last one. @param put a text, or other bytes of the source */
  add(from: number, to: number, put: string | Span): void {
    this.#from.push(from)
    this.#to.push(to)
    this.#put.push(put)
  }

  /** Number of splices. */
  get count(): number {
    return this.#from.length
  }

  /** As `add`, before the splice with this number. */
  insert(nth: number, from: number, to: number, put: string): void {
    this.#from.splice(nth, 0, from)
    this.#to.splice(nth, 0, to)
    this.#put.splice(nth, 0, put)
  }

  /** In the text of the splice with this number, replaces the first `was` by `is`. */
  change(nth: number, was: string, is: string): void {
    const put = this.#put[nth]
    if (typeof put === 'string') this.#put[nth] = put.replace(was, is)
  }

  clear(): void {
    this.#from.length = 0
    this.#to.length = 0
    this.#put.length = 0
  }

  /** Writes the bytes of `[start, end)` with all replacements, including insertions at `end`. */
  apply(start: number, end: number, out: SpliceSink): void {
    let at = start
    for (let nth = 0; nth < this.#from.length; nth++) {
      const from = this.#from[nth] ?? end
      if (from < start) continue
      if (from > end) break
      if (from > at) out.bytes(at, from)
      const put = this.#put[nth] ?? ''
      if (typeof put !== 'string') out.bytes(put.start, put.end)
      else if (put !== '') out.text(put)
      at = this.#to[nth] ?? end
    }
    if (end > at) out.bytes(at, end)
  }
}

/** Spliced bytes as pieces: slices of the source, and texts between them. */
export class Pieces implements SpliceSink {
  readonly all: Buffer[] = []
  readonly #source: Buffer

  constructor(source: Buffer) {
    this.#source = source
  }

  bytes(from: number, to: number): void {
    this.all.push(this.#source.subarray(from, to))
  }

  text(text: string): void {
    if (text !== '') this.all.push(Buffer.from(text))
  }
}

/** Bytes of the buffer that is kept for the next read; most reads need less. */
const KEPT_BYTES = 64 * 1_024

/** The most bytes of a piece for which a loop is cheaper than a call of `copy`. */
const SHORT_BYTES = 64

/** The most UTF-8 bytes of one UTF-16 unit. */
const UNIT_BYTES_MAX = 3

const NO_BYTES = Buffer.alloc(0)

/** Gathers the events of one read and returns them in one piece. */
export class EventBuffer implements SpliceSink {
  /** The bytes that `bytes` copies from. */
  source: Buffer = NO_BYTES
  #bytes: Buffer = Buffer.allocUnsafe(KEPT_BYTES)
  #length = 0

  bytes(from: number, to: number): void {
    this.#makeRoom(to - from)
    const { source } = this
    const target = this.#bytes
    if (to - from > SHORT_BYTES) source.copy(target, this.#length, from, to)
    else for (let at = from, put = this.#length; at < to; at++, put++) target[put] = source[at] ?? 0
    this.#length += to - from
  }

  text(text: string): void {
    this.#makeRoom(text.length * UNIT_BYTES_MAX)
    this.#length += this.#bytes.write(text, this.#length)
  }

  whole(bytes: Buffer): void {
    this.#makeRoom(bytes.length)
    bytes.copy(this.#bytes, this.#length)
    this.#length += bytes.length
  }

  /** Ends an event. */
  lineEnds(): void {
    this.#makeRoom(2)
    this.#bytes[this.#length++] = 0x0a
    this.#bytes[this.#length++] = 0x0a
  }

  clear(): void {
    this.source = NO_BYTES
    this.#length = 0
  }

  /** All bytes so far, in memory that is reused when other bytes are gathered; null: none. */
  lend(): Buffer | null {
    const lent = this.#length === 0 ? null : this.#bytes.subarray(0, this.#length)
    this.clear()
    if (this.#bytes.length > KEPT_BYTES) this.#bytes = Buffer.allocUnsafe(KEPT_BYTES)
    return lent
  }

  /** All bytes so far, copied to separate memory; null: none. */
  take(): Buffer | null {
    const isOwn = this.#bytes.length > KEPT_BYTES
    const lent = this.lend()
    return lent === null || isOwn ? lent : Buffer.from(lent)
  }

  #makeRoom(more: number): void {
    const wanted = this.#length + more
    if (wanted <= this.#bytes.length) return
    const made = Buffer.allocUnsafe(Math.max(wanted, this.#bytes.length * 2))
    this.#bytes.copy(made, 0, 0, this.#length)
    this.#bytes = made
  }
}
