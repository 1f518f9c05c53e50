import { more, skip, type ByteFeed } from './byte-feed.ts'

/** A tag that has been passed over. */
export interface Tag {
  readonly bytes: number
  /** Bytes before it that belong to it: an APE tag may have its head at its end. */
  readonly bytesBefore: number
}

/** An APE tag's header, the longest of the four. */
const HEAD_BYTES = 32
const ID3V1_BYTES = 128
const ID3V1_MORE_BYTES = 227
const IS_APE_HEADER = 0x20000000
const LYRICS_BEGIN = 'LYRICSBEGIN'
/** How the text of either version of Lyrics3 ends; six digits in front of the second tell its length. */
const LYRICS_ENDS = ['LYRICSEND', 'LYRICS200'].map((mark) => Buffer.from(mark, 'latin1'))
const LYRICS_END_BYTES = 9
const LYRICS_BYTES_MAX = 1_000_015

/** Passes over the tag whose name begins here, and to the end of the file where it is cut short. Null: none does. */
export function* passTag(feed: ByteFeed): Generator<void, Tag | null> {
  yield* more(feed, HEAD_BYTES)
  const head = feed.latin1(0, Math.min(HEAD_BYTES, feed.limit - feed.at))
  if (head.startsWith(LYRICS_BEGIN)) return yield* passLyrics(feed)
  const { bytes, bytesBefore } = measure(feed, head)
  if (bytes === 0) return null
  const before = feed.offset
  yield* skip(feed, bytes)
  return { bytes: feed.offset - before, bytesBefore }
}

/** `A` of APE, `I` of ID3, `L` of Lyrics3, `T` of ID3v1. */
export function isTagLetter(byte: number): boolean {
  return byte === 0x41 || byte === 0x49 || byte === 0x4c || byte === 0x54
}

/** Whether the name of a tag begins here, of which four bytes must be readable. */
export function isTagStart(feed: ByteFeed): boolean {
  const name = feed.u32be(0)
  return name === APET || name === LYRI || name >>> 8 === ID3 || name >>> 8 === TAG
}

const APET = 0x41504554
const LYRI = 0x4c595249
const ID3 = 0x494433
const TAG = 0x544147

function measure(feed: ByteFeed, head: string): Tag {
  if (head.startsWith('APETAGEX') && head.length === HEAD_BYTES) {
    const size = feed.u32le(12)
    const isHeader = (feed.u32le(20) & IS_APE_HEADER) !== 0
    return isHeader ? { bytes: HEAD_BYTES + size, bytesBefore: 0 } : { bytes: HEAD_BYTES, bytesBefore: size - HEAD_BYTES }
  }
  if (head.startsWith('TAG+')) return { bytes: ID3V1_MORE_BYTES, bytesBefore: 0 }
  if (head.startsWith('TAG')) return { bytes: ID3V1_BYTES, bytesBefore: 0 }
  return { bytes: head.startsWith('ID3') && head.length >= 10 ? id3Bytes(feed) : 0, bytesBefore: 0 }
}

/** Version, revision, flags and four bytes of seven bits each. */
function id3Bytes(feed: ByteFeed): number {
  const [major, revision, flags] = [feed.u8(3), feed.u8(4), feed.u8(5)]
  const isSound = major >= 2 && major <= 4 && revision < 0xff && (feed.u32be(6) & 0x80808080) === 0
  if (!isSound) return 0
  const size = (feed.u8(6) << 21) | (feed.u8(7) << 14) | (feed.u8(8) << 7) | feed.u8(9)
  const hasFooter = major === 4 && (flags & 0x10) !== 0
  return 10 + size + (hasFooter ? 10 : 0)
}

function* passLyrics(feed: ByteFeed): Generator<void, Tag | null> {
  const before = feed.offset
  while (feed.offset - before < LYRICS_BYTES_MAX && (yield* more(feed, LYRICS_END_BYTES))) {
    const view = Buffer.from(feed.view.buffer, feed.view.byteOffset + feed.at, feed.limit - feed.at)
    const [end = -1] = LYRICS_ENDS.map((mark) => view.indexOf(mark)).filter((at) => at >= 0).sort((a, b) => a - b)
    feed.at += end >= 0 ? end + LYRICS_END_BYTES : view.length - LYRICS_END_BYTES + 1
    if (end >= 0) break
  }
  return { bytes: feed.offset - before, bytesBefore: 0 }
}
