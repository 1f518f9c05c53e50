import { more, passZeros, skip, type ByteFeed } from '../byte-feed.ts'
import { flac } from './flac.ts'
import { OutsideScan } from '../intruder-scan.ts'
import { isTagStart, passTag, isTagLetter, mayBeTag } from './mp3-tags.ts'
import { CLAIM_BYTES, claimOf, isFill } from '../trailer.ts'
import { broken, joinedTo, UNCLAIMED, whole, type StructureEnd } from '../verdict.ts'
import { HeadWindow } from '../windows.ts'

const WHAT = 'an MP3 audio file'
/** Consecutive frames that make a file MP3: a single header is little more than eleven set bits. */
const FRAMES_MIN = 2
/** Bytes before the first frame, or between it and a tag: room for an interrupted frame and a little more. Decision. */
const LEADING_BYTES_MAX = 4_096
/** Zeros before the first frame of a file without a tag: recorders write a block of them. Decision. */
const LEADING_ZEROS_MAX = 65_536
/** Share of the bytes that must be frames or tags; fill is not counted. */
const KNOWN_SHARE_MIN = 0.95

/**
 * MP3: layer III frames and tags, to the end of the file. Recorders and programs that join files leave stray bytes and
 * interrupted frames, and change the rate: the walk continues where two frames follow each other, and 95 % of the bytes
 * must be frames or tags. Zeros before the first frame are not counted; neither are bytes after an ID3 tag with a wrong
 * length. FLAC after an ID3 tag is FLAC.
 */
export function* mp3(feed: ByteFeed): Generator<void, StructureEnd> {
  if (!(yield* more(feed, FRAME_HEAD_BYTES))) return UNCLAIMED
  const isTagged = feed.latin1(0, 3) === 'ID3'
  const walked = new Walked()
  if (isTagged) {
    if (!(yield* leadingTags(feed, walked))) return broken(WHAT)
    if ((yield* more(feed, FRAME_HEAD_BYTES)) && feed.name(0) === 'fLaC') return yield* flac(feed)
  } else if (!(yield* leadingZeros(feed))) return UNCLAIMED
  if (!(yield* findAudio(feed, walked, isTagged)) && !isTagged) return UNCLAIMED
  const leadingClaim = walked.strayRun === 0 ? undefined : walked.strayClaim()
  yield* audio(feed, walked)
  const isMp3 =
    walked.frames >= FRAMES_MIN &&
    walked.knownBytes >= KNOWN_SHARE_MIN * (walked.knownBytes + walked.strayBytes)
  if (!isMp3)
    return isTagged || (leadingClaim === undefined && walked.frames > FRAMES_MIN) ? broken(WHAT) : UNCLAIMED
  const claim = leadingClaim ?? walked.strayClaim() ?? walked.outsideClaim()
  return claim === null ? whole('audio/mpeg') : joinedTo(WHAT, claim)
}

/** Counts of the bytes that a walk has read. */
class Walked {
  frames = 0
  knownBytes = 0
  strayBytes = 0
  /** Current run of bytes that are neither frame nor tag. */
  strayRun = 0
  free: FreeFormat | null = null
  /** First bytes of that run. */
  readonly #stray = new HeadWindow(CLAIM_BYTES)
  readonly #outside = new OutsideScan()

  know(bytes: number): void {
    this.knownBytes += bytes
    if (this.strayRun === 0) return
    this.strayRun = 0
    this.#stray.clear()
  }

  /** Counts bytes before a tag that belong to the tag. */
  knowBefore(bytes: number): void {
    const known = Math.max(0, Math.min(bytes, this.strayRun))
    this.strayBytes -= known
    this.knownBytes += known
  }

  stray(bytes: Uint8Array): void {
    this.pass(bytes)
    this.strayBytes += bytes.length
  }

  /** Skips stray bytes that do not count for the share. */
  pass(bytes: Uint8Array): void {
    this.#stray.push(bytes)
    this.#outside.push(bytes)
    this.strayRun += bytes.length
  }

  /** The format found among all stray bytes of the file. Call once. */
  outsideClaim(): string | null {
    return this.#outside.finish()
  }

