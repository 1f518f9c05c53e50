import { CLIP_FRAMES_PER_SECOND, type ClipSize } from '../schemas/videos/clip.ts'

/** An hour, a minute and a day are whole numbers of ticks, and so are frames of all usual rates. */
const TICKS_PER_SECOND = 90_000

/**
 * Rewrites the encoder's file. The data that a player needs comes before the pictures, so that the player
 * begins while the rest is still loading. The file contains no time, so that equal clips are equal bytes.
 * Key frames are listed, since without the list a player would treat every frame as a key frame. Source:
 * ISO/IEC 14496-12 §6, §8.
 */
export function fastStart(mp4: Uint8Array, size: ClipSize): Uint8Array<ArrayBuffer> {
  const file = Buffer.from(mp4.buffer, mp4.byteOffset, mp4.length)
  const pictures = inside(file, 'mdat')
  const samples = {
    ...framesOf(pictures),
    description: inside(file, 'moov', 'trak', 'mdia', 'minf', 'stbl', 'stsd'),
    size,
  }
  const type = box('ftyp', 'mp42', 0, 'mp42isom')
  // The offset has a fixed length, so a first movie with any offset shows where the pictures will begin.
  const picturesAt = type.length + movie(samples, 0).length + HEAD_BYTES
  return new Uint8Array(Buffer.concat([type, movie(samples, picturesAt), box('mdat', pictures)]))
}

/** Size and type of a box. */
const HEAD_BYTES = 8

/** Contents of the box at a path of types. */
function inside(file: Buffer, ...path: readonly string[]): Buffer {
  return path.reduce((outer, type) => {
    for (let at = 0, size = 0; at < outer.length; at += size) {
      size = outer.readUInt32BE(at)
      if (size < HEAD_BYTES) throw new RangeError(`an MP4 box of ${size} bytes`)
      if (outer.toString('latin1', at + 4, at + HEAD_BYTES) === type)
        return outer.subarray(at + HEAD_BYTES, at + size)
    }
    throw new RangeError(`missing MP4 box ${type}`)
  }, file)
}

interface Frames {
  readonly sizes: readonly number[]
  /** Counted from 1. */
  readonly keyFrames: readonly number[]
}

/** The encoder writes a frame as one NAL unit after its length; a unit of type 5 means a key frame. */
function framesOf(pictures: Buffer): Frames {
  const sizes: number[] = []
  const keyFrames: number[] = []
  for (let at = 0; at < pictures.length; at += sizes.at(-1) ?? 0) {
    sizes.push(4 + pictures.readUInt32BE(at))
    if ((pictures.readUInt8(at + 4) & 0x1f) === 5) keyFrames.push(sizes.length)
  }
  return { sizes, keyFrames }
}

interface Samples extends Frames {
  /** Codec, size and parameter sets, as the encoder wrote them. */
  readonly description: Buffer
  readonly size: ClipSize
}

/** A movie with one track of one chunk. */
function movie({ sizes, keyFrames, description, size }: Samples, picturesAt: number): Buffer {
  const ticks = TICKS_PER_SECOND / CLIP_FRAMES_PER_SECOND
  const duration = sizes.length * ticks
  const times = [0, 0, 0, TICKS_PER_SECOND, duration]
  const table = box(
    'stbl',
    box('stsd', description),
    box('stts', 0, 1, sizes.length, ticks),
    box('stss', 0, keyFrames.length, ...keyFrames),
    box('stsc', 0, 1, 1, sizes.length, 1),
    box('stsz', 0, 0, sizes.length, ...sizes),
    box('stco', 0, 1, picturesAt),
  )
  // Flag 1 of a data reference means that the data is in this file.
  const information = box('minf', box('vmhd', 1, 0, 0), box('dinf', box('dref', 0, 1, box('url ', 1))), table)
  const media = box(
    'mdia',
    box('mdhd', ...times, UNDETERMINED_LANGUAGE),
    box('hdlr', 0, 0, 'vide', 0, 0, 0, 'video\0'),
    information,
  )
  // Flags 7: enabled, in the movie and in its preview.
  const shown = [...UNTURNED, size.width * ONE, size.height * ONE]
  const header = box('tkhd', 7, 0, 0, 1, 0, duration, 0, 0, 0, 0, ...shown)
  const sound = [ONE, FULL_VOLUME, 0, 0]
  return box(
    'moov',
    box('mvhd', ...times, ...sound, ...UNTURNED, 0, 0, 0, 0, 0, 0, NEXT_TRACK),
    box('trak', header, media),
  )
}

/** The number 1 in 16.16 fixed point. */
const ONE = 0x10000
/** Volume 1 in 8.8 fixed point, in the upper half. */
const FULL_VOLUME = 0x01000000
/** `und`, packed. */
const UNDETERMINED_LANGUAGE = 0x55c40000
/** Number of the next track: the movie has one. */
const NEXT_TRACK = 2
/** The unit matrix: no rotation. */
const UNTURNED = [ONE, 0, 0, 0, ONE, 0, 0, 0, 0x40000000] as const

/** A box of an MP4 file. Source: ISO/IEC 14496-12 §4.2. @param parts bytes, Latin-1 texts, and 32-bit numbers */
function box(type: string, ...parts: readonly (Buffer | string | number)[]): Buffer {
  const bytes = parts.map((part) => {
    if (typeof part === 'number') return word(part)
    return typeof part === 'string' ? Buffer.from(part, 'latin1') : part
  })
  const length = bytes.reduce((sum, part) => sum + part.length, HEAD_BYTES)
  return Buffer.concat([word(length), Buffer.from(type, 'latin1'), ...bytes])
}

function word(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}
