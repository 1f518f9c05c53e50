import { FILE_BYTES_MAX } from '../../../schemas/files/file-limits.ts'
import { more, skip, type ByteFeed } from '../byte-feed.ts'
import { wholeWithTrailer } from '../trailer.ts'
import { broken, joinedTo, UNCLAIMED, type MimeType, type StructureEnd } from '../verdict.ts'

const CHUNK_HEAD_BYTES = 8
/** Bytes that are read ahead for the longest chunk header. */
const PEEK_BYTES = 16

/**
 * RIFF: WAVE with a sensible `fmt ` before `data`, and WebP with an image chunk. Chunks are walked by their
 * lengths to the end that the header states. Recordings that may exceed 4 GB begin with `RF64` or `BW64`
 * and have their sizes in a `ds64` chunk. A size whose bytes open a comment or an assignment of JavaScript
 * makes the file a script, too.
 */
export function* riff(feed: ByteFeed): Generator<void, StructureEnd> {
  if (!(yield* more(feed, 12))) return UNCLAIMED
  const isWide = WIDE_FORMS.has(feed.name(0))
  const size = feed.u32le(4)
  const kind = KINDS[feed.name(8)]
  if (kind === undefined || !(feed.name(0) === 'RIFF' || (isWide && kind === WAVE))) return UNCLAIMED
  feed.at += 12
  const wide = isWide ? yield* wideSizes(feed) : null
  if (isWide && wide === null) return broken(kind.what)
  const sizes = { riff: wide !== null && size === IN_DS64 ? wide.riff : size, data: wide?.data ?? null }
  if (!(yield* chunks(feed, kind, sizes))) return broken(kind.what)
  if (opensScript(size)) return joinedTo(kind.what, 'a script')
  return yield* wholeWithTrailer(feed, kind.mimeType, kind.what)
}

const WIDE_FORMS: ReadonlySet<string> = new Set(['RF64', 'BW64'])
/** A 32-bit size with this value is stored in the `ds64` chunk instead. */
const IN_DS64 = 0xffffffff
/** Bytes of a `ds64` chunk without its table: the two sizes, a number of samples, and the table's length. */
const DS64_BYTES = 28

/** Reads the `ds64` chunk, which must be the first. Null: another chunk is first, or the file ends within it. */
function* wideSizes(feed: ByteFeed): Generator<void, { riff: number; data: number } | null> {
  if (!(yield* more(feed, CHUNK_HEAD_BYTES + DS64_BYTES)) || feed.name(0) !== 'ds64') return null
  const length = feed.u32le(4)
  const sizes = { riff: feed.u64le(CHUNK_HEAD_BYTES), data: feed.u64le(CHUNK_HEAD_BYTES + 8) }
  const isSkipped = yield* skip(feed, CHUNK_HEAD_BYTES + length + (length % 2))
  return isSkipped && length >= DS64_BYTES ? sizes : null
}

