import { more, skip, type ByteFeed } from '../byte-feed.ts'
import { wholeWithTrailer } from '../trailer.ts'
import { broken, UNCLAIMED, type StructureEnd } from '../verdict.ts'

const WHAT = 'a FLAC audio file'
const STREAMINFO_BYTES = 34
const BLOCK_SAMPLES_MIN = 16
const INVALID_BLOCK = 127

/**
 * FLAC: a sensible `STREAMINFO` first, every metadata block by its length, then an audio frame. Only a decoder knows
 * where a frame ends, so the audio itself is not walked: all bytes after the metadata count as audio.
 */
export function* flac(feed: ByteFeed): Generator<void, StructureEnd> {
  if (!(yield* more(feed, 4)) || feed.name(0) !== 'fLaC') return UNCLAIMED
  feed.at += 4
  if (!(yield* metadata(feed)) || !(yield* audio(feed))) return broken(WHAT)
  return yield* wholeWithTrailer(feed, 'audio/flac', WHAT)
}

function* metadata(feed: ByteFeed): Generator<void, boolean> {
  for (let nth = 0; ; nth++) {
    if (!feed.has(4) && !(yield* more(feed, 4))) return false
    const head = feed.u8()
    const length = feed.u32be(0) & 0xffffff
    const type = head & 0x7f
    feed.at += 4
    if (nth === 0 && (type !== 0 || length !== STREAMINFO_BYTES || !(yield* streamInfo(feed)))) return false
    if ((nth > 0 && type === 0) || type === INVALID_BLOCK) return false
    const left = feed.jump(length)
    if (left > 0 && !(yield* skip(feed, left))) return false
    if ((head & 0x80) !== 0) return true
  }
}

function* streamInfo(feed: ByteFeed): Generator<void, boolean> {
  if (!(yield* more(feed, STREAMINFO_BYTES))) return false
  const [shortest, longest, sampleRate] = [feed.u16be(0), feed.u16be(2), feed.u32be(10) >>> 12]
  return shortest >= BLOCK_SAMPLES_MIN && longest >= shortest && sampleRate > 0
}

/** A file without a frame is silence; otherwise a frame's sync code comes next. */
function* audio(feed: ByteFeed): Generator<void, boolean> {
  if (!(yield* more(feed, 2))) return !feed.has(1)
  return (feed.u16be(0) & 0xfffe) === 0xfff8
}
