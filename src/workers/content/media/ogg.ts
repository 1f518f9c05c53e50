import { more, skip, type ByteFeed } from '../byte-feed.ts'
import { isFill, skipFill } from '../trailer.ts'
import { broken, foreign, UNCLAIMED, whole, type StructureEnd } from '../verdict.ts'

/** `OggS`, with which every page begins. */
const CAPTURE = 0x4f676753
/** Streams of an Ogg file: a recording of a radio station has a stream for each song. Decision. */
const STREAMS_MAX = 1_000

const PAGE_HEAD_BYTES = 27
const FIRST_OF_STREAM = 2
/** Bytes of a stream's first packet that identify its codec. */
const CODEC_BYTES = 8

/** First bytes of audio streams. Skeleton, Kate and text streams accompany others and decide nothing. */
const AUDIO = ['\x01vorbis', 'OpusHead', 'Speex   ', '\x7fFLAC', 'fLaC', 'CELT    ']
/** First bytes of video streams. */
const VIDEO = ['\x80theora', 'BBCD', '\x01video', 'YUV4MPEG', 'OVP80']

/**
 * Ogg: page after page to the end, with white space and zeros allowed after it. Its codecs distinguish audio
 * from video, and one video stream makes it a video.
 */
export function* ogg(feed: ByteFeed): Generator<void, StructureEnd> {
  if (!(yield* more(feed, 5)) || feed.u32be(0) !== CAPTURE || feed.u8(4) !== 0) return UNCLAIMED
  const found = { audio: false, video: false }
  const isWhole = yield* pages(feed, found)
  // A truncated video is reported as a video, too.
  if (found.video) return foreign('an Ogg video')
  if (!isWhole) return broken('an Ogg file')
  return found.audio ? whole('audio/ogg') : foreign('an Ogg file without audio in a known codec')
}

interface Found {
  audio: boolean
  video: boolean
}

function* pages(feed: ByteFeed, found: Found): Generator<void, boolean> {
  let streams = 0
  while (feed.has(1) || (yield* more(feed, 1))) {
    if (streams > 0 && isFill(feed.u8())) {
      yield* skipFill(feed)
      return !feed.has(1)
    }
    if (!feed.has(PAGE_HEAD_BYTES) && !(yield* more(feed, PAGE_HEAD_BYTES))) return false
    if (feed.u32be(0) !== CAPTURE || feed.u8(4) !== 0 || feed.u8(5) > 7) return false
    const isFirst = (feed.u8(5) & FIRST_OF_STREAM) !== 0
    const segments = feed.u8(26)
    feed.at += PAGE_HEAD_BYTES
    if (!feed.has(segments) && !(yield* more(feed, segments))) return false
    let length = 0
    for (let nth = 0; nth < segments; nth++) length += feed.u8(nth)
    feed.at += segments
    if (isFirst && (++streams > STREAMS_MAX || !(yield* codec(feed, length, found)))) return false
    const left = feed.jump(length)
    if (left > 0 && !(yield* skip(feed, left))) return false
  }
  return true
}

function* codec(feed: ByteFeed, length: number, found: Found): Generator<void, boolean> {
  const wanted = Math.min(length, CODEC_BYTES)
  if (!(yield* more(feed, wanted))) return false
  const head = feed.latin1(0, wanted)
  if (AUDIO.some((name) => head.startsWith(name))) found.audio = true
  if (VIDEO.some((name) => head.startsWith(name))) found.video = true
  return true
}
