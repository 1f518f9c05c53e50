import type { GiveBack, Journal, Settlement } from '../ports/money/journal.ts'
import type { BookEntry, Flush, OpenTake, TakeProgress } from '../ports/money/lending.ts'
import type { Log } from '../ports/observe.ts'
import { entriesBehind } from './piece.ts'
import { RecordBuffer } from './record-buffer.ts'
import {
  attempt,
  SegmentWriter,
  type SegmentPlace,
  LOCAL_DISK,
  type JournalDisk,
  WaitingEntries,
} from './segment-writer.ts'
import { segmentPath, type Holder } from './segments.ts'
import { MIB } from '../../schemas/limits/limits.ts'

/** Bytes of a front's journal segment on disk, after which the next segment begins. Decision. */
export const JOURNAL_SEGMENT_BYTES = 8 * MIB
/** Entries of a front that are kept in memory until their flush; beyond them the front reads entries again from its journal. Decision. */
export const JOURNAL_ENTRIES_MAX = 20_000

export interface JournalOptions {
  /** See `journalsFolder`; created when missing. */
  readonly folder: string
  /** Id of the front. */
  readonly id: string
  readonly node: string
  /** See `bootId`. */
  readonly bootId: string
  /** This process. */
  readonly holder: Holder
  readonly log: Log
  readonly disk?: JournalDisk
  readonly segmentBytes?: number
  /** Entries that wait in memory for their flush. */
  readonly entriesMax?: number
}

/** Opens a journal; never throws. A journal without its first segment is broken, and recovers when the disk does. */
export function openJournal(options: JournalOptions): Journal {
  return new DiskJournal(options)
}

class DiskJournal implements Journal {
  readonly id: string
  readonly #options: JournalOptions
  readonly #disk: JournalDisk
  readonly #segmentBytes: number
  readonly #records = new RecordBuffer()
  /** Takes since the last successful `write`, in addition to their records. */
  #takes: OpenTake[] = []
  /** Ids of takes that ended since the last successful `write`. */
  #ended: number[] = []
  /** Entries since the last successful `write`. */
  #entries: BookEntry[] = []
  /** Offsets after the record of each entry, within the gathered records. */
  #ends: number[] = []
  /** Takes on disk that are neither settled nor released there. */
  readonly #open = new Map<number, OpenTake>()
  readonly #waiting: WaitingEntries
  #segment: SegmentWriter | null = null
  /** Full segments with entries that are not applied yet, the oldest first. */
  #older: (SegmentPlace & { readonly end: number })[] = []
  #nextTake = 1
  #nextSegment = 1
  /** Length at which the next segment is created. */
  #rotateAt: number
  #applied = 0
  #pending: Flush | null = null
  #hasFailed = false
  #isUnreadable = false
  #isClosed = false

  constructor(options: JournalOptions) {
    this.id = options.id
    this.#options = options
    this.#disk = options.disk ?? LOCAL_DISK
    this.#segmentBytes = options.segmentBytes ?? JOURNAL_SEGMENT_BYTES
    this.#rotateAt = this.#segmentBytes
    this.#waiting = new WaitingEntries(options.entriesMax ?? JOURNAL_ENTRIES_MAX)
    this.#attempt(() => this.#begin(0))
  }

  get isBroken(): boolean {
    return this.#hasFailed || this.#isUnreadable || this.#isClosed
  }

  take(take: OpenTake): number {
    const id = this.#nextTake++
    this.#takes.push(take)
    this.#records.take(id, take)
    return id
  }

  progress(takeId: number, progress: TakeProgress): void {
    const take = this.#open.get(takeId)
    if (take === undefined) return
    // Kept with the take, since the next segment begins with both.
    this.#open.set(takeId, { ...take, progress })
    this.#records.progress(takeId, progress)
  }

  settle(takeId: number, entry: Settlement): void {
    this.#records.settle(takeId, entry)
    this.#ended.push(takeId)
    this.#entries.push(entry)
    this.#ends.push(this.#records.length)
  }

