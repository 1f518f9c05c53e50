import type { Span } from '../../schemas/values/json-bytes.ts'

/** Takes what spliced bytes consist of, in order. */
export interface SpliceSink {
  /** Bytes `[from, to)` of the source. */
  bytes(from: number, to: number): void
  text(text: string): void
}

/**
 * Parts of some bytes that are replaced, in the order of the bytes. The lists are used again for other bytes.
 */
export class Splices {
  readonly #from: number[] = []
  readonly #to: number[] = []
  readonly #put: (string | Span)[] = []

  /**
   * Replaces `[from, to)`; no part begins before the end of the last one.
   * @param put a text, or other bytes of the source
   */
  add(from: number, to: number, put: string | Span): void {
    this.#from.push(from)
    this.#to.push(to)
    this.#put.push(put)
  }

  /** How many there are. */
  get count(): number {
    return this.#from.length
  }

  /** As `add`, before the splice with this number. */
  insert(nth: number, from: number, to: number, put: string): void {
    this.#from.splice(nth, 0, from)
    this.#to.splice(nth, 0, to)
    this.#put.splice(nth, 0, put)
  }

  /** The splice with this number puts another text: the first of `was` in it becomes `is`. */
  change(nth: number, was: string, is: string): void {
    const put = this.#put[nth]
    if (typeof put === 'string') this.#put[nth] = put.replace(was, is)
  }

  clear(): void {
    this.#from.length = 0
    this.#to.length = 0
    this.#put.length = 0
  }

  /** Gives the bytes of `[start, end)` with their parts replaced, and what is put in at `end`. */
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

/** Spliced bytes in pieces: parts of their source, and texts between them. */
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
