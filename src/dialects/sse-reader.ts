import type { Failure } from '../schemas/failures.ts'
import {
  BARE_EVENTS_MAX,
  BARE_EVENTS_PER_S,
  STRAY_LINES_MAX,
  STRAY_LINES_PER_EVENT,
  STRAY_LINES_PER_S,
  STREAM_EVENT_BYTES_MAX,
} from '../schemas/inference/stream-limits.ts'

/** An event of a provider's stream. */
export interface SseEvent {
  /** The name in its `event:` line; the empty string without one. */
  readonly name: string
  /** A slice of the read bytes if the data is in one read and one line, otherwise a copy. */
  readonly data: Buffer
  /** The data came in one `data:` line, so it contains no line end. */
  readonly isOneLine: boolean
  /** False: the data is a slice of the read bytes, which the caller may reuse. */
  readonly isOwn: boolean
}

export interface SseRead {
  /** The events whose last byte was in these bytes, in order. */
  readonly events: readonly SseEvent[]
  /**
   * The reader stops. upstream_too_large: an event is above its maximum. upstream_invalid: too many lines
   * belong to no event.
   */
  readonly failure: Failure | null
}

const TOO_MANY_LINES: Failure = {
  name: 'upstream_invalid',
  detail: "The provider's stream has too many lines outside of events.",
}
const TOO_MANY_EVENTS: Failure = {
  name: 'upstream_invalid',
  detail: "The provider's stream has too many events without an output.",
}
const S_MS = 1_000
const LF = 0x0a
const CR = 0x0d
const COLON = 0x3a
const SPACE = 0x20
const DATA = Buffer.from('data')
const EVENT = Buffer.from('event')
const BOM = [0xef, 0xbb, 0xbf] as const
/** The most bytes of an event's name; a longer name is ignored. Real names have fewer than half as many. */
const NAME_BYTES_MAX = 128
/** Not looked for yet. */
const UNKNOWN = -2

/** A token bucket with a burst size and a refill rate per second. */
class Bucket {
  readonly #most: number
  readonly #perS: number
  readonly #now: () => number
  #left: number
  /** When the bucket was last refilled by time. */
  #at: number

  constructor(most: number, perS: number, now: () => number) {
    this.#most = most
    this.#perS = perS
    this.#now = now
    this.#left = most
    this.#at = now()
  }

  give(count: number): void {
    this.#left = Math.min(this.#most, this.#left + count)
  }

