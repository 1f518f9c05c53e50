import { more, skip, type ByteFeed } from '../byte-feed.ts'
import { wholeWithTrailer } from '../trailer.ts'
import { broken, UNCLAIMED, type StructureEnd } from '../verdict.ts'

const WHAT = 'a PNG image'
const SIGNATURE_HIGH = 0x89504e47
const SIGNATURE_LOW = 0x0d0a1a0a
const IHDR_BYTES = 13
/** Bit depths that each color type allows, as a bit set; color types 1 and 5 do not exist. */
const DEPTHS = [0x10116, 0, 0x10100, 0x00116, 0x10100, 0, 0x10100]

/** PNG: a sensible `IHDR` first, image data, and every chunk by its length to `IEND`. */
export function* png(feed: ByteFeed): Generator<void, StructureEnd> {
  if (!(yield* more(feed, 8))) return UNCLAIMED
  if (feed.u32be(0) !== SIGNATURE_HIGH || feed.u32be(4) !== SIGNATURE_LOW) return UNCLAIMED
  feed.at += 8
  const isWhole = (yield* header(feed)) && (yield* chunks(feed))
  return isWhole ? yield* wholeWithTrailer(feed, 'image/png', WHAT) : broken(WHAT)
}

function* header(feed: ByteFeed): Generator<void, boolean> {
  if (!(yield* more(feed, 8 + IHDR_BYTES + 4))) return false
  if (feed.u32be(0) !== IHDR_BYTES || feed.name(4) !== 'IHDR') return false
  const hasSize = feed.u32be(8) !== 0 && feed.u32be(12) !== 0
  const mayHaveDepth = feed.u8(16) <= 16 && (((DEPTHS[feed.u8(17)] ?? 0) >> feed.u8(16)) & 1) === 1
  feed.at += 8 + IHDR_BYTES + 4
  return hasSize && mayHaveDepth
}

function* chunks(feed: ByteFeed): Generator<void, boolean> {
  let hasData = false
  for (;;) {
    if (!feed.has(8) && !(yield* more(feed, 8))) return false
    const length = feed.u32be(0)
    const type = feed.u32be(4)
    if (!isChunkType(type)) return false
    feed.at += 8
    const left = feed.jump(length + 4)
    if (left > 0 && !(yield* skip(feed, left))) return false
    if (type === IEND) return length === 0 && hasData
    if (type === IDAT) hasData = true
  }
}

const IDAT = 0x49444154
const IEND = 0x49454e44

/** Chunk types are four ASCII letters. */
function isChunkType(type: number): boolean {
  for (let shift = 0; shift < 32; shift += 8) {
    const letter = ((type >>> shift) & 0xdf) - 0x41
    if (letter < 0 || letter > 25) return false
  }
  return true
}
