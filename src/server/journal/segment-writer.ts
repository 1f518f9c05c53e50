import type { OpenTake } from '../ports/money/lending.ts'
import type { JournalDisk } from './disk.ts'
import { RecordBuffer } from './record-buffer.ts'
import { DRAFT, writeHead, type SegmentHead } from './segments.ts'

/** Relates places in the journal to places in the file. */
export interface SegmentPlace {
  readonly path: string
  /** Bytes of the head; offsets do not count them. */
  readonly headBytes: number
  readonly base: number
}

/** The file to which a journal appends. */
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
   * Creates a segment that begins with the open takes. The segment gets its name only when it is complete: a
   * process that dies meanwhile leaves the segment before as the last one. Throws the disk's error.
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

  /**
   * Appends all or nothing. Throws the disk's error; a partial write is removed, at the latest by the next
   * append.
   */
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
   * tells where this one ends.
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

/** Runs a step whose failure the next step meets again. */
export function attempt(step: () => void): void {
  try {
    step()
  } catch {
    // The next step that needs the disk fails too.
  }
}
