export interface Timing {
  readonly width: number
  readonly height: number
  readonly framesPerSecond: number
}

/** An hour, a minute and a day are whole numbers of ticks, and so are frames of all usual rates. */
const TICKS_PER_SECOND = 90_000

/**
 * Rewrites the encoder's file. The data that a player needs comes before the pictures, so that the player
 * begins while the rest is still on its way. The file contains no time, so that equal clips are equal bytes.
 * Key frames are listed, since without the list a player would take every frame for a key frame. Source:
 * ISO/IEC 14496-12 §6, §8.
 */
export function fastStart(mp4: Uint8Array, timing: Timing): Uint8Array<ArrayBuffer> {
  const pictures = inside(mp4, 'mdat')
  const table = inside(mp4, 'moov', 'trak', 'mdia', 'minf', 'stbl')
  const sizes = sizesOf(inside(table, 'stsz'))
  if (sizes.reduce((sum, size) => sum + size, 0) !== pictures.length)
    throw new RangeError('frames are not stored one after another')
  const samples = {
    sizes,
    keyFrames: keyFramesOf(pictures, sizes),
    description: inside(table, 'stsd'),
    timing,
  }
  const type = box('ftyp', ascii('mp42'), 0, ascii('mp42isom'))
  // The offset has a fixed length: a first movie with any offset shows where the pictures will be.
  const picturesAt = type.length + movie(samples, 0).length + HEAD_BYTES
  const file = Buffer.concat([type, movie(samples, picturesAt), box('mdat', pictures)])
  return new Uint8Array(file)
}

function sizesOf(stsz: Uint8Array): readonly number[] {
  const view = new DataView(stsz.buffer, stsz.byteOffset, stsz.length)
  const sameForAll = view.getUint32(4)
  return Array.from({ length: view.getUint32(8) }, (_, nth) =>
    sameForAll === 0 ? view.getUint32(12 + 4 * nth) : sameForAll,
  )
}

/** Each NAL unit follows its length; a unit of type 5 is a picture that needs no other. Counted from 1. */
function keyFramesOf(pictures: Uint8Array, sizes: readonly number[]): readonly number[] {
  const view = new DataView(pictures.buffer, pictures.byteOffset, pictures.length)
  const keyFrames: number[] = []
  let start = 0
  for (const [nth, size] of sizes.entries()) {
    for (let at = start; at + NAL_LENGTH_BYTES < start + size; at += NAL_LENGTH_BYTES + view.getUint32(at)) {
      if (((pictures[at + NAL_LENGTH_BYTES] ?? 0) & NAL_TYPE_MASK) !== NAL_OF_KEY_FRAME) continue
      keyFrames.push(nth + 1)
      break
    }
    start += size
  }
  return keyFrames
}

const NAL_LENGTH_BYTES = 4
const NAL_TYPE_MASK = 0x1f
const NAL_OF_KEY_FRAME = 5

interface Samples {
  readonly sizes: readonly number[]
  readonly keyFrames: readonly number[]
  /** Codec, size and parameter sets, as the encoder wrote them. */
  readonly description: Uint8Array
  readonly timing: Timing
}

/** A movie with one track of one chunk. */
function movie({ sizes, keyFrames, description, timing }: Samples, picturesAt: number): Uint8Array {
  const ticks = TICKS_PER_SECOND / timing.framesPerSecond
  const duration = sizes.length * ticks
  const table = box(
    'stbl',
    box('stsd', description),
    box('stts', 0, 1, sizes.length, ticks),
    box('stss', 0, keyFrames.length, words(keyFrames)),
    box('stsc', 0, 1, 1, sizes.length, 1),
    box('stsz', 0, 0, sizes.length, words(sizes)),
    box('stco', 0, 1, picturesAt),
  )
  // A data reference with flag 1 means this very file.
  const information = box('minf', box('vmhd', 1, 0, 0), box('dinf', box('dref', 0, 1, box('url ', 1))), table)
  const media = box(
    'mdia',
    box('mdhd', 0, 0, 0, TICKS_PER_SECOND, duration, UNDETERMINED_LANGUAGE),
    box('hdlr', 0, 0, ascii('vide'), 0, 0, 0, ascii('video\0')),
    information,
  )
  return box(
    'moov',
    box(
      'mvhd',
      0,
      0,
      0,
      TICKS_PER_SECOND,
      duration,
      ONE,
      FULL_VOLUME,
      0,
      0,
      ...UNTURNED,
      0,
      0,
      0,
      0,
      0,
      0,
      NEXT_TRACK,
    ),
    box('trak', header(timing, duration), media),
  )
}

/** Enabled, in the movie and in its preview. */
function header({ width, height }: Timing, duration: number): Uint8Array {
  return box('tkhd', 7, 0, 0, 1, 0, duration, 0, 0, 0, 0, ...UNTURNED, width * ONE, height * ONE)
}

/** 1 as a number of 16 bits before the point and 16 after. */
const ONE = 0x10000
/** Volume 1, with 8 bits before the point and 8 after, in the upper half. */
const FULL_VOLUME = 0x01000000
/** `und`, packed. */
const UNDETERMINED_LANGUAGE = 0x55c40000
/** Number of the next track: the movie has one. */
const NEXT_TRACK = 2
/** The unit matrix: no rotation. */
const UNTURNED = [ONE, 0, 0, 0, ONE, 0, 0, 0, 0x40000000] as const

function words(numbers: readonly number[]): Uint8Array {
  const bytes = new Uint8Array(4 * numbers.length)
  const view = new DataView(bytes.buffer)
  for (const [nth, number] of numbers.entries()) view.setUint32(4 * nth, number)
  return bytes
}

/** A box of an MP4 file. Source: ISO/IEC 14496-12 §4.2. */
interface Box {
  readonly type: string
  readonly contents: Uint8Array
}

/** Size and type of a box. */
const HEAD_BYTES = 8

/** The consecutive boxes in some bytes. */
function* boxesOf(bytes: Uint8Array): Generator<Box> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  for (let at = 0; at + HEAD_BYTES <= bytes.length;) {
    const size = view.getUint32(at)
    if (size < HEAD_BYTES || at + size > bytes.length)
      throw new RangeError('an MP4 box extends beyond the end of its file')
    yield {
      type: String.fromCharCode(...bytes.subarray(at + 4, at + 8)),
      contents: bytes.subarray(at + HEAD_BYTES, at + size),
    }
    at += size
  }
}

/** Contents of the box at a path of types. */
function inside(bytes: Uint8Array, ...path: readonly string[]): Uint8Array {
  return path.reduce((outer, wanted) => {
    for (const { type, contents } of boxesOf(outer)) if (type === wanted) return contents
    throw new RangeError(`missing MP4 box ${wanted}`)
  }, bytes)
}

/** Bytes unchanged, or numbers of 32 bits. */
type Part = Uint8Array | number

function box(type: string, ...parts: readonly Part[]): Uint8Array<ArrayBuffer> {
  const length = parts.reduce<number>(
    (sum, part) => sum + (typeof part === 'number' ? 4 : part.length),
    HEAD_BYTES,
  )
  const bytes = new Uint8Array(length)
  const view = new DataView(bytes.buffer)
  view.setUint32(0, length)
  bytes.set(ascii(type), 4)
  let at = HEAD_BYTES
  for (const part of parts) {
    if (typeof part === 'number') view.setUint32(at, part)
    else bytes.set(part, at)
    at += typeof part === 'number' ? 4 : part.length
  }
  return bytes
}

function ascii(text: string): Uint8Array {
  return Uint8Array.from(text, (character) => character.charCodeAt(0))
}
