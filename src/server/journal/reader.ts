import { open, rm, type FileHandle } from 'node:fs/promises'
import type { BookEntry, OpenTake } from '../ports/money/lending.ts'
import { recordAt, type JournalRecord } from './records.ts'
import {
  draftsOf,
  HEAD_BYTES_MAX,
  readHead,
  segmentFiles,
  type SegmentFile,
  type SegmentHead,
} from './segments.ts'
import type { PlacedEntry } from './segment-writer.ts'

/** Bytes that are read and decoded before other work gets its turn. */
const PIECE_BYTES = 512 * 1_024
/** Entries of one batch. */
const BATCH_ENTRIES = 5_000

/** Entries of one part of a journal. */
export interface Batch {
  readonly from: number
  readonly to: number
  readonly entries: readonly BookEntry[]
}

/** Facts of a journal apart from its entries, known when the whole journal was read. */
export interface JournalEnd {
  /** Takes without a settlement. */
  readonly open: readonly OpenTake[]
  /** False: a part is missing or damaged. The reader never guesses a missing part. */
  readonly isWhole: boolean
  /** Offset after the last record. */
  readonly end: number
}

/** Head of the oldest segment whose head is readable; null: no such segment. */
export async function journalHead(folder: string, id: string): Promise<SegmentHead | null> {
  for (const file of segmentFiles(folder, id)) {
    const opened = await openSegment(file)
    await opened?.file.close()
    if (opened !== null) return opened.head
  }
  return null
}

/**
 * Reads the journal of a dead process. Yields all entries after `from`, in order; the last part may have none.
 * A cut-off last record is skipped: the writer never counted it. Rejects when the disk fails.
 */
export async function* readJournal(
  folder: string,
  id: string,
  { from, batchEntries = BATCH_ENTRIES }: { from: number; batchEntries?: number | undefined },
): AsyncGenerator<Batch, JournalEnd> {
  const opened: (OpenedSegment | null)[] = []
  const reading = new Reading(from)
  try {
    for (const file of segmentFiles(folder, id)) opened.push(await openSegment(file))
    if (opened.includes(null)) reading.missPart()
    const segments = opened.filter((one) => one !== null)
    for (const [at, segment] of segments.entries()) {
      for await (const _ of reading.segment(segment, segments[at + 1]?.head.base ?? null)) {
        while (reading.size > batchEntries) yield reading.batch(batchEntries)
      }
    }
  } finally {
    for (const segment of opened) await segment?.file.close()
  }
  while (reading.size > batchEntries) yield reading.batch(batchEntries)
  yield reading.batch(batchEntries)
  return reading.result()
}

/** Removes the files of a journal, the oldest first, so that the newest part always remains. */
export async function removeJournal(folder: string, id: string): Promise<void> {
  for (const path of [...draftsOf(folder, id), ...segmentFiles(folder, id).map((file) => file.path)])
    await rm(path, { force: true })
}

interface OpenedSegment {
  readonly file: FileHandle
  readonly head: SegmentHead
  readonly headBytes: number
  /** Bytes of the file. */
  readonly bytes: number
}

class Reading {
  #entries: PlacedEntry[] = []
  readonly #open = new Map<number, OpenTake>()
  readonly #from: number
  /** Offset of the newest entry yielded: no entry is yielded twice, whatever the segments contain. */
  #seen: number
  #batchFrom: number
  #at: number | null = null
  #isWhole = true

  /** @param from offset after which entries are yielded */
  constructor(from: number) {
    this.#from = from
    this.#seen = from
    this.#batchFrom = from
  }

  missPart(): void {
    this.#isWhole = false
  }

  /** Reads a segment, one piece for each step. @param next base of the segment that follows */
  async *segment({ file, head, headBytes, bytes }: OpenedSegment, next: number | null): AsyncGenerator<void> {
    this.#meet(head.base)
    const end = next === null ? bytes : headBytes + next - head.base
    const place = { at: headBytes, end, offset: (at: number) => head.base + at - headBytes }
    if (bytes < end) this.#isWhole = false
    for (let isOver = false; !isOver && place.at < end;) {
      const piece = Buffer.allocUnsafe(Math.min(PIECE_BYTES, end - place.at))
      const { bytesRead } = await file.read(piece, 0, piece.length, place.at)
      const read = this.#piece(piece.subarray(0, bytesRead), place.offset(place.at))
      place.at += read.bytes
      isOver = read.isOver || read.bytes === 0
      this.#at = place.offset(place.at)
      yield
    }
    // Only the last segment may end within a record.
    if (next !== null && place.at < end) this.#isWhole = false
    if (next !== null) this.#at = next
  }

  get size(): number {
    return this.#entries.length
  }

  /** The oldest entries not yet yielded. A batch that contains all of them ends at the current read position. */
  batch(max: number): Batch {
    const placed = this.#entries.slice(0, max)
    this.#entries = this.#entries.slice(max)
    const from = this.#batchFrom
    const end = this.#entries.length > 0 ? placed.at(-1)?.end : this.#at
    this.#batchFrom = Math.max(from, end ?? from)
    return { from, to: this.#batchFrom, entries: placed.map(({ entry }) => entry) }
  }

  result(): JournalEnd {
    const end = this.#at ?? 0
    return {
      open: [...this.#open.values()],
      isWhole: this.#isWhole && this.#at !== null && end >= this.#from,
      end,
    }
  }

  /** Checks where a segment begins: at the end of the previous segment; the first one must not begin after the applied offset. */
  #meet(base: number): void {
    if (this.#at === null ? base > this.#from : base !== this.#at) this.#isWhole = false
    this.#at = base
  }

  #piece(piece: Buffer, offset: number): { readonly bytes: number; readonly isOver: boolean } {
    let at = 0
    while (at < piece.length) {
      const found = recordAt(piece, at)
      if (found.kind === 'cut') break
      if (found.kind === 'damaged') {
        this.#isWhole = false
        if (found.bytes === null) return { bytes: at, isOver: true }
        at += found.bytes
        continue
      }
      // The record shows that another segment followed: if its file still existed, this segment would end
      // before this record.
      if (found.record.kind === 'sealed') {
        this.#isWhole = false
        return { bytes: at, isOver: true }
      }
      at += found.bytes
      this.#record(found.record, offset + at)
    }
    return { bytes: at, isOver: false }
  }

  #progress({ id, progress }: Extract<JournalRecord, { kind: 'progress' }>): void {
    const take = this.#open.get(id)
    if (take !== undefined) this.#open.set(id, { ...take, progress })
  }

  #record(record: JournalRecord, end: number): void {
    if (record.kind === 'take') this.#open.set(record.id, record.take)
    if (record.kind === 'progress') this.#progress(record)
    if (record.kind === 'settle' || record.kind === 'release') this.#open.delete(record.id)
    if (!('entry' in record) || end <= this.#seen) return
    this.#entries.push({ entry: record.entry, end })
    this.#seen = end
  }
}

/** Null when the segment's head is damaged: the positions in the segment are then unknown. */
async function openSegment({ id, path }: SegmentFile): Promise<OpenedSegment | null> {
  const file = await open(path, 'r')
  const bytes = Buffer.alloc(HEAD_BYTES_MAX)
  const { bytesRead } = await file.read(bytes, 0, bytes.length, 0)
  const read = readHead(bytes.subarray(0, bytesRead))
  if (read === null || read.head.id !== id) {
    await file.close()
    return null
  }
  return { file, head: read.head, headBytes: read.bytes, bytes: (await file.stat()).size }
}
