import { more, passZeros, skip, type ByteFeed } from '../byte-feed.ts'
import { flac } from './flac.ts'
import { OutsideScan } from '../intruder-scan.ts'
import { FRAME_BYTES_MAX, FRAME_HEAD_BYTES, frameBytes, freeFormat, type FreeFormat } from './mp3-frames.ts'
import { endOfFill, endOfStray } from './mp3-stray.ts'
import { isTagStart, passTag } from './mp3-tags.ts'
import { CLAIM_BYTES, claimOf, isFill } from '../trailer.ts'
import { broken, joinedTo, UNCLAIMED, whole, type StructureEnd } from '../verdict.ts'
import { HeadWindow } from '../windows.ts'

const WHAT = 'an MP3 audio file'
/** Frames that make a file MP3: a single header is eleven set bits and little else. */
const FRAMES_MIN = 2
/** Bytes before the first frame, or between it and a tag: an interrupted frame, and a little more. Decision. */
const LEADING_BYTES_MAX = 4_096
/** Zeros before the first frame of a file without a tag: a block of a recorder. Decision. */
const LEADING_ZEROS_MAX = 65_536
/** Share of the bytes that must be frames or tags, without fill. */
const KNOWN_SHARE_MIN = 0.95

/**
 * MP3: layer III frames and tags, to the end of the file. Recorders and joiners leave stray bytes and
 * interrupted frames, and change the rate: the walk continues where two frames follow each other, and 95 % of
 * the bytes must be frames or tags. Zeros before the first frame do not count, nor the bytes after an ID3 tag
 * that states a wrong length. FLAC after an ID3 tag is FLAC.
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

/** The bytes that a walk has passed. */
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

  /** Takes stray bytes that do not count for the share. */
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

/** Tags and zeros before the first frame. False: the file begins without a tag. */
function* leadingTags(feed: ByteFeed, walked: Walked): Generator<void, boolean> {
  for (let nth = 0; nth < TAGS_MAX && (yield* more(feed, FRAME_HEAD_BYTES)); nth++) {
    const tag = isTagStart(feed) ? yield* passTag(feed) : null
    if (tag === null) return nth > 0
    walked.know(tag.bytes)
    while (passZeros(feed)) if (!(yield* more(feed, 1))) return true
  }
  return true
}

/** Consecutive tags: no program writes more than a few. Decision. */
const TAGS_MAX = 100

/** Skips zeros. False: the file has too many, or nothing else. */
function* leadingZeros(feed: ByteFeed): Generator<void, boolean> {
  while (passZeros(feed)) if (feed.offset > LEADING_ZEROS_MAX || !(yield* more(feed, 1))) return false
  return feed.offset <= LEADING_ZEROS_MAX && (yield* more(feed, FRAME_HEAD_BYTES))
}

/**
 * Finds the first frame: here, or where two follow each other after other bytes, which count as stray unless
 * a tag precedes them.
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

/** Frames and tags to the end of the file. */
function* audio(feed: ByteFeed, walked: Walked): Generator<void> {
  for (let tags = 0; ;) {
    if (!feed.has(FRAME_HEAD_BYTES) && !(yield* more(feed, FRAME_HEAD_BYTES))) return
    const length = frameBytes(feed.u32be(0), walked.free)
    // Among stray bytes a header may occur by chance.
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
