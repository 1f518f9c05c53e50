import {
  OOXML_DIRECTORY_BYTES_MAX,
  OOXML_ENTRIES_MAX,
  OOXML_RATIO_MAX,
} from '../../../schemas/files/file-limits.ts'
import { more, skip, type ByteFeed } from '../byte-feed.ts'
import { judgeOffice, PackedPart } from './ooxml.ts'
import { trailerClaim } from '../trailer.ts'
import { foreign, joinedTo, UNCLAIMED, type StructureEnd } from '../verdict.ts'
import { hashName, ZipEntries } from './zip-entries.ts'
import {
  IN_ZIP64,
  LINE_BYTES,
  lineBytes,
  LOCAL_BYTES,
  localBytes,
  readLine,
  readLocal,
  type ZipRecord,
} from './zip-records.ts'

const LOCAL = 0x04034b50
const CENTRAL = 0x02014b50
const END = 0x06054b50
const END_64 = 0x06064b50
const LOCATOR_64 = 0x07064b50
const END_BYTES = 22
const END_64_BYTES = 56
const LOCATOR_64_BYTES = 20
/** Uncompressed bytes from which a single entry may count as a bomb by its ratio; a white bitmap below this is harmless. Decision. */
const BOMB_BYTES_MIN = 1_048_576

const STORED = 0
const DEFLATED = 8
const IS_ENCRYPTED = 0x2041
const HAS_DESCRIPTOR = 0x0008

/**
 * Zip, in one pass over the whole file: every entry by its length to the directory, the directory line by line against
 * the entries, and the end records against both. No bytes may come before or between these; after them only as many as
 * readers search backward, and no other format. The `[Content_Types].xml`, which is kept as it streams by, determines
 * the kind of Office document; every other zip is refused. Bounds: contract C26.
 */
export function* zip(feed: ByteFeed): Generator<void, StructureEnd> {
  if (!(yield* more(feed, 4)) || feed.u32le(0) !== LOCAL) return UNCLAIMED
  const archive: Archive = { entries: new ZipEntries(), types: null, packedBytes: 0, plainBytes: 0 }
  let fault = (yield* locals(feed, archive)) ?? (yield* directory(feed, archive))
  const endsAt = feed.offset
  const claim = fault === null ? yield* trailerClaim(feed) : null
  if (feed.offset - endsAt > BEHIND_BYTES_MAX) fault ??= DAMAGED
  if (fault === DAMAGED) {
    return { kind: 'broken', found: archive.types === null ? 'a ZIP archive' : 'a damaged Office document' }
  }
  if (fault !== null) return foreign(fault)
  if (archive.types === null) return foreign('a ZIP archive')
  return claim === null ? judgeOffice(archive.types, archive.entries) : joinedTo('an Office document', claim)
}

/** Bytes that may follow the end record (a comment, or other bytes), over which readers search backward. */
const BEHIND_BYTES_MAX = 65_535

interface Archive {
  readonly entries: ZipEntries
  /** The compressed `[Content_Types].xml`. */
  types: PackedPart | null
  packedBytes: number
  plainBytes: number
}

/** A fault is the text in the refusal for the flaw that was found; null: no fault. */
type Fault = string | null

const DAMAGED = 'damaged'
const ENCRYPTED = 'an encrypted ZIP archive'
const OUTSIDE = 'a ZIP archive or Office document with an entry whose path lies outside of it'
const TOO_MANY = `a ZIP archive or Office document with more than ${OOXML_ENTRIES_MAX} entries`
const TOO_LONG = 'a ZIP archive or Office document with a directory larger than 1 MiB'
const BOMB = `a ZIP archive or Office document that unpacks to more than ${OOXML_RATIO_MAX} times its size`

