import { dirname } from 'node:path'
import { closeSync, ftruncateSync, mkdirSync, openSync, renameSync, rmSync, writeSync } from 'node:fs'
import type { OpenTake, BookEntry } from '../ports/money/lending.ts'
import { RecordBuffer } from './record-buffer.ts'
import { DRAFT, writeHead, type SegmentHead } from './segments.ts'

export interface SegmentPlace {
  readonly path: string
  /** Bytes of the head; offsets do not count them. */
  readonly headBytes: number
  readonly base: number
}

export class SegmentWriter {
  readonly place: SegmentPlace
  readonly #disk: JournalDisk
  readonly #file: number
  /** Valid bytes of the file. */
  #length: number
  /** True while there may be bytes after `#length`. */
  #isTorn = false

  private constructor(
    disk: JournalDisk,
    file: number,
    { place, length }: { place: SegmentPlace; length: number },
  ) {
    this.#disk = disk
    this.#file = file
    this.place = place
    this.#length = length
  }

  /**
   * Creates a segment that begins with the open takes. The segment gets its name only when it is complete: if
   * the process dies meanwhile, the previous segment remains the last one. Throws the disk's error.
   */
  static create(
    disk: JournalDisk,
    path: string,
    begin: { head: SegmentHead; open: ReadonlyMap<number, OpenTake> },
  ): SegmentWriter {
    const records = new RecordBuffer()
    writeHead(records, begin.head)
    const headBytes = records.length
    for (const [id, take] of begin.open) {
      records.take(id, take)
      if (take.progress !== undefined) records.progress(id, take.progress)
    }
    const draft = path + DRAFT
    const file = disk.create(draft)
    try {
      const written = disk.write(file, records.bytes, records.length, 0)
      if (written < records.length) throw new ShortWrite()
      disk.rename(draft, path)
    } catch (cause) {
      disk.close(file)
      attempt(() => disk.remove(draft))
      throw cause
    }
    const place = { path, headBytes, base: begin.head.base }
    return new SegmentWriter(disk, file, { place, length: records.length })
  }

  /** Offset in the journal after the last record. */
  get end(): number {
    return this.place.base + this.#length - this.place.headBytes
  }

  /** Bytes of the file. */
  get length(): number {
    return this.#length
  }

  /** Appends all or nothing. Throws the disk's error; a partial write is removed, at the latest by the next append. */
  append({ bytes, length }: Pick<RecordBuffer, 'bytes' | 'length'>): void {
    if (this.#isTorn) this.#mend()
    this.#isTorn = true
    try {
      const written = this.#disk.write(this.#file, bytes, length, this.#length)
      if (written < length) throw new ShortWrite()
    } catch (cause) {
      attempt(() => this.#mend())
      throw cause
    }
    this.#isTorn = false
    this.#length += length
  }

  /**
   * Records that another segment follows. When the record cannot be written, the base of the next segment
   * shows where this one ends.
   */
  seal(): void {
    const record = new RecordBuffer(0)
    record.sealed()
    attempt(() => this.append(record))
    this.close()
  }

  close(): void {
    attempt(() => this.#disk.close(this.#file))
  }

  #mend(): void {
    this.#disk.truncate(this.#file, this.#length)
    this.#isTorn = false
  }
}

class ShortWrite extends Error {
  constructor() {
    super('The disk wrote only part of the data.')
  }
}

/** Runs a step and ignores its failure, since the next step fails in the same way. */
export function attempt(step: () => void): void {
  try {
    step()
  } catch {
    // The next step that needs the disk fails too.
  }
}

/**
 * The disk operations of a journal, each by itself so that tests can inject faults between them. Each throws
 * as `node:fs` does.
 */
export interface JournalDisk {
  /** Creates an empty file that only its owner may read, and its folder when missing. @returns its descriptor */
  create(path: string): number
  /** @returns the bytes written, possibly fewer */
  write(file: number, bytes: Buffer, length: number, position: number): number
  truncate(file: number, length: number): void
  rename(from: string, to: string): void
  remove(path: string): void
  close(file: number): void
}

export const LOCAL_DISK: JournalDisk = {
  create(path) {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    return openSync(path, 'w', 0o600)
  },
  write: (file, bytes, length, position) => writeSync(file, bytes, 0, length, position),
  truncate: ftruncateSync,
  rename: renameSync,
  remove: (path) => rmSync(path, { force: true }),
  close: closeSync,
}

/** An entry with the offset after its record. */
export interface PlacedEntry {
  readonly entry: BookEntry
  readonly end: number
}

/** Entries that are on disk and not applied yet, in order. Beyond a limit only the position of entries is kept: they are read again when needed. */
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

  /** Adds entries that were read again, up to `to`. @param end of the journal */
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
