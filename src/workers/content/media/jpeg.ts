import { more, skip, type ByteFeed } from '../byte-feed.ts'
import { wholeWithTrailer } from '../trailer.ts'
import { broken, joinedTo, UNCLAIMED, whole, type StructureEnd } from '../verdict.ts'

const WHAT = 'a JPEG image'
const APP0 = 0xffe0
/** A length whose two bytes are `/*`. */
const COMMENT_LENGTH = 0x2f2a
const SOI = 0xffd8
const EOI = 0xd9
const SOS = 0xda

/**
 * JPEG: segments by their lengths, a frame header before the first scan, and `EOI` after the last scan, which some
 * programs omit: readers show the part that is there. Cameras and editors write more after it: further JPEGs (previews,
 * gain maps), short films, proprietary tables. A first segment whose length opens a comment of JavaScript makes the
 * file a script, too.
 */
export function* jpeg(feed: ByteFeed): Generator<void, StructureEnd> {
  if (!(yield* more(feed, 3))) return UNCLAIMED
  if (feed.u16be(0) !== SOI || feed.u8(2) !== 0xff) return UNCLAIMED
  const isScript = (yield* more(feed, 6)) && feed.u16be(2) === APP0 && feed.u16be(4) === COMMENT_LENGTH
  feed.at += 2
  const end = yield* segments(feed)
  if (end === 'broken') return broken(WHAT)
  if (isScript) return joinedTo(WHAT, 'a script')
  return end === 'marked' ? yield* wholeWithTrailer(feed, 'image/jpeg', WHAT) : whole('image/jpeg', true)
}

/** `open`: the file ends within its last scan. */
type SegmentsEnd = 'marked' | 'open' | 'broken'

/** Written without a generator for each segment: a segment may have four bytes, and there may be millions. */
function* segments(feed: ByteFeed): Generator<void, SegmentsEnd> {
  let hasFrame = false
  let hasScan = false
  // Bytes after a scan that are not a segment mean that the end mark is missing.
  const fault = (): SegmentsEnd => (hasScan ? 'open' : 'broken')
  for (;;) {
    while (!passFill(feed)) if (!(yield* more(feed, 2))) return fault()
    const marker = feed.u8(1)
    if (marker === EOI) {
      feed.at += 2
      return hasScan ? 'marked' : 'broken'
    }
    if (feed.u8(0) !== 0xff || !hasLength(marker)) return fault()
    if (!feed.has(SEGMENT_HEAD_BYTES) && !(yield* more(feed, 4))) return fault()
    const length = feed.u16be(2)
    if (length < 2) return fault()
    if (isFrame(marker)) {
      if (!(yield* more(feed, SEGMENT_HEAD_BYTES)) || !isSensibleFrame(feed)) return fault()
      hasFrame = true
    }
    const left = feed.jump(2 + length)
    if (left > 0 && !(yield* skip(feed, left))) return fault()
    if (marker !== SOS) continue
    if (!hasFrame) return fault()
    hasScan = true
    while (!passScanData(feed)) if (!(yield* more(feed, 2))) return 'open'
  }
}

/** Marker, length, and the precision, height, width and number of components of a frame header. */
const SEGMENT_HEAD_BYTES = 10

/** Skips the 0xff bytes that may come before a marker. False: the marker has not arrived yet. */
function passFill(feed: ByteFeed): boolean {
  if (!feed.has(2)) return false
  const { view, limit } = feed
  let at = feed.at
  while (at + 1 < limit && view[at] === 0xff && view[at + 1] === 0xff) at++
  feed.at = at
  return at + 1 < limit
}

/** Markers of segments with a length, without those that may not occur between segments. */
function hasLength(marker: number): boolean {
  return marker >= 0xc0 && marker !== 0xff && (marker < 0xd0 || marker > 0xd9)
}

/** SOF0 to SOF15, without the three markers in between that are tables. */
function isFrame(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc
}

/** A height of 0 is legal: the height may follow later. */
function isSensibleFrame(feed: ByteFeed): boolean {
  return feed.u16be(2) >= 11 && feed.u16be(7) !== 0 && feed.u8(9) !== 0
}

/** Bytes that are read one by one before a search, since the call of a search costs more. */
const NEAR_BYTES = 32

/** @returns the first place from `from` on with the byte 0xff, or `last` */
function nextMarker(view: Uint8Array, from: number, last: number): number {
  const near = Math.min(from + NEAR_BYTES, last)
  let at = from
  while (at < near && view[at] !== 0xff) at++
  if (at < near || at === last) return at
  const found = Buffer.from(view.buffer, view.byteOffset, last).indexOf(0xff, at)
  return found < 0 ? last : found
}

/**
 * Skips entropy-coded data up to the next marker that is neither a stuffed zero nor a restart. False: the
 * data continues in the next chunk.
 */
function passScanData(feed: ByteFeed): boolean {
  if (!feed.has(2)) return false
  const { view } = feed
  const last = feed.limit - 1
  let at = feed.at
  while (at < last) {
    at = nextMarker(view, at, last)
    if (at === last) break
    const next = view[at + 1] ?? 0
    if (next === 0 || (next >= 0xd0 && next <= 0xd7)) at += 2
    else if (next === 0xff) at++
    else break
  }
  feed.at = at
  return at < last
}