function opensScript(size: number): boolean {
  const text = String.fromCharCode(size & 0xff, (size >>> 8) & 0xff, (size >>> 16) & 0xff, size >>> 24)
  return /^(?:\/[/*]|=[\x20-\x7e]{3})/.test(text)
}

/**
 * Programs that write to a pipe cannot go back to correct a size. They leave 0, or more than any file has: the data
 * then ends with the file.
 */
function isUnknown(size: number): boolean {
  return size === 0 || size > FILE_BYTES_MAX
}

interface RiffKind {
  readonly what: string
  readonly mimeType: MimeType
  /** The state after a chunk; null means a fault. */
  step(state: string, name: number, length: number, feed: ByteFeed): string | null
  /** The state in which the file may end. */
  readonly last: string
}

const WAVE: RiffKind = { what: 'a WAV audio file', mimeType: 'audio/wav', step: stepWave, last: 'data' }
const KINDS: Readonly<Record<string, RiffKind>> = {
  WAVE,
  WEBP: { what: 'a WebP image', mimeType: 'image/webp', step: stepWebp, last: 'image' },
}

/**
 * Recorders leave wrong sizes and write more bytes after the samples: once the samples of a WAV were read, any fault
 * ends the walk without a refusal.
 * @param sizes bytes after the first eight according to the header, and bytes of the samples according to `ds64`, or
 * null without it
 */
function* chunks(
  feed: ByteFeed,
  kind: RiffKind,
  sizes: { riff: number; data: number | null },
): Generator<void, boolean> {
  const isWave = kind === WAVE
  const mayStream = isWave && isUnknown(sizes.riff)
  const end = mayStream ? Infinity : sizes.riff + CHUNK_HEAD_BYTES
  let state = 'start'
  while (feed.offset < end) {
    const isPlayable = isWave && state === kind.last
    if (!feed.has(CHUNK_HEAD_BYTES) && !(yield* more(feed, CHUNK_HEAD_BYTES))) return isPlayable
    const name = feed.u32be(0)
    const length = lengthOf(name, feed.u32le(4), sizes.data)
    if (isPlayable && !isChunkName(name)) return true
    feed.at += CHUNK_HEAD_BYTES
    const peeked = Math.min(length, PEEK_BYTES)
    if (!feed.has(peeked) && !(yield* more(feed, peeked))) return isPlayable
    const next = kind.step(state, name, length, feed)
    if (next === null) return isPlayable
    state = next
    if (isWave && name === DATA && isUnknown(length) && (length > 0 || mayStream)) return yield* toEnd(feed)
    if (!isWave && feed.offset + length > end) return false
    // There is no generator for each chunk: a file may have millions of chunks of one byte. A chunk of odd length is
    // padded with a byte, which some programs omit at the very end.
    const isPadded = length % 2 === 1 && feed.offset + length < end
    const left = feed.jump(length)
    if (left > 0 && !(yield* skip(feed, left))) return isPlayable
    if (isPadded && (feed.has(1) || (yield* more(feed, 1)))) feed.at++
  }
  return state === kind.last
}

/** The length of a chunk. `ds64` is used for the samples only: no other chunk of an upload needs 64 bits. */
function lengthOf(name: number, length: number, wideData: number | null): number {
  return name === DATA && length === IN_DS64 && wideData !== null ? wideData : length
}

function* toEnd(feed: ByteFeed): Generator<void, boolean> {
  while (yield* more(feed, 1)) feed.at = feed.limit
  return true
}

const FMT = 0x666d7420
const DATA = 0x64617461
const VP8 = 0x56503820
const VP8L = 0x5650384c
const VP8X = 0x56503858
const ANMF = 0x414e4d46

function stepWave(state: string, name: number, length: number, feed: ByteFeed): string | null {
  if (!isChunkName(name)) return null
  if (name === DATA) return state === 'start' ? null : 'data'
  if (name !== FMT) return state
  const isSensible = length >= 16 && feed.u16le(2) > 0 && feed.u32le(4) > 0 && feed.u16le(12) > 0
  return state === 'start' && isSensible ? 'fmt' : null
}

function stepWebp(state: string, name: number, length: number, feed: ByteFeed): string | null {
  if (!isChunkName(name)) return null
  if (name === VP8X) return state === 'start' && length >= 10 ? 'extended' : null
  if (name === VP8) return length >= 10 && isKeyFrame(feed) ? 'image' : null
  if (name === VP8L) return length >= 5 && feed.u8() === VP8L_SIGNATURE ? 'image' : null
  if (state === 'start') return null
  if (name === ANMF) return length >= 16 ? 'image' : null
  return state
}

const VP8L_SIGNATURE = 0x2f

/** The start code of a VP8 key frame, after the three bytes of its frame tag. */
function isKeyFrame(feed: ByteFeed): boolean {
  return (feed.u8() & 1) === 0 && feed.u8(3) === 0x9d && feed.u8(4) === 0x01 && feed.u8(5) === 0x2a
}

/** Four printable characters. */
function isChunkName(name: number): boolean {
  for (let shift = 0; shift < 32; shift += 8) {
    const byte = (name >>> shift) & 0xff
    if (byte < 0x20 || byte > 0x7e) return false
  }
  return true
}