/** Written without a generator for each entry: a slice may contain ten thousand short entries. */
function* locals(feed: ByteFeed, archive: Archive): Generator<void, Fault> {
  for (;;) {
    if (!feed.has(LOCAL_BYTES) && !(yield* more(feed, LOCAL_BYTES))) return DAMAGED
    const signature = feed.u32le(0)
    if (signature === CENTRAL) return null
    const bytes = localBytes(feed)
    if (signature !== LOCAL || (!feed.has(bytes) && !(yield* more(feed, bytes)))) return DAMAGED
    const offset = feed.offset
    const entry = readLocal(feed)
    const fault = entry === null ? DAMAGED : faultOf(entry, archive)
    if (entry === null || fault !== null) return fault
    feed.at += bytes
    const part = entry.nameHash === TYPES_NAME ? new PackedPart(entry.method === DEFLATED) : null
    archive.types ??= part
    let packedBytes: number | null = entry.packedBytes
    if ((entry.flags & HAS_DESCRIPTOR) !== 0) packedBytes = yield* passStreamed(feed, part)
    else {
      const left = part === null ? feed.jump(packedBytes) : packedBytes
      if (left > 0 && !(yield* pass(feed, left, part))) return DAMAGED
    }
    if (packedBytes === null) return DAMAGED
    archive.entries.add({ ...entry, offset, packedBytes })
  }
}

const TYPES_NAME = hashName(Buffer.from('[Content_Types].xml'))

function faultOf(entry: ZipRecord, archive: Archive): Fault {
  if ((entry.flags & IS_ENCRYPTED) !== 0) return ENCRYPTED
  if (entry.isOutside) return OUTSIDE
  if (archive.entries.count === OOXML_ENTRIES_MAX) return TOO_MANY
  const isTwice = entry.nameHash === TYPES_NAME && archive.types !== null
  return isTwice || (entry.method !== STORED && entry.method !== DEFLATED) ? DAMAGED : null
}

function* pass(feed: ByteFeed, length: number, part: PackedPart | null): Generator<void, boolean> {
  if (part === null) return yield* skip(feed, length)
  for (let left = length; left > 0;) {
    if (!(yield* more(feed, 1))) return false
    const step = Math.min(left, feed.limit - feed.at)
    part.add(feed.view.subarray(feed.at, feed.at + step))
    feed.at += step
    left -= step
  }
  return true
}

function* directory(feed: ByteFeed, archive: Archive): Generator<void, Fault> {
  const offset = feed.offset
  for (let count = 0; ; count++) {
    if (!feed.has(4) && !(yield* more(feed, 4))) return DAMAGED
    if (feed.u32le(0) !== CENTRAL) {
      if (count !== archive.entries.count) return DAMAGED
      if (archive.plainBytes > OOXML_RATIO_MAX * archive.packedBytes) return BOMB
      return yield* endRecords(feed, { count, offset, sizeBytes: feed.offset - offset })
    }
    if (!feed.has(LINE_BYTES) && !(yield* more(feed, LINE_BYTES))) return DAMAGED
    const bytes = lineBytes(feed)
    if (feed.offset + bytes - offset > OOXML_DIRECTORY_BYTES_MAX) return TOO_LONG
    if (!feed.has(bytes) && !(yield* more(feed, bytes))) return DAMAGED
    const line = readLine(feed)
    const fault = line === null ? DAMAGED : compare(line, archive)
    if (fault !== null) return fault
    feed.at += bytes
  }
}

/** Compares a line of the directory with the entry that it names. */
function compare(line: ZipRecord, archive: Archive): Fault {
  if ((line.flags & IS_ENCRYPTED) !== 0) return ENCRYPTED
  if (line.isOutside) return OUTSIDE
  if (!archive.entries.claim(line)) return DAMAGED
  if (line.plainBytes >= BOMB_BYTES_MIN && line.plainBytes > OOXML_RATIO_MAX * line.packedBytes) return BOMB
  archive.plainBytes += line.plainBytes
  archive.packedBytes += line.packedBytes
  return null
}

interface DirectorySeen {
  readonly count: number
  readonly offset: number
  readonly sizeBytes: number
}

function* endRecords(feed: ByteFeed, seen: DirectorySeen): Generator<void, Fault> {
  let isWide = false
  if (feed.u32le(0) === END_64) {
    isWide = true
    if (!(yield* wideEnd(feed, seen))) return DAMAGED
  }
  if (!(yield* more(feed, END_BYTES)) || feed.u32le(0) !== END) return DAMAGED
  const isSame =
    agrees(feed.u16le(10), seen.count, isWide && 0xffff) &&
    agrees(feed.u32le(12), seen.sizeBytes, isWide && IN_ZIP64) &&
    agrees(feed.u32le(16), seen.offset, isWide && IN_ZIP64)
  feed.at += END_BYTES
  return isSame ? null : DAMAGED
}

