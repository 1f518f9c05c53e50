import type { OpenTake } from '../ports/money/lending.ts'
import type { JournalDisk } from './disk.ts'
import { RecordBuffer } from './record-buffer.ts'
import { DRAFT, writeHead, type SegmentHead } from './segments.ts'

/** A place in the journal beside its place in the file. */
export interface SegmentPlace {
  readonly path: string
  /** Bytes of the head, which no offset counts. */
  readonly headBytes: number
  readonly base: number
}

/** The file that a journal appends to. */
export class SegmentWriter {
  readonly place: SegmentPlace
  readonly #disk: JournalDisk
  readonly #file: number
  /** Bytes of the file that count. */
  #length: number
  /** There may be bytes behind `#length`. */
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
   * Makes a segment that begins with the open takes. It has its name only when it is whole: a process that
   * dies meanwhile leaves the one before it as the last. Throws what the disk says.
   */
  static create(
    disk: JournalDisk,
    path: string,
    begin: { head: SegmentHead; open: ReadonlyMap<number, OpenTake> },
  ): SegmentWriter {
    const records = new RecordBuffer()
    writeHead(records, begin.head)
    const headBytes = records.length
    for (const [id, take] of begin.open) records.take(id, take)
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

  /** Offset in the journal behind its last record. */
  get end(): number {
    return this.place.base + this.#length - this.place.headBytes
  }

  /** Bytes of the file. */
  get length(): number {
    return this.#length
  }

  /**
   * Appends all or nothing. Throws what the disk says; what it wrote in part is taken away, at the latest by
   * the next append.
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
   * Says that another segment follows. Where that cannot be said, the follower's base tells where this one
   * ends.
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
    super('The disk took a part of what was written.')
  }
}

/** For steps whose failure the next one meets. */
export function attempt(step: () => void): void {
  try {
    step()
  } catch {
    // Met again by whoever needs it.
  }
}
