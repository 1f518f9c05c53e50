import { more, skip, type ByteFeed } from '../byte-feed.ts'

export interface Tag {
  readonly bytes: number
  /** Bytes before the tag that belong to it: the head of an APE tag may be at its end. */
  readonly bytesBefore: number
}

/** The header of an APE tag, the longest of the four. */
const HEAD_BYTES = 32
/** Bytes of an ID3v2 header. */
const ID3_HEAD_BYTES = 10
/** Bytes of an ID3v1 tag. */
const ID3V1_BYTES = 128
const ID3V1_MORE_BYTES = 227
const IS_APE_HEADER = 0x20000000
const APE_BEGIN = Buffer.from('APETAGEX')
const LYRICS_BEGIN = Buffer.from('LYRICSBEGIN')
/** The end marks of the text in the two versions of Lyrics3; the six digits before the second one give the length. */
const LYRICS_ENDS = ['LYRICSEND', 'LYRICS200'].map((mark) => Buffer.from(mark))
const LYRICS = Buffer.from('LYRICS')
/** Bytes of either end. */
const LYRICS_END_BYTES = 9
/** Bytes of a Lyrics3 tag: its six digits, the beginning and the end. */
const LYRICS_BYTES_MAX = 1_000_015

/** Skips the tag whose name begins here; a tag that is cut short is skipped to the end of the file. Null: no tag begins here. */
export function* passTag(feed: ByteFeed): Generator<void, Tag | null> {
  if (!feed.has(HEAD_BYTES)) yield* more(feed, HEAD_BYTES)
  if (stands(feed.view, feed.at, { mark: LYRICS_BEGIN, limit: feed.limit })) return yield* passLyrics(feed)
  const { bytes, bytesBefore } = measure(feed)
  if (bytes === 0) return null
  const before = feed.offset
  const left = feed.jump(bytes)
  if (left > 0) yield* skip(feed, left)
  return { bytes: feed.offset - before, bytesBefore }
}

/** `A` of APE, `I` of ID3, `L` of Lyrics3, `T` of ID3v1. */
export function isTagLetter(byte: number): boolean {
  return byte === 0x41 || byte === 0x49 || byte === 0x4c || byte === 0x54
}

/** Whether the name of a tag begins here. Four bytes must be readable. */
export function isTagStart(feed: ByteFeed): boolean {
  const name = feed.u32be(0)
  return name === APET || name === LYRI || name >>> 8 === ID3 || name >>> 8 === TAG
}

/** Whether a tag seems to begin here, judged by its whole head; also true when the head is not fully readable. */
export function mayBeTag(view: Uint8Array, at: number, limit: number): boolean {
  switch (view[at]) {
    case 0x41:
      return limit - at < HEAD_BYTES || stands(view, at, { mark: APE_BEGIN, limit })
    case 0x49:
      return (
        limit - at < ID3_HEAD_BYTES ||
        (view[at + 1] === 0x44 && view[at + 2] === 0x33 && id3Bytes(view, at) > 0)
      )
    case 0x4c:
      return limit - at < LYRICS_BEGIN.length || stands(view, at, { mark: LYRICS_BEGIN, limit })
    default:
      return view[at + 1] === 0x41 && view[at + 2] === 0x47
  }
}

const APET = 0x41504554
const LYRI = 0x4c595249
const ID3 = 0x494433
const TAG = 0x544147
const PLUS = 0x2b

function measure(feed: ByteFeed): Tag {
  const name = feed.u32be(0)
  if (name === APET) return feed.limit - feed.at >= HEAD_BYTES ? measureApe(feed) : NONE
  if (name >>> 8 === TAG)
    return { bytes: feed.u8(3) === PLUS ? ID3V1_MORE_BYTES : ID3V1_BYTES, bytesBefore: 0 }
  return {
    bytes: name >>> 8 === ID3 && feed.limit - feed.at >= ID3_HEAD_BYTES ? id3Bytes(feed.view, feed.at) : 0,
    bytesBefore: 0,
  }
}

function measureApe(feed: ByteFeed): Tag {
  if (!stands(feed.view, feed.at, { mark: APE_BEGIN, limit: feed.limit })) return NONE
  const size = feed.u32le(12)
  const isHeader = (feed.u32le(20) & IS_APE_HEADER) !== 0
  return isHeader
    ? { bytes: HEAD_BYTES + size, bytesBefore: 0 }
    : { bytes: HEAD_BYTES, bytesBefore: size - HEAD_BYTES }
}

const NONE: Tag = { bytes: 0, bytesBefore: 0 }

/** The length from an ID3 head: after version, revision and flags, four bytes of seven bits each. */
function id3Bytes(view: Uint8Array, at: number): number {
  const byte = (nth: number): number => view[at + nth] ?? 0
  const major = byte(3)
  const isSound =
    major >= 2 && major <= 4 && byte(4) < 0xff && ((byte(6) | byte(7) | byte(8) | byte(9)) & 0x80) === 0
  if (!isSound) return 0
  const size = (byte(6) << 21) | (byte(7) << 14) | (byte(8) << 7) | byte(9)
  const hasFooter = major === 4 && (byte(5) & 0x10) !== 0
  return 10 + size + (hasFooter ? 10 : 0)
}

function* passLyrics(feed: ByteFeed): Generator<void, Tag | null> {
  const before = feed.offset
  while (feed.offset - before < LYRICS_BYTES_MAX && (yield* more(feed, LYRICS_END_BYTES))) {
    const end = lyricsEnd(feed)
    feed.at = end >= 0 ? end + LYRICS_END_BYTES : feed.limit - LYRICS_END_BYTES + 1
    if (end >= 0) break
  }
  return { bytes: feed.offset - before, bytesBefore: 0 }
}

/**
 * The place of the first end mark of either version in the view, or -1. One search finds both: a separate search for
 * each would read past the other, again for each tag.
 */
function lyricsEnd({ view, at: start, limit }: ByteFeed): number {
  for (let at = start; at <= limit - LYRICS_END_BYTES; at++) {
    if (
      stands(view, at, { mark: LYRICS, limit }) &&
      LYRICS_ENDS.some((mark) => stands(view, at, { mark, limit }))
    )
      return at
  }
  return -1
}

/** Whether a mark is at a place and ends before `limit`. */
function stands(view: Uint8Array, at: number, { mark, limit }: { mark: Uint8Array; limit: number }): boolean {
  if (limit - at < mark.length) return false
  let nth = 0
  while (nth < mark.length && view[at + nth] === mark[nth]) nth++
  return nth === mark.length
}