/** @param stand the value that marks a size as being in the zip64 record; false without such a record */
function agrees(written: number, seen: number, stand: number | false): boolean {
  return written === seen || written === stand
}

/** The zip64 end record and its locator. */
function* wideEnd(feed: ByteFeed, seen: DirectorySeen): Generator<void, boolean> {
  if (!(yield* more(feed, END_64_BYTES))) return false
  const length = 12 + feed.u64le(4)
  const isSame =
    feed.u64le(32) === seen.count && feed.u64le(40) === seen.sizeBytes && feed.u64le(48) === seen.offset
  if (!isSame || length < END_64_BYTES || !(yield* skip(feed, length))) return false
  if (!(yield* more(feed, LOCATOR_64_BYTES)) || feed.u32le(0) !== LOCATOR_64) return false
  feed.at += LOCATOR_64_BYTES
  return true
}

/** The forms of a descriptor: with or without a signature, with sizes of 32 or 64 bits. */
const FORMS = [
  { bytes: 16, sizeAt: 8, isSigned: true },
  { bytes: 24, sizeAt: 8, isSigned: true },
  { bytes: 12, sizeAt: 4, isSigned: false },
  { bytes: 20, sizeAt: 4, isSigned: false },
] as const
const SIGNATURE = 0x08074b50
const SHORTEST = 12
const LONGEST = 24

/**
 * Skips an entry whose header does not state its length, as programs write when the output is a stream. The entry ends
 * at a descriptor that states exactly the number of bytes so far and is followed by a header; the directory must state
 * the same number later. Null: the file ends before that.
 * @param part receives the compressed bytes
 * @returns the number of compressed bytes
 */
function* passStreamed(feed: ByteFeed, part: PackedPart | null): Generator<void, number | null> {
  const start = feed.offset
  // Bytes after `feed.at` from which the search continues. A possible descriptor stays in the view until
  // then.
  let from = SHORTEST
  for (;;) {
    if (!feed.has(from + 4) && !(yield* more(feed, from + 4))) return null
    for (let at = nextHeader(feed, feed.at + from); at >= 0; at = nextHeader(feed, at + 1)) {
      const length = descriptorBytes(feed, at, start)
      if (length === 0) continue
      part?.add(feed.view.subarray(feed.at, at - length))
      const packedBytes = feed.offset + (at - feed.at) - length - start
      feed.at = at
      return packedBytes
    }
    const searched = feed.limit - 3
    const kept = Math.max(feed.at, searched - LONGEST)
    part?.add(feed.view.subarray(feed.at, kept))
    feed.at = kept
    from = searched - kept
  }
}

/** The next place from `at` on where an entry or the directory may begin, or -1. */
function nextHeader(feed: ByteFeed, at: number): number {
  const { view } = feed
  const end = feed.limit - 3
  for (let i = at; i < end; i++) {
    if (view[i] !== 0x50 || view[i + 1] !== 0x4b) continue
    const kind = ((view[i + 2] ?? 0) << 8) | (view[i + 3] ?? 0)
    if (kind === 0x0304 || kind === 0x0102) return i
  }
  return -1
}

/** @returns the bytes of the descriptor that ends before `at`, or 0 */
function descriptorBytes(feed: ByteFeed, at: number, start: number): number {
  const since = feed.offset + (at - feed.at) - start
  const [short, long] = [feed.u32le(at - feed.at - 8), feed.u32le(at - feed.at - 16)]
  if (short + 12 !== since && short + 16 !== since && long + 20 !== since && long + 24 !== since) return 0
  for (const { bytes, sizeAt, isSigned } of FORMS) {
    if (since < bytes) continue
    const first = at - bytes - feed.at
    if (isSigned && feed.u32le(first) !== SIGNATURE) continue
    const size = bytes === 16 || bytes === 12 ? feed.u32le(first + sizeAt) : feed.u64le(first + sizeAt)
    if (size === since - bytes) return bytes
  }
  return 0
}
