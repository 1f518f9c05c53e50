import type { BookEntry } from '../ports/money/lending.ts'

/** An entry with the offset after its record. */
export interface PlacedEntry {
  readonly entry: BookEntry
  readonly end: number
}

/**
 * Entries that are on disk and not applied yet, in order. Above a number of entries only their place is kept:
 * they are read again when their turn comes.
 */
export class WaitingEntries {
  readonly #max: number
  #entries: BookEntry[] = []
  /** Offset after the record of each. */
  #ends: number[] = []
  #head = 0
  /** Entries before this offset are in memory; null when all of them are. */
  #readTo: number | null = null

  constructor(max: number) {
    this.#max = max
  }

  get size(): number {
    return this.#entries.length - this.#head
  }

  /** Offset from which entries must be read again; null when none must. */
  get readTo(): number | null {
    return this.#readTo
  }

  /** @param start offset from which its record is found. @param end offset after it */
  push(entry: BookEntry, start: number, end: number): void {
    if (this.#readTo !== null) return
    if (this.size >= this.#max) this.#readTo = start
    else this.#add(entry, end)
  }

  /**
   * Adds entries that were read again, up to `to`.
   * @param end of the journal
   */
  fill(entries: readonly PlacedEntry[], to: number, end: number): void {
    for (const placed of entries) this.#add(placed.entry, placed.end)
    this.#readTo = to < end ? to : null
  }

  /** The oldest entries, with the offset after the last of them. */
  first(max: number): { readonly entries: readonly BookEntry[]; readonly end: number | undefined } {
    const entries = this.#entries.slice(this.#head, this.#head + max)
    return { entries, end: this.#ends[this.#head + entries.length - 1] }
  }

  /** Drops the entries that end at `to` or before. */
  drop(to: number): void {
    while (this.#head < this.#ends.length && (this.#ends[this.#head] ?? Infinity) <= to) this.#head++
    // Moved seldom, so that each entry is moved about once.
    if (this.#head * 2 < this.#entries.length) return
    this.#entries = this.#entries.slice(this.#head)
    this.#ends = this.#ends.slice(this.#head)
    this.#head = 0
  }

  #add(entry: BookEntry, end: number): void {
    this.#entries.push(entry)
    this.#ends.push(end)
  }
}
