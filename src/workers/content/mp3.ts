import { more, passZeros, skip, type ByteFeed } from './byte-feed.ts'
import { flac } from './flac.ts'
import { broken, UNCLAIMED, whole, type StructureEnd } from './verdict.ts'

/** Frames in a row that make it MP3: a single header is eleven set bits and little else. */
const FRAMES_MIN = 2
const FRAME_HEAD_BYTES = 4

/**
 * MP3: ID3v2 tags or none, then layer III frames one behind the other to the end of the file, all of one version
 * and sample rate. The last frame may be cut short. ID3 and APE tags and zero bytes may stand before and
 * behind the audio. FLAC behind an ID3 tag is FLAC.
 */
export function* mp3(feed: ByteFeed): Generator<void, StructureEnd> {
  if (!(yield* more(feed, FRAME_HEAD_BYTES))) return UNCLAIMED
  const isTagged = feed.latin1(0, 3) === 'ID3'
  if (!isTagged && frameBytes(feed.u32be(0)) === 0) return UNCLAIMED
  if (isTagged) {
    if (!(yield* tags(feed))) return broken(WHAT)
    if ((yield* more(feed, FRAME_HEAD_BYTES)) && feed.name(0) === 'fLaC') return yield* flac(feed)
  }
  const walked = yield* audio(feed)
  if (walked.isWhole) return whole('audio/mpeg')
  return isTagged || walked.frames > FRAMES_MIN ? broken(WHAT) : UNCLAIMED
}

const WHAT = 'an MP3 audio file'

interface Walked {
  readonly isWhole: boolean
  readonly frames: number
}

/** Frames and tags to the end of the file. A tag may begin another recording, with frames of another kind. */
function* audio(feed: ByteFeed): Generator<void, Walked> {
  let frames = 0
  let kind = 0
  for (;;) {
    // What is shorter than a header is a frame that was cut short.
    if (!feed.has(FRAME_HEAD_BYTES) && !(yield* more(feed, FRAME_HEAD_BYTES))) {
      return { isWhole: frames >= FRAMES_MIN, frames }
    }
    const head = feed.u32be(0)
    const length = frameBytes(head)
    if (length > 0 && (kind === 0 || kind === (head & SAME_KIND) >>> 0)) {
      kind = (head & SAME_KIND) >>> 0
      frames++
      const left = feed.jump(length)
      if (left > 0 && !(yield* skip(feed, left))) return { isWhole: frames >= FRAMES_MIN, frames }
    } else if (yield* tags(feed)) kind = 0
    else return { isWhole: false, frames }
  }
}

/** Sync, version, layer and sample rate. Bit rate, padding and stereo mode may change from frame to frame. */
const SAME_KIND = 0xfffe0c00

/**
 * Kilobits a second by index, of layer III: MPEG-1, then MPEG-2 and 2.5. Index 0 is free format, 15 is
 * invalid.
 */
const KILOBITS_1 = [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 0]
const KILOBITS_2 = [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160, 0]
/** Samples a second of MPEG-1; MPEG-2 has half, MPEG-2.5 a quarter. */
const RATES = [44_100, 48_000, 32_000, 0]

/** @returns the frame's bytes by its header, or 0 when it heads no layer III frame of known length */
function frameBytes(head: number): number {
  if ((head & 0xffe60000) >>> 0 !== 0xffe20000) return 0
  const version = (head >>> 19) & 3
  const rate = RATES[(head >>> 10) & 3] ?? 0
  const kilobits = (version === 3 ? KILOBITS_1 : KILOBITS_2)[(head >>> 12) & 15] ?? 0
  if (version === 1 || rate === 0 || kilobits === 0 || (head & 3) === 2) return 0
  const padding = (head >>> 9) & 1
  if (version === 3) return Math.floor((144_000 * kilobits) / rate) + padding
  return Math.floor((72_000 * kilobits * (version === 2 ? 2 : 4)) / rate) + padding
}

/** Passes over tags and zero bytes. False: something stands here that is neither. */
function* tags(feed: ByteFeed): Generator<void, boolean> {
  for (let nth = 0; nth < TAGS_MAX; nth++) {
    const before = feed.offset
    while (passZeros(feed)) if (!(yield* more(feed, 1))) return true
    if (feed.offset > before) nth++
    const hasHead = yield* more(feed, TAG_HEAD_BYTES)
    const length = hasHead ? tagBytes(feed) : 0
    if (length === 0) return nth > 0
    if (!(yield* skip(feed, length))) return false
  }
  return false
}

/** Tags one behind the other: no writer leaves more than a few. Decision. */
const TAGS_MAX = 100

/** An APE tag's header, the longest of the three. */
const TAG_HEAD_BYTES = 32
const ID3V1_BYTES = 128
const ID3V1_MORE_BYTES = 227

/** @returns the bytes of the tag that begins here, or 0 */
function tagBytes(feed: ByteFeed): number {
  const name = feed.latin1(0, 8)
  if (name === 'APETAGEX') return TAG_HEAD_BYTES + feed.u32le(12)
  if (name.startsWith('TAG+')) return ID3V1_MORE_BYTES
  if (name.startsWith('TAG')) return ID3V1_BYTES
  if (!name.startsWith('ID3')) return 0
  // Version, revision, flags and four bytes of seven bits each.
  const [major, revision, flags] = [feed.u8(3), feed.u8(4), feed.u8(5)]
  const isSound = major >= 2 && major <= 4 && revision < 0xff && (feed.u32be(6) & 0x80808080) === 0
  if (!isSound) return 0
  const size = (feed.u8(6) << 21) | (feed.u8(7) << 14) | (feed.u8(8) << 7) | feed.u8(9)
  const hasFooter = major === 4 && (flags & 0x10) !== 0
  return 10 + size + (hasFooter ? 10 : 0)
}
