import { more, skip, type ByteFeed } from '../byte-feed.ts'
import { wholeWithTrailer } from '../trailer.ts'
import { broken, joinedTo, UNCLAIMED, type StructureEnd } from '../verdict.ts'

const WHAT = 'a GIF image'
const EXTENSION = 0x21
const IMAGE = 0x2c
const TRAILER = 0x3b
/** Position, size and packed field of an image, after the byte that introduces it. */
const IMAGE_HEAD_BYTES = 9

/**
 * GIF: every block by its lengths, and at least one image. Old programs omit the closing byte. A width whose
 * bytes open a comment or an assignment of JavaScript makes the file a script, too.
 */
export function* gif(feed: ByteFeed): Generator<void, StructureEnd> {
  if (!(yield* more(feed, 6)) || !/^GIF8[79]a$/.test(feed.latin1(0, 6))) return UNCLAIMED
  feed.at += 6
  const isScript = (yield* more(feed, 2)) && opensScript(feed.u8(0), feed.u8(1))
  const isWhole = (yield* screen(feed)) && (yield* blocks(feed))
  if (!isWhole) return broken(WHAT)
  return isScript ? joinedTo(WHAT, 'a script') : yield* wholeWithTrailer(feed, 'image/gif', WHAT)
}

/** `GIF89a/*`, `GIF89a//` and `GIF89a=` with a following character begin a JavaScript program. */
function opensScript(first: number, second: number): boolean {
  return first === 0x2f
    ? second === 0x2a || second === 0x2f
    : first === 0x3d && second >= 0x20 && second < 0x7f
}

function* screen(feed: ByteFeed): Generator<void, boolean> {
  if (!(yield* more(feed, 7))) return false
  const colors = colorBytes(feed.u8(4))
  feed.at += 7
  return yield* skip(feed, colors)
}

/** Bytes of the color table according to a packed field. */
function colorBytes(packed: number): number {
  return (packed & 0x80) === 0 ? 0 : 3 * 2 ** ((packed & 7) + 1)
}

/** Written without a generator for each block: a block may have three bytes, and there may be millions. */
function* blocks(feed: ByteFeed): Generator<void, boolean> {
  let hasImage = false
  for (;;) {
    if (!feed.has(1) && !(yield* more(feed, 1))) return hasImage
    const kind = feed.u8()
    if (kind === TRAILER) {
      feed.at++
      return hasImage
    }
    if (kind === IMAGE) {
      hasImage = true
      if (!feed.has(1 + IMAGE_HEAD_BYTES) && !(yield* more(feed, 1 + IMAGE_HEAD_BYTES))) return false
      if (feed.u16le(5) === 0 || feed.u16le(7) === 0) return false
      const left = feed.jump(1 + IMAGE_HEAD_BYTES + colorBytes(feed.u8(9)))
      if (left > 0 && !(yield* skip(feed, left))) return false
      if (!feed.has(1) && !(yield* more(feed, 1))) return false
      if (!isCodeSize(feed.u8())) return false
      feed.at++
    } else if (kind !== EXTENSION) return false
    else if (feed.jump(2) > 0 && !(yield* skip(feed, 1))) return false
    for (let left = passSubBlocks(feed); left >= 0; left = passSubBlocks(feed)) {
      if (!(yield* skip(feed, left)) || !(yield* more(feed, 1))) return false
    }
  }
}

/** Bits of a code: 2 to 8, though some programs write 1 or up to 11. */
function isCodeSize(bits: number): boolean {
  return bits >= 1 && bits <= 11
}

/**
 * Skips data in pieces of up to 255 bytes, ended by an empty piece.
 * @returns -1 at that end, otherwise the missing bytes of a piece
 */
function passSubBlocks(feed: ByteFeed): number {
  const { view, limit } = feed
  let at = feed.at
  while (at < limit) {
    const length = view[at] ?? 0
    if (length === 0) {
      feed.at = at + 1
      return -1
    }
    at += length + 1
  }
  feed.at = limit
  return at - limit
}
