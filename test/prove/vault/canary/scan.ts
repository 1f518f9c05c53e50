import { closeSync, openSync, readdirSync, readFileSync, readSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Needle } from './needles.ts'

export interface Hit {
  readonly place: string
  readonly form: string
}

/** What a scan has looked at: one that looked at nothing proves nothing. */
export interface Scanned {
  readonly hits: readonly Hit[]
  readonly bytes: number
  readonly places: number
}

const PIECE_BYTES = 8 * 1024 * 1024

export class Scan {
  readonly #needles: readonly Needle[]
  /** Of two pieces of a file that follow each other, so that nothing hides on the border. */
  readonly #overlap: number
  readonly #hits: Hit[] = []
  #bytes = 0
  #places = 0

  constructor(needles: readonly Needle[]) {
    this.#needles = needles
    this.#overlap = Math.max(...needles.map(({ bytes }) => bytes.length)) - 1
  }

  text(place: string, text: string | Buffer): void {
    this.#places++
    this.#look(place, Buffer.from(text))
  }

  /** Every file below a folder; those that vanish meanwhile are left out. */
  folder(path: string): void {
    for (const entry of readdirSync(path, { recursive: true, withFileTypes: true })) {
      if (entry.isFile()) this.#file(join(entry.parentPath, entry.name))
    }
  }

  /** Titles and environments of processes. */
  processes(pids: readonly number[]): void {
    for (const pid of pids) {
      for (const what of ['cmdline', 'comm', 'environ']) {
        try {
          this.text(`/proc/${pid}/${what}`, readFileSync(`/proc/${pid}/${what}`))
        } catch {
          // It has ended.
        }
      }
    }
  }

  get result(): Scanned {
    return { hits: this.#hits, bytes: this.#bytes, places: this.#places }
  }

  #file(path: string): void {
    try {
      const size = statSync(path).size
      const file = openSync(path, 'r')
      try {
        for (let from = 0; from < size; from += PIECE_BYTES) {
          const piece = Buffer.alloc(Math.min(PIECE_BYTES + this.#overlap, size - from))
          const read = readSync(file, piece, 0, piece.length, from)
          this.#look(path, piece.subarray(0, read))
        }
      } finally {
        closeSync(file)
      }
      this.#places++
    } catch (problem) {
      if ((problem as NodeJS.ErrnoException).code !== 'ENOENT') throw problem
    }
  }

  #look(place: string, bytes: Buffer): void {
    this.#bytes += bytes.length
    for (const needle of this.#needles)
      if (bytes.includes(needle.bytes)) this.#hits.push({ place, form: needle.form })
  }
}
