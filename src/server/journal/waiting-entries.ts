import type { BookEntry } from '../ports/money/lending.ts'

/** An entry with the offset behind its record. */
export interface PlacedEntry {
  readonly entry: BookEntry
  readonly end: number
}

/**
 * Entries that are on disk and not applied yet, in order. Of those beyond a number only the place is kept:
 * they are read again when their turn comes.
 */
export class WaitingEntries {
  readonly #max: number
  #entries: PlacedEntry[] = []
  #head = 0
  /** Up to here the journal's entries are in memory; null when all of them are. */
  #readTo: number | null = null

  constructor(max: number) {
    this.#max = max
  }

  get size(): number {
    return this.#entries.length - this.#head
  }

  /** Where the entries begin that have to be read again; null when none has. */
  get readTo(): number | null {
    return this.#readTo
  }

  /** @param start offset that it was written behind */
  push(placed: PlacedEntry, start: number): void {
    if (this.#readTo !== null) return
    if (this.size >= this.#max) this.#readTo = start
    else this.#entries.push(placed)
  }

  /** What was read again, up to `to`. @param end of the journal */
  fill(entries: readonly PlacedEntry[], to: number, end: number): void {
    for (const entry of entries) this.#entries.push(entry)
    this.#readTo = to < end ? to : null
  }

  first(max: number): readonly PlacedEntry[] {
    return this.#entries.slice(this.#head, this.#head + max)
  }

  /** Forgets those that end at `to` or before. */
  drop(to: number): void {
    while (this.#head < this.#entries.length && (this.#entries[this.#head]?.end ?? Infinity) <= to)
      this.#head++
    // Moved seldom, so that each entry is moved about once.
    if (this.#head * 2 < this.#entries.length) return
    this.#entries = this.#entries.slice(this.#head)
    this.#head = 0
  }
}