  /** The clock is read only if too few tokens are left. @returns false: the bucket is empty */
  take(count: number): boolean {
    if (count > this.#left) {
      const now = this.#now()
      this.give(((now - this.#at) / S_MS) * this.#perS)
      this.#at = now
    }
    this.#left -= count
    return this.#left >= 0
  }
}

/**
 * Reads server-sent events by the WHATWG standard for HTML: lines end with LF, CR or CRLF; a byte order mark
 * at the start, comments, `id`, `retry` and unknown fields are skipped; the end of the stream does not
 * complete an event. Bytes of skipped lines are not kept, however long the lines are.
 */
export class SseReader {
  readonly #eventBytesMax: number
  /** The beginning of an incomplete line. */
  readonly #line = new Gathered()
  /** Data of the event so far, when it is not one slice. */
  readonly #joined = new Gathered()
  /** Data of the event so far, when it is one slice. */
  #slice: Buffer | null = null
  /** `#slice` is part of the bytes of the current read. */
  #isSliceBorrowed = false
  #dataLines = 0
  #name = ''
  /** The event so far has a line with its name. */
  #isNamed = false
  /** Lines of this read that belong to no event. */
  #strayLines = 0
  readonly #stray: Bucket
  readonly #bare: Bucket
  /** Number of bytes of the byte order mark that have come; null: the check is complete. */
  #bom: number | null = 0
  /** The rest of the current line is skipped. */
  #isSkipping = false
  /** The last line ended with a CR; a LF that follows belongs to it. */
  #isAfterCr = false
  #events: SseEvent[] = []
  #failure: Failure | null = null

  /** @param eventBytesMax bytes of one event's data @param now monotonic milliseconds */
  constructor(eventBytesMax: number = STREAM_EVENT_BYTES_MAX, now = (): number => performance.now()) {
    this.#eventBytesMax = eventBytesMax
    this.#stray = new Bucket(STRAY_LINES_MAX, STRAY_LINES_PER_S, now)
    this.#bare = new Bucket(BARE_EVENTS_MAX, BARE_EVENTS_PER_S, now)
  }

  /** Bytes of memory that an incomplete event takes. */
  get heldBytes(): number {
    return this.#line.capacity + this.#joined.capacity + (this.#slice?.length ?? 0)
  }

  /** @param bytes the next of the body; events have slices of them */
  read(bytes: Uint8Array): SseRead {
    if (this.#failure !== null) return { events: [], failure: this.#failure }
    const buffer = Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
    this.#lines(buffer, this.#begin(buffer))
    if (this.#isSliceBorrowed && this.#slice !== null) {
      // Copied, since the caller owns the larger memory of the read.
      this.#slice = Buffer.from(this.#slice)
      this.#isSliceBorrowed = false
    }
    if (this.#strayLines > 0 || this.#events.length > 0) this.#countStray()
    const events = this.#events
    // A stream that waits for its next event must not hold the memory of the last read.
    this.#events = []
    return { events, failure: this.#failure }
  }

  /** Called for an event in which the model wrote nothing. @returns upstream_invalid: there were too many of them */
  bareEvent(): Failure | null {
    return this.#bare.take(1) ? null : TOO_MANY_EVENTS
  }

  #countStray(): void {
    const more = this.#strayLines - this.#events.length * STRAY_LINES_PER_EVENT
    this.#strayLines = 0
    if (more <= 0) this.#stray.give(-more)
    else if (!this.#stray.take(more)) this.#fail(TOO_MANY_LINES)
  }

  /** @returns the place of the first byte that belongs to a line */
  #begin(bytes: Buffer): number {
    let at = 0
    while (this.#bom !== null && at < bytes.length) {
      if (bytes[at] !== BOM[this.#bom]) {
        // Bytes that match only the beginning of the mark are the name of an unknown field.
        if (this.#bom > 0) this.#isSkipping = true
        this.#bom = null
        break
      }
      at++
      this.#bom = this.#bom + 1 === BOM.length ? null : this.#bom + 1
    }
    if (this.#isAfterCr && at < bytes.length) {
      if (bytes[at] === LF) at++
      this.#isAfterCr = false
    }
    return at
  }

  #lines(bytes: Buffer, start: number): void {
    let at = start
    let lf = UNKNOWN
    let cr = UNKNOWN
    while (at < bytes.length && this.#failure === null) {
      // Search again only after the last match: this keeps the search linear.
      if (lf !== -1 && lf < at) lf = bytes.indexOf(LF, at)
      if (cr !== -1 && cr < at) cr = bytes.indexOf(CR, at)
      const end = cr !== -1 && (lf === -1 || cr < lf) ? cr : lf
      if (end === -1) return this.#keep(bytes, at)
      this.#ended(bytes, at, end)
      at = end + 1
      if (end !== cr) continue
      if (at === bytes.length) this.#isAfterCr = true
      else if (bytes[at] === LF) at++
    }
  }

  /** Keeps `[start, …)`, since the line continues in the next read. */
  #keep(bytes: Buffer, start: number): void {
    if (this.#isSkipping) return
    this.#line.add(bytes, start, bytes.length)
    const line = this.#line.peek()
    if (mayBegin(line, DATA)) {
      if (line.length - DATA.length - 2 + this.#dataBytes() > this.#eventBytesMax) this.#failLarge()
      return
    }
    const isNamed = mayBegin(line, EVENT)
    if (isNamed && line.length - EVENT.length - 2 <= NAME_BYTES_MAX) return
    if (isNamed) this.#name = ''
    this.#line.clear()
    this.#isSkipping = true
  }

  /** Handles the line that ends at `end` and whose last part begins at `start`. */
  #ended(bytes: Buffer, start: number, end: number): void {
    if (this.#isSkipping) {
      this.#isSkipping = false
      this.#strayLines++
    } else if (this.#line.length === 0) this.#take(bytes, start, end, true)
    else {
      this.#line.add(bytes, start, end)
      const line = this.#line.take()
      this.#take(line, 0, line.length, false)
    }
  }

  /** @param isBorrowed the bytes are those of the read */
  #take(bytes: Buffer, start: number, end: number, isBorrowed: boolean): void {
    if (start === end) return this.#dispatch()
    const first = bytes[start]
    if (first === DATA[0] && isField(bytes, start, end, DATA))
      this.#data(bytes, valueStart(bytes, start + DATA.length, end), end, isBorrowed)
    else if (first === EVENT[0] && isField(bytes, start, end, EVENT))
      this.#named(bytes, valueStart(bytes, start + EVENT.length, end), end)
    else this.#strayLines++
  }

  #data(bytes: Buffer, start: number, end: number, isBorrowed: boolean): void {
    const isFirst = this.#dataLines++ === 0
    if (this.#dataBytes() + (isFirst ? 0 : 1) + (end - start) > this.#eventBytesMax) return this.#failLarge()
    if (isFirst) {
      this.#slice = bytes.subarray(start, end)
      this.#isSliceBorrowed = isBorrowed
      return
    }
    if (this.#slice !== null) this.#joined.add(this.#slice, 0, this.#slice.length)
    this.#slice = null
    this.#joined.addByte(LF)
    this.#joined.add(bytes, start, end)
  }

  #dataBytes(): number {
    return this.#slice?.length ?? this.#joined.length
  }

  #named(bytes: Buffer, start: number, end: number): void {
    if (this.#isNamed) this.#strayLines++
    this.#isNamed = true
    this.#name = end - start > NAME_BYTES_MAX ? '' : bytes.toString('utf8', start, end)
  }

  #dispatch(): void {
    if (this.#dataLines === 0) this.#strayLines++
    else {
      const data = this.#slice ?? this.#joined.take()
      const isOneLine = this.#dataLines === 1
      this.#events.push({ name: this.#name, data, isOneLine, isOwn: !this.#isSliceBorrowed })
    }
    this.#forget()
  }

  #failLarge(): void {
    this.#fail({ name: 'upstream_too_large', fields: { limit: this.#eventBytesMax } })
  }

  #fail(failure: Failure): void {
    this.#failure ??= failure
    this.#line.clear()
    this.#forget()
  }

  #forget(): void {
    this.#slice = null
    this.#isSliceBorrowed = false
    this.#joined.clear()
    this.#dataLines = 0
    this.#name = ''
    this.#isNamed = false
  }
}

/** Whether an incomplete line with this beginning may be a line of the field. */
function mayBegin(line: Buffer, field: Buffer): boolean {
  const shared = Math.min(line.length, field.length)
  if (line.compare(field, 0, shared, 0, shared) !== 0) return false
  return line.length <= field.length || line[field.length] === COLON
}

/** Whether the line is of this field, with or without a value. */
function isField(bytes: Buffer, start: number, end: number, field: Buffer): boolean {
  const { length } = field
  if (end - start < length) return false
  for (let nth = 1; nth < length; nth++) if (bytes[start + nth] !== field[nth]) return false
  return end - start === length || bytes[start + length] === COLON
}

/** @param at the byte after the name of the field */
function valueStart(bytes: Buffer, at: number, end: number): number {
  if (at === end) return at
  return at + 1 < end && bytes[at + 1] === SPACE ? at + 2 : at + 1
}

const FIRST_BYTES = 1_024

/** Bytes that come in pieces. The memory doubles when full, so pieces of one byte cost linear time and need no object each. */
export class Gathered {
  #bytes: Buffer | null = null
  #length = 0

  get length(): number {
    return this.#length
  }

  /** Bytes of memory that the pieces take. */
  get capacity(): number {
    return this.#bytes?.length ?? 0
  }

  /** Bytes `[from, to)` of the piece are copied. */
  add(piece: Buffer, from: number, to: number): void {
    const bytes = this.#withRoom(to - from)
    piece.copy(bytes, this.#length, from, to)
    this.#length += to - from
  }

  addByte(byte: number): void {
    this.#withRoom(1)[this.#length++] = byte
  }

  /** Returns all bytes so far without a copy, and forgets them. */
  take(): Buffer {
    const taken = (this.#bytes ?? Buffer.alloc(0)).subarray(0, this.#length)
    this.clear()
    return taken
  }

  /** The bytes so far; valid until the next call. */
  peek(): Buffer {
    return (this.#bytes ?? Buffer.alloc(0)).subarray(0, this.#length)
  }

  clear(): void {
    this.#bytes = null
    this.#length = 0
  }

  #withRoom(more: number): Buffer {
    const wanted = this.#length + more
    const before = this.#bytes
    if (before !== null && wanted <= before.length) return before
    // A slice of Node's buffer pool would keep 8 KiB in memory until the rest comes.
    const made = Buffer.allocUnsafeSlow(Math.max(FIRST_BYTES, wanted, (before?.length ?? 0) * 2))
    before?.copy(made, 0, 0, this.#length)
    this.#bytes = made
    return made
  }
}