  /** The format that the current run of stray bytes claims to be. */
  strayClaim(): string | null {
    return this.strayRun === 0 ? null : claimOf(this.#stray.latin1())
  }
}

/** Skips tags and zeros before the first frame. False: the file begins without a tag. */
function* leadingTags(feed: ByteFeed, walked: Walked): Generator<void, boolean> {
  for (let nth = 0; nth < TAGS_MAX && (yield* more(feed, FRAME_HEAD_BYTES)); nth++) {
    const tag = isTagStart(feed) ? yield* passTag(feed) : null
    if (tag === null) return nth > 0
    walked.know(tag.bytes)
    while (passZeros(feed)) if (!(yield* more(feed, 1))) return true
  }
  return true
}

/** Consecutive tags that are accepted: no program writes more than a few. Decision. */
const TAGS_MAX = 100

/** Skips zeros. False: the file has too many zeros, or nothing else. */
function* leadingZeros(feed: ByteFeed): Generator<void, boolean> {
  while (passZeros(feed)) if (feed.offset > LEADING_ZEROS_MAX || !(yield* more(feed, 1))) return false
  return feed.offset <= LEADING_ZEROS_MAX && (yield* more(feed, FRAME_HEAD_BYTES))
}

/**
 * Finds the first frame: at this place, or after other bytes where two frames follow each other. These bytes count as
 * stray unless a tag precedes them.
 */
function* findAudio(feed: ByteFeed, walked: Walked, isTagged: boolean): Generator<void, boolean> {
  if (!(yield* more(feed, FRAME_HEAD_BYTES))) return false
  if (frameBytes(feed.u32be(0), null) > 0) return true
  yield* more(feed, LEADING_BYTES_MAX + 2 * FRAME_BYTES_MAX)
  const { view, at: start } = feed
  walked.free = freeFormat(view, start, feed.limit)
  if (walked.free !== null) return true
  const end = Math.min(feed.limit, start + LEADING_BYTES_MAX)
  for (let at = view.indexOf(0xff, start); at >= 0 && at < end; at = view.indexOf(0xff, at + 1)) {
    feed.at = at
    if (!isFollowed(feed, null)) continue
    if (isTagged) walked.pass(view.subarray(start, at))
    else walked.stray(view.subarray(start, at))
    return true
  }
  feed.at = start
  return false
}

/** Whether there is a frame here, followed by another frame or the end of the file. All of these must be in the view. */
function isFollowed(feed: ByteFeed, free: FreeFormat | null): boolean {
  if (feed.limit - feed.at < FRAME_HEAD_BYTES) return false
  const length = frameBytes(feed.u32be(0), free)
  if (length === 0 || feed.limit - feed.at < length) return false
  return feed.limit - feed.at < length + FRAME_HEAD_BYTES || frameBytes(feed.u32be(length), free) > 0
}

/** Reads frames and tags to the end of the file. */
function* audio(feed: ByteFeed, walked: Walked): Generator<void> {
  for (let tags = 0; ;) {
    if (!feed.has(FRAME_HEAD_BYTES) && !(yield* more(feed, FRAME_HEAD_BYTES))) return
    const length = frameBytes(feed.u32be(0), walked.free)
    // Within stray bytes, a header may occur by chance.
    const isInRow = length > 0 && walked.strayRun === 0
    if (length > 0 && !isInRow && !feed.has(length + FRAME_HEAD_BYTES))
      yield* more(feed, length + FRAME_HEAD_BYTES)
    if (isInRow || (length > 0 && isFollowed(feed, walked.free))) {
      const before = feed.offset
      const left = feed.jump(length)
      if (left > 0) yield* skip(feed, left)
      walked.frames++
      tags = 0
      walked.know(feed.offset - before)
      continue
    }
    const tag = isTagStart(feed) && tags < TAGS_MAX ? yield* passTag(feed) : null
    if (tag === null) passStray(feed, walked, tags < TAGS_MAX)
    else {
      tags++
      walked.knowBefore(tag.bytesBefore)
      walked.know(tag.bytes)
    }
  }
}

/** Skips bytes of the view up to the next possible frame or tag. Fill after a frame or tag is not stray. */
function passStray(feed: ByteFeed, walked: Walked, isTagSought: boolean): void {
  if (walked.strayRun === 0 && isFill(feed.u8())) {
    feed.at = endOfFill(feed, walked.free)
    return
  }
  const { view, at } = feed
  feed.at = endOfStray(feed, walked.free, isTagSought)
  walked.stray(view.subarray(at, feed.at))
}

/*
 * Finds the end of bytes that are neither frame nor tag. They are read in runs: one step of the walk for each byte that
 * may begin a frame or a tag would cost fifty times as much, and a file may consist entirely of such bytes.
 */

/**
 * @returns the end of the fill after the current byte: the place where other bytes or a frame begin. An incomplete
 * header counts as a possible frame
 */
function endOfFill({ view, at: start, limit }: ByteFeed, free: FreeFormat | null): number {
  const seen = { view, limit, free }
  let at = start + 1
  while (at < limit && isFill(view[at] ?? 0) && !(view[at] === SYNC && isFrame(seen, at))) at++
  return at
}

/**
 * @returns the end of the stray bytes: here a frame counts only if another frame follows, or the file ends
 * after it
 * @param isTagSought false: tags count as stray bytes, too
 */
function endOfStray(
  { view, at: start, limit }: ByteFeed,
  free: FreeFormat | null,
  isTagSought: boolean,
): number {
  const seen = { view, limit, free }
  for (let at = start + 1; at < limit; at++) {
    const byte = view[at] ?? 0
    if (byte === SYNC && isFrame(seen, at) && isStrayFollowed(seen, at)) return at
    if (isTagLetter(byte) && (limit - at < FRAME_HEAD_BYTES || (isTagSought && mayBeTag(view, at, limit))))
      return at
  }
  return limit
}

const SYNC = 0xff

interface Seen {
  readonly view: Uint8Array
  readonly limit: number
  readonly free: FreeFormat | null
}

function isFrame({ view, limit, free }: Seen, at: number): boolean {
  return limit - at < FRAME_HEAD_BYTES || frameBytes(headAt(view, at), free) > 0
}

function isStrayFollowed(seen: Seen, at: number): boolean {
  if (seen.limit - at < FRAME_HEAD_BYTES) return true
  const behind = at + frameBytes(headAt(seen.view, at), seen.free)
  return behind >= seen.limit || isFrame(seen, behind)
}

const FRAME_HEAD_BYTES = 4
/** The longest frame: MPEG-1 in free format, 640 kbit/s at 32 kHz. */
const FRAME_BYTES_MAX = 2_881

/** Kilobits a second of layer III by index, for MPEG-1. Index 0 is free format, 15 is invalid. */
const KILOBITS_1 = [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 0]
/** Kilobits a second of layer III by index, for MPEG-2 and 2.5. */
const KILOBITS_2 = [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160, 0]
/** Samples a second of MPEG-1; MPEG-2 has half, MPEG-2.5 a quarter. */
const RATES = [44_100, 48_000, 32_000, 0]

/** Frames of free format: their headers state no bit rate, so their length is the distance between two. */
interface FreeFormat {
  readonly head: number
  /** Bytes of a frame without its padding. */
  readonly bytes: number
}

/** The shortest frame of free format: MPEG-1, 8 kbit/s at 48 kHz. */
const FREE_BYTES_MIN = 24
/** The bits of a header that are equal in all frames of free format: not the padding, the channels and the bits after them. */
const FREE_MASK = 0xfffffc00

/**
 * @param free the free format of the file, or null
 * @returns the frame's bytes by its header, or 0 for a header of another kind or without a known length
 */
function frameBytes(head: number, free: FreeFormat | null): number {
  if (!isLayer3(head)) return 0
  const version = (head >>> 19) & 3
  const rate = RATES[(head >>> 10) & 3] ?? 0
  const kilobits = (version === 3 ? KILOBITS_1 : KILOBITS_2)[(head >>> 12) & 15] ?? 0
  const padding = (head >>> 9) & 1
  if (free !== null && isAlike(head, free.head)) return free.bytes + padding
  if (kilobits === 0) return 0
  if (version === 3) return Math.floor((144_000 * kilobits) / rate) + padding
  return Math.floor((72_000 * kilobits * (version === 2 ? 2 : 4)) / rate) + padding
}

/** The free format of the frame that begins here, if two further headers follow at equal distances; else null. */
function freeFormat(view: Uint8Array, at: number, limit: number): FreeFormat | null {
  const head = headAt(view, at)
  if (!isLayer3(head) || ((head >>> 12) & 15) !== 0) return null
  const last = Math.min(at + FRAME_BYTES_MAX, limit - FRAME_HEAD_BYTES)
  for (let next = at + FREE_BYTES_MIN; next <= last; next++) {
    const second = view[next] === 0xff ? headAt(view, next) : 0
    if (!isAlike(second, head)) continue
    const free = { head, bytes: next - at - ((head >>> 9) & 1) }
    const third = next + frameBytes(second, free)
    if (third + FRAME_HEAD_BYTES <= limit && isAlike(headAt(view, third), head)) return free
  }
  return null
}

/** The four bytes of a header as one number. */
function headAt(view: Uint8Array, at: number): number {
  return (
    (((view[at] ?? 0) << 24) |
      ((view[at + 1] ?? 0) << 16) |
      ((view[at + 2] ?? 0) << 8) |
      (view[at + 3] ?? 0)) >>>
    0
  )
}

function isLayer3(head: number): boolean {
  const isSynchronous = (head & 0xffe60000) >>> 0 === 0xffe20000
  return isSynchronous && ((head >>> 19) & 3) !== 1 && ((head >>> 10) & 3) !== 3 && (head & 3) !== 2
}

function isAlike(head: number, other: number): boolean {
  return (head & FREE_MASK) === (other & FREE_MASK)
}
