import type { ByteFeed } from '../byte-feed.ts'
import { hashName, isSeparator } from './zip-entries.ts'

/** An entry's header, or its line in the directory, without the unused fields. */
export interface ZipRecord {
  /** Bytes of the record itself. */
  readonly bytes: number
  readonly flags: number
  readonly method: number
  readonly nameHash: number
  /** Hash of the letters after the last dot of the name; hash of an empty text for a name without a dot. */
  readonly extensionHash: number
  /** Whether the name has a folder `..`, and so leads out of the archive. */
  readonly isOutside: boolean
  readonly plainBytes: number
  readonly packedBytes: number
  /** The offset of the entry in the directory; 0 in an entry's own header. */
  readonly offset: number
}

export const LOCAL_BYTES = 30
export const LINE_BYTES = 46
/** Bytes of an entry's name: names of Office parts are far shorter. Decision. */
const NAME_BYTES_MAX = 4_096

/** Bytes of the current header with its name and extra fields. LOCAL_BYTES must be readable. */
export function localBytes(feed: ByteFeed): number {
  return LOCAL_BYTES + feed.u16le(26) + feed.u16le(28)
}

/** Bytes of the directory's current line. LINE_BYTES must be readable. */
export function lineBytes(feed: ByteFeed): number {
  return LINE_BYTES + feed.u16le(28) + feed.u16le(30) + feed.u16le(32)
}

/** Reads the current header, which must be readable completely. Null: the header contradicts itself. */
export function readLocal(feed: ByteFeed): ZipRecord | null {
  const sizes = { plain: feed.u32le(22), packed: feed.u32le(18), offset: 0 }
  return record(feed, { fixedBytes: LOCAL_BYTES, flagsAt: 6, lengthsAt: 26, bytes: localBytes(feed), sizes })
}

/** Reads the directory's current line, which must be readable completely. Null: the line contradicts itself. */
export function readLine(feed: ByteFeed): ZipRecord | null {
  const sizes = { plain: feed.u32le(24), packed: feed.u32le(20), offset: feed.u32le(42) }
  return record(feed, { fixedBytes: LINE_BYTES, flagsAt: 8, lengthsAt: 28, bytes: lineBytes(feed), sizes })
}

interface Sizes {
  readonly plain: number
  readonly packed: number
  readonly offset: number
}

interface Layout {
  readonly fixedBytes: number
  readonly flagsAt: number
  readonly lengthsAt: number
  readonly bytes: number
  readonly sizes: Sizes
}

function record(feed: ByteFeed, layout: Layout): ZipRecord | null {
  const nameBytes = feed.u16le(layout.lengthsAt)
  const extraBytes = feed.u16le(layout.lengthsAt + 2)
  const sizes = wideSizes(feed, { at: layout.fixedBytes + nameBytes, bytes: extraBytes }, layout.sizes)
  if (sizes === null || nameBytes > NAME_BYTES_MAX) return null
  const { view } = feed
  const nameAt = feed.at + layout.fixedBytes
  const nameEnd = nameAt + nameBytes
  return {
    bytes: layout.bytes,
    flags: feed.u16le(layout.flagsAt),
    method: feed.u16le(layout.flagsAt + 2),
    nameHash: hashName(view, nameAt, nameEnd),
    extensionHash: hashName(view, extensionAt(view, nameAt, nameEnd), nameEnd),
    isOutside: hasParent(view, nameAt, nameEnd),
    plainBytes: sizes.plain,
    packedBytes: sizes.packed,
    offset: sizes.offset,
  }
}

function extensionAt(view: Uint8Array, start: number, end: number): number {
  for (let at = end; at > start && !isSeparator(view[at - 1]); at--) if (view[at - 1] === POINT) return at
  return end
}

/** Whether a folder of the name, or the name itself, is `..`. */
function hasParent(view: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at + 1 < end; at++) {
    const isParent =
      view[at] === POINT &&
      view[at + 1] === POINT &&
      (at === start || isSeparator(view[at - 1])) &&
      (at + 2 === end || isSeparator(view[at + 2]))
    if (isParent) return true
  }
  return false
}

const POINT = 0x2e

/** A 32-bit field with this value is stored in a zip64 field instead. */
export const IN_ZIP64 = 0xffffffff
/** Id of the zip64 field among the extra fields. */
const ZIP64_FIELD = 1

/** The zip64 field contains, in this order, each value whose bits are all ones in the record. */
function wideSizes(feed: ByteFeed, extra: { at: number; bytes: number }, sizes: Sizes): Sizes | null {
  const { plain, packed, offset } = sizes
  if (plain !== IN_ZIP64 && packed !== IN_ZIP64 && offset !== IN_ZIP64) return sizes
  const wide = zip64Values(feed, extra)
  const [first, second, third] = [plain, packed, offset].map((value) =>
    value === IN_ZIP64 ? wide.shift() : value,
  )
  if (first === undefined || second === undefined || third === undefined) return null
  return { plain: first, packed: second, offset: third }
}

function zip64Values(feed: ByteFeed, extra: { at: number; bytes: number }): number[] {
  const end = extra.at + extra.bytes
  for (let at = extra.at; at + 4 <= end; at += 4 + feed.u16le(at + 2)) {
    if (feed.u16le(at) !== ZIP64_FIELD) continue
    const count = Math.min(3, Math.floor(feed.u16le(at + 2) / 8))
    if (at + 4 + 8 * count > end) return []
    return Array.from({ length: count }, (_, nth) => feed.u64le(at + 4 + 8 * nth))
  }
  return []
}
