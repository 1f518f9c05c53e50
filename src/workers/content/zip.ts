import { OOXML_DIRECTORY_BYTES_MAX, OOXML_ENTRIES_MAX, OOXML_RATIO_MAX } from '../../schemas/limits.ts'
import { more, skip, type ByteFeed } from './byte-feed.ts'
import { judgeOffice, PackedPart } from './ooxml.ts'
import { foreign, UNCLAIMED, type StructureEnd } from './verdict.ts'
import { hashName, ZipEntries } from './zip-entries.ts'
import { passStreamed, type StreamedSizes } from './zip-streamed.ts'

const LOCAL = 0x04034b50
const CENTRAL = 0x02014b50
const END = 0x06054b50
const END_64 = 0x06064b50
const LOCATOR_64 = 0x07064b50
/** A 32-bit field with this value stands in a zip64 field instead. */
const IN_ZIP64 = 0xffffffff
const LOCAL_BYTES = 30
const CENTRAL_BYTES = 46
const END_BYTES = 22
const END_64_BYTES = 56
const LOCATOR_64_BYTES = 20
/** Bytes of an entry's name: those of Office parts are far shorter. Decision. */
const NAME_BYTES_MAX = 4_096
/** Unpacked bytes from which an entry may be a bomb by its own ratio: a white bitmap is none. Decision. */
const BOMB_BYTES_MIN = 1_048_576

const STORED = 0
const DEFLATED = 8
const IS_ENCRYPTED = 0x2041
const HAS_DESCRIPTOR = 0x0008

/**
 * Zip, in one pass over the whole file: every entry by its length to the directory, the directory line by
 * line against the entries, and the end records against both. Nothing may stand before, between or behind. An
 * Office document is what its `[Content_Types].xml` says, which is kept as it streams by; every other zip is
 * refused. Bounds: contract C26.
 */
export function* zip(feed: ByteFeed): Generator<void, StructureEnd> {
  if (!(yield* more(feed, 4)) || feed.u32le(0) !== LOCAL) return UNCLAIMED
  const archive: Archive = { entries: new ZipEntries(), types: null, packedBytes: 0, plainBytes: 0 }
  const fault = (yield* locals(feed, archive)) ?? (yield* directory(feed, archive))
  if (fault === DAMAGED) {
    return { kind: 'broken', found: archive.types === null ? 'a ZIP archive' : 'a damaged Office document' }
  }
  if (fault !== null) return foreign(fault)
  return archive.types === null ? foreign('a ZIP archive') : judgeOffice(archive.types, archive.entries)
}

interface Archive {
  readonly entries: ZipEntries
  /** `[Content_Types].xml` as it is packed. */
  types: PackedPart | null
  packedBytes: number
  plainBytes: number
}

/** Faults are what the refusal says was found; null is none. */
type Fault = string | null

const DAMAGED = 'damaged'
const ENCRYPTED = 'an encrypted ZIP archive'
const TOO_MANY = `a ZIP archive or Office document with more than ${OOXML_ENTRIES_MAX} entries`
const TOO_LONG = 'a ZIP archive or Office document with a directory above 1 MiB'
const BOMB = `a ZIP archive or Office document that unpacks to more than ${OOXML_RATIO_MAX} times its size`

function* locals(feed: ByteFeed, archive: Archive): Generator<void, Fault> {
  for (;;) {
    if (!(yield* more(feed, 4))) return DAMAGED
    const signature = feed.u32le(0)
    if (signature === CENTRAL) return null
    if (signature !== LOCAL || !(yield* more(feed, LOCAL_BYTES))) return DAMAGED
    const fault = yield* local(feed, archive)
    if (fault !== null) return fault
  }
}

const TYPES_NAME = hashName(Buffer.from('[Content_Types].xml'))

function* local(feed: ByteFeed, archive: Archive): Generator<void, Fault> {
  const offset = feed.offset
  const [flags, method, packed, plain] = [feed.u16le(6), feed.u16le(8), feed.u32le(18), feed.u32le(22)]
  const [nameBytes, extraBytes] = [feed.u16le(26), feed.u16le(28)]
  if ((flags & IS_ENCRYPTED) !== 0) return ENCRYPTED
  if (archive.entries.count === OOXML_ENTRIES_MAX) return TOO_MANY
  if ((method !== STORED && method !== DEFLATED) || nameBytes > NAME_BYTES_MAX) return DAMAGED
  feed.at += LOCAL_BYTES
  const nameHash = yield* readName(feed, nameBytes)
  const sizes = yield* readSizes(feed, extraBytes, [plain, packed])
  if (nameHash === null || sizes === null) return DAMAGED
  const part = nameHash === TYPES_NAME ? new PackedPart(method === DEFLATED) : null
  if (part !== null && archive.types !== null) return DAMAGED
  archive.types ??= part
  const hasDescriptor = (flags & HAS_DESCRIPTOR) !== 0
  const passed = hasDescriptor ? yield* passStreamed(feed, part) : yield* passSized(feed, sizes[1] ?? 0, part)
  if (passed === null) return DAMAGED
  archive.entries.add({ offset, nameHash, packedBytes: passed.packedBytes })
  return null
}