  release(takeId: number): void {
    if (takeId < this.#nextTake - this.#takes.length && !this.#open.has(takeId)) return
    this.#records.release(takeId)
    this.#ended.push(takeId)
  }

  giveBack(entry: GiveBack): void {
    this.#records.giveBack(entry)
    this.#entries.push(entry)
    this.#ends.push(this.#records.length)
  }

  write(): boolean {
    if (this.#isClosed) return false
    if (this.#records.length === 0) {
      if (!this.#hasFailed) return true
      this.#records.mark()
    }
    const isWritten = this.#attempt(() => this.#append())
    if (isWritten) this.#count()
    else this.#forgetTakes()
    return isWritten
  }

  next(entriesMax: number): Flush | null {
    if (this.#pending === null || this.#pending.entries.length > entriesMax)
      this.#pending = this.#nextFlush(entriesMax)
    return this.#pending
  }

  applied(to: number): void {
    this.#pending = null
    this.#applied = to
    this.#waiting.drop(to)
    while (this.#older[0] !== undefined && this.#older[0].end <= to) {
      const { path } = this.#older[0]
      this.#older.shift()
      // If the segment cannot be removed, its reader sees that its entries were applied.
      attempt(() => this.#disk.remove(path))
    }
  }

  close(): void {
    this.#isClosed = true
    this.#segment?.close()
  }

  #append(): void {
    if (this.#segment === null) this.#begin(0)
    else if (this.#segment.length >= this.#rotateAt) this.#rotate(this.#segment)
    this.#segment?.append(this.#records)
  }

  /** Counts the gathered records, which are on disk now. */
  #count(): void {
    const start = this.#end - this.#records.length
    let before = start
    let at = 0
    for (const entry of this.#entries) {
      const end = start + (this.#ends[at++] ?? 0)
      this.#waiting.push(entry, before, end)
      before = end
    }
    let id = this.#nextTake - this.#takes.length
    for (const take of this.#takes) this.#open.set(id++, take)
    for (const id of this.#ended) this.#open.delete(id)
    this.#records.clear()
    // Only changed lists are replaced: most writes are of one kind, and a call has two.
    if (this.#takes.length > 0) this.#takes = []
    if (this.#ended.length > 0) this.#ended = []
    if (this.#entries.length > 0) this.#entries = []
    if (this.#ends.length > 0) this.#ends = []
  }

  #forgetTakes(): void {
    this.#ends = this.#records.dropTakes()
    this.#takes = []
  }

  #nextFlush(entriesMax: number): Flush | null {
    if (this.#waiting.size === 0 && this.#waiting.readTo !== null) this.#readAgain(this.#waiting.readTo)
    const { entries, end } = this.#waiting.first(entriesMax)
    const isAll = entries.length === this.#waiting.size
    // A flush of all entries also includes records without entries: otherwise offsets would never reach the
    // ends of segments.
    const to = isAll ? (this.#waiting.readTo ?? this.#end) : (end ?? this.#applied)
    // A piece without entries need not be the end of the journal.
    const isDue =
      entries.length > 0 || (to > this.#applied && (this.#older.length > 0 || this.#waiting.readTo !== null))
    return isDue ? { journalId: this.id, from: this.#applied, to, entries } : null
  }

  #readAgain(from: number): void {
    const current = this.#segment
    if (current === null) return
    const places = [...this.#older, { ...current.place, end: current.end }]
    const place = places.find(({ end }) => from < end)
    const piece = place === undefined ? null : entriesBehind(place, from)
    if (piece === null) {
      if (!this.#isUnreadable)
        this.#options.log.error('journal_unreadable', { journal: this.id, offset: from })
      this.#isUnreadable = true
    } else {
      this.#isUnreadable = false
      this.#waiting.fill(piece.entries, piece.to, current.end)
    }
  }

  get #end(): number {
    return this.#segment?.end ?? 0
  }

  #begin(base: number): SegmentWriter {
    const { folder, id, node, bootId, holder } = this.#options
    const number = this.#nextSegment
    const head = { id, node, bootId, holder, number, base }
    const segment = SegmentWriter.create(this.#disk, segmentPath(folder, id, number), {
      head,
      open: this.#open,
    })
    this.#nextSegment++
    this.#segment = segment
    return segment
  }

  /** Begins a new segment. If the disk has no room for it, the old one is used for a while longer. */
  #rotate(full: SegmentWriter): void {
    try {
      const next = this.#begin(full.end)
      this.#rotateAt = this.#segmentBytes + next.length
      this.#older.push({ ...full.place, end: full.end })
      full.seal()
    } catch (cause) {
      this.#rotateAt = full.length + this.#segmentBytes / 8
      this.#options.log.warn('journal_segment_failed', { journal: this.id, cause })
    }
  }

  /** Logs the first failure, and the first success after failures. */
  #attempt(step: () => void): boolean {
    try {
      step()
      if (this.#hasFailed) this.#options.log.info('journal_works_again', { journal: this.id })
      this.#hasFailed = false
      return true
    } catch (cause) {
      if (!this.#hasFailed) this.#options.log.error('journal_failed', { journal: this.id, cause })
      this.#hasFailed = true
      return false
    }
  }
}