function* readName(feed: ByteFeed, length: number): Generator<void, number | null> {
  if (!(yield* more(feed, length))) return null
  const hash = hashName(feed.view.subarray(feed.at, feed.at + length))
  feed.at += length
  return hash
}

/**
 * Reads the extra fields as far as zip64 needs it: there stands, in this order, each value that is all ones
 * here.
 * @param values plain size, packed size, and in the directory the offset
 */
function* readSizes(
  feed: ByteFeed,
  extraBytes: number,
  values: readonly number[],
): Generator<void, readonly number[] | null> {
  if (!values.includes(IN_ZIP64)) return (yield* skip(feed, extraBytes)) ? values : null
  if (!(yield* more(feed, extraBytes))) return null
  const wide = wideValues(feed, extraBytes)
  feed.at += extraBytes
  let used = 0
  const sizes = values.map((value) => (value === IN_ZIP64 ? (wide[used++] ?? NaN) : value))
  return sizes.some(Number.isNaN) ? null : sizes
}

const ZIP64_FIELD = 1

function wideValues(feed: ByteFeed, extraBytes: number): readonly number[] {
  for (let at = 0; at + 4 <= extraBytes; at += 4 + feed.u16le(at + 2)) {
    if (feed.u16le(at) !== ZIP64_FIELD) continue
    const count = Math.min(3, Math.floor(feed.u16le(at + 2) / 8))
    if (at + 4 + 8 * count > extraBytes) return []
    return Array.from({ length: count }, (_, nth) => feed.u64le(at + 4 + 8 * nth))
  }
  return []
}

function* passSized(
  feed: ByteFeed,
  length: number,
  part: PackedPart | null,
): Generator<void, StreamedSizes | null> {
  if (part === null) return (yield* skip(feed, length)) ? { packedBytes: length } : null
  for (let left = length; left > 0;) {
    if (!(yield* more(feed, 1))) return null
    const step = Math.min(left, feed.limit - feed.at)
    part.add(feed.view.subarray(feed.at, feed.at + step))
    feed.at += step
    left -= step
  }
  return { packedBytes: length }
}

function* directory(feed: ByteFeed, archive: Archive): Generator<void, Fault> {
  const offset = feed.offset
  let count = 0
  for (;;) {
    if (!(yield* more(feed, 4))) return DAMAGED
    if (feed.u32le(0) !== CENTRAL) break
    if (++count > OOXML_ENTRIES_MAX) return TOO_MANY
    const fault = (yield* more(feed, CENTRAL_BYTES)) ? yield* line(feed, archive) : DAMAGED
    if (fault !== null) return fault
    if (feed.offset - offset > OOXML_DIRECTORY_BYTES_MAX) return TOO_LONG
  }
  if (count !== archive.entries.count) return DAMAGED
  if (archive.plainBytes > OOXML_RATIO_MAX * archive.packedBytes) return BOMB
  return yield* endRecords(feed, { count, offset, sizeBytes: feed.offset - offset })
}

/** One line of the directory. */
function* line(feed: ByteFeed, archive: Archive): Generator<void, Fault> {
  const [flags, packed, plain] = [feed.u16le(8), feed.u32le(20), feed.u32le(24)]
  const [nameBytes, extraBytes, commentBytes] = [feed.u16le(28), feed.u16le(30), feed.u16le(32)]
  const offset = feed.u32le(42)
  if ((flags & IS_ENCRYPTED) !== 0) return ENCRYPTED
  if (nameBytes > NAME_BYTES_MAX) return DAMAGED
  feed.at += CENTRAL_BYTES
  const nameHash = yield* readName(feed, nameBytes)
  const sizes = yield* readSizes(feed, extraBytes, [plain, packed, offset])
  if (nameHash === null || sizes === null || !(yield* skip(feed, commentBytes))) return DAMAGED
  const [plainBytes = 0, packedBytes = 0, entryAt = 0] = sizes
  if (!archive.entries.claim({ offset: entryAt, nameHash, packedBytes })) return DAMAGED
  if (plainBytes >= BOMB_BYTES_MIN && plainBytes > OOXML_RATIO_MAX * packedBytes) return BOMB
  archive.plainBytes += plainBytes
  archive.packedBytes += packedBytes
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
  const commentBytes = feed.u16le(20)
  const isSame =
    agrees(feed.u16le(10), seen.count, isWide && 0xffff) &&
    agrees(feed.u32le(12), seen.sizeBytes, isWide && IN_ZIP64) &&
    agrees(feed.u32le(16), seen.offset, isWide && IN_ZIP64)
  feed.at += END_BYTES
  const isLast = isSame && (yield* skip(feed, commentBytes)) && !(yield* more(feed, 1))
  return isLast ? null : DAMAGED
}

/** @param stand the value that sends the reader to the zip64 record, or false where there is none */
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
