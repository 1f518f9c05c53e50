import { bytes, file, noise, u16be, u16le, u32be, u32le, u64le, type CorpusFile, type Part } from './bytes.ts'
import { riff, riffChunk, webp } from './images.ts'

/** Layer III, MPEG-1, 44.1 kHz, 128 kbit/s: 417 bytes, 418 with padding. */
function frame(options: { padding?: boolean; mono?: boolean } = {}): Buffer {
  const head = [0xff, 0xfb, 0x90 | (options.padding === true ? 2 : 0), options.mono === true ? 0xc4 : 0x44]
  return bytes(head, noise(options.padding === true ? 414 : 413, 7))
}

/** MPEG-2, 22.05 kHz, 64 kbit/s: 208 bytes. */
function frame2(): Buffer {
  return bytes([0xff, 0xf3, 0x80, 0xc4], noise(204, 9))
}

/** MPEG-2.5, 8 kHz, 24 kbit/s: 216 bytes. */
function frame25(): Buffer {
  return bytes([0xff, 0xe3, 0x38, 0xc4], noise(212, 11))
}

/** MPEG-1, 44.1 kHz, of free format: no bit rate; 1,306 bytes, 1,307 with padding. */
function freeFrames(count: number): Buffer {
  const one = (nth: number): Buffer =>
    bytes([0xff, 0xfb, nth % 3 === 0 ? 2 : 0, 0x44], noise(nth % 3 === 0 ? 1_303 : 1_302, 13))
  return bytes(...Array.from({ length: count }, (_, nth) => one(nth)))
}

export function frames(count: number): Buffer {
  return bytes(...Array.from({ length: count }, (_, nth) => frame({ padding: nth % 3 === 0 })))
}

/** @param bodyBytes of the tag's content, which its header states seven bits a byte */
export function id3(bodyBytes: number, major = 3): Buffer {
  const size = [21, 14, 7, 0].map((shift) => (bodyBytes >>> shift) & 0x7f)
  return bytes(
    'ID3',
    major,
    0,
    0,
    size,
    bytes('TIT2', Buffer.alloc(Math.max(0, bodyBytes - 4))).subarray(0, bodyBytes),
  )
}

const ID3V1 = bytes('TAG', Buffer.alloc(125, 0x20))
const APE = bytes(
  'APETAGEX',
  u32le(2000),
  u32le(32 + 20),
  u32le(1),
  u32le(0xa0000000),
  Buffer.alloc(8),
  noise(52),
)

const MP3: readonly CorpusFile[] = [
  file('mp3', 'audio/mpeg', frames(20)),
  file('mp3 of two frames', 'audio/mpeg', frames(2)),
  file('mp3 with ID3v2.3', 'audio/mpeg', bytes(id3(300), frames(5))),
  file('mp3 with ID3v2.4', 'audio/mpeg', bytes(id3(0, 4), frames(5))),
  file('mp3 with a tag of 70 KB', 'audio/mpeg', () => bytes(id3(70_000), frames(5))),
  file(
    'mp3 with two tags and zeros before the frames',
    'audio/mpeg',
    bytes(id3(40), id3(50), Buffer.alloc(500), frames(4)),
  ),
  file('mp3 with ID3v1', 'audio/mpeg', bytes(frames(5), ID3V1)),
  file('mp3 with APE and ID3v1', 'audio/mpeg', bytes(frames(5), APE, ID3V1)),
  file('mp3 whose last frame is cut', 'audio/mpeg', () => frames(6).subarray(0, -100)),
  file('mp3 cut within a header', 'audio/mpeg', bytes(frames(4), [0xff, 0xfb])),
  file('mp3 of MPEG-2', 'audio/mpeg', bytes(frame2(), frame2(), frame2())),
  file('mp3 of MPEG-2.5', 'audio/mpeg', bytes(frame25(), frame25(), frame25())),
  file('mp3 of free format', 'audio/mpeg', freeFrames(9)),
  file('mp3 of free format with a tag and zeros before', 'audio/mpeg', () =>
    bytes(id3(40), Buffer.alloc(30), freeFrames(9), ID3V1),
  ),
  file('mp3 of free format with a stray byte between', 'audio/mpeg', () =>
    bytes(freeFrames(9), 'x', freeFrames(9)),
  ),
  file('mp3 of free format, then a program', /MP3/, () => bytes(freeFrames(9), '\x7fELF', noise(90, 5))),
  file('mp3 of two frames of free format', /MPEG audio/, freeFrames(2)),
  file('mp3 whose frames of free format differ in length', /MPEG audio/, () =>
    bytes(freeFrames(1), noise(40, 3), freeFrames(1), noise(70, 5), freeFrames(1), noise(99, 7)),
  ),
  file('mp3 changing between stereo and mono', 'audio/mpeg', bytes(frame(), frame({ mono: true }), frame())),
  file(
    'mp3 of two recordings with a tag between',
    'audio/mpeg',
    bytes(frames(3), id3(20), frame2(), frame2()),
  ),
  file('mp3 tag alone', /MP3/, id3(300)),
  file('mp3 tag and then noise', /MP3/, bytes(id3(300), noise(900))),
  file('mp3 tag of a wrong length, with the rest of it before the frames', 'audio/mpeg', () =>
    bytes(id3(300), noise(615, 5), frames(9), ID3V1),
  ),
  file(
    'mp3 tag of a wrong length, and a program before the frames',
    /MP3 audio file that is also an executable/,
    bytes(id3(300), '\x7fELF', noise(600, 5), frames(9)),
  ),
  file('mp3 tag and more than 4,096 bytes before few frames', /MP3/, () =>
    bytes(id3(300), noise(4_500, 5), frames(9)),
  ),
  file('mp3 after a thousand zeros', 'audio/mpeg', bytes(Buffer.alloc(1_000), frames(5))),
  file('mp3 after 65,537 zeros', /unrecognised|NUL/, () => bytes(Buffer.alloc(65_537), frames(5))),
  file('mp3 after zeros and a program', /unrecognised|NUL/, () =>
    bytes(Buffer.alloc(1_000), '\x7fELF', noise(600, 5), frames(5)),
  ),
  file('zeros alone', /NUL/, Buffer.alloc(5_000)),
  file('mp3 frames with junk after it', 'audio/mpeg', bytes(frames(8), noise(90, 5))),
  file('mp3 frames with a program after it', /MP3/, bytes(frames(8), '\x7fELF', noise(90, 5))),
  file('mp3 with a stray byte between frames', 'audio/mpeg', bytes(frames(20), 'x', frames(20))),
  file('mp3 after a stray byte', 'audio/mpeg', bytes('x', frames(20))),
  file('mp3 after half a frame', 'audio/mpeg', () => bytes(frames(1).subarray(200), frames(20))),
  file('mp3 with half a frame between', 'audio/mpeg', () =>
    bytes(frames(20), frames(1).subarray(0, 200), frames(20)),
  ),
  file(
    'mp3 with Lyrics3',
    'audio/mpeg',
    bytes(frames(5), 'LYRICSBEGININD0000200LYR00900', 'la '.repeat(300), '000921LYRICS200', ID3V1),
  ),
  file(
    'mp3 with the first Lyrics3',
    'audio/mpeg',
    bytes(frames(2), 'LYRICSBEGIN', 'la '.repeat(900), 'LYRICSEND', ID3V1),
  ),
  file('mp3 with an APE tag that has its head at its end', 'audio/mpeg', () =>
    bytes(
      frames(4),
      noise(200, 3),
      'APETAGEX',
      u32le(1000),
      u32le(232),
      u32le(1),
      u32le(0),
      Buffer.alloc(8),
      ID3V1,
    ),
  ),
  file('mp3 that ends in a line break', 'audio/mpeg', bytes(frames(5), '\r\n')),
  file('mp3 with more than 5 % of other bytes between', /MP3/, bytes(frames(10), noise(600, 3), frames(10))),
  file(
    'mp3 with more than 5 % of other bytes in front',
    /unrecognised|not UTF-8/,
    bytes(noise(500, 3), frames(10)),
  ),
  file(
    'mp3 after a script',
    /MP3 audio file that is also a script/,
    bytes('#!/bin/sh\nexit 0\n', frames(20)),
  ),
  file('mp3 of one frame', /MPEG audio/, frame()),
  file('mp3 of one frame and noise', /MPEG audio/, bytes(frame(), noise(900, 3))),
  file('mp3 whose sample rate changes', 'audio/mpeg', bytes(frames(4), frame2(), frame2())),
  file('mpeg audio of layer II', /layer II/, bytes([0xff, 0xfd, 0x90, 0x44], noise(900))),
  file('aac', /AAC/, bytes([0xff, 0xf1, 0x50, 0x80, 0x2e, 0x7f, 0xfc], noise(900))),
]

const FMT = riffChunk('fmt ', u16le(1), u16le(2), u32le(44_100), u32le(176_400), u16le(4), u16le(16))

export const wav = riff('WAVE', FMT, riffChunk('data', noise(400)))

interface Wide {
  readonly form?: string
  /** Entries of the table of further sizes. */
  readonly table?: number
  readonly before?: Uint8Array
  readonly after?: Uint8Array
  /** The sizes in `ds64`, when they are not those of the file. */
  readonly sizes?: readonly [number, number]
  /** Whether the 32-bit sizes are the file's own. */
  readonly isNarrow?: boolean
}

/** A WAV whose sizes have 64 bits, in a `ds64` chunk. */
function rf64(wide: Wide = {}): Buffer {
  const { form = 'RF64', table = 0, before = bytes(), after = bytes(), isNarrow = false } = wide
  const samples = noise(400)
  const tableBytes = bytes(...Array.from({ length: table }, () => bytes('big1', u64le(0))))
  const size = 4 + 36 + tableBytes.length + before.length + FMT.length + 8 + samples.length + after.length
  const [riffBytes, dataBytes] = wide.sizes ?? [size, samples.length]
  return bytes(
    form,
    u32le(isNarrow ? size : 0xffffffff),
    'WAVE',
    riffChunk('ds64', u64le(riffBytes), u64le(dataBytes), u64le(100), u32le(table), tableBytes),
    before,
    FMT,
    'data',
    u32le(isNarrow ? samples.length : 0xffffffff),
    samples,
    after,
  )
}

const WAV: readonly CorpusFile[] = [
  file('wav', 'audio/wav', wav),
  file(
    'wav of float samples',
    'audio/wav',
    riff(
      'WAVE',
      riffChunk('fmt ', u16le(3), u16le(1), u32le(8_000), u32le(32_000), u16le(4), u16le(32), u16le(0)),
      riffChunk('fact', u32le(4)),
      riffChunk('data', noise(16)),
    ),
  ),
  file(
    'wav with a list before and after it',
    'audio/wav',
    riff(
      'WAVE',
      riffChunk('JUNK', noise(28)),
      FMT,
      riffChunk('LIST', 'INFO', noise(9)),
      riffChunk('data', noise(301)),
      riffChunk('id3 ', noise(33)),
    ),
  ),
  file('wav of no samples', 'audio/wav', riff('WAVE', FMT, riffChunk('data'))),
  file(
    'wav written to a pipe',
    'audio/wav',
    bytes('RIFF', u32le(0xffffffff), 'WAVE', FMT, 'data', u32le(0xffffffff), noise(333)),
  ),
  file(
    'wav written by sox to a pipe',
    'audio/wav',
    bytes('RIFF', u32le(0x7ffff024), 'WAVE', FMT, 'data', u32le(0x7ffff000), noise(333)),
  ),
  file('wav with a chunk after its size', 'audio/wav', bytes(wav, riffChunk('id3 ', noise(40)))),
  file('wav with an odd end after its size', 'audio/wav', bytes(wav, riffChunk('bext', noise(41)), '\r\n')),
  file('wav whose size is that of the file', 'audio/wav', () =>
    bytes('RIFF', u32le(wav.length), wav.subarray(8)),
  ),
  file('wav whose size leaves the samples out', 'audio/wav', () => bytes('RIFF', u32le(36), wav.subarray(8))),
  file('wav of RF64', 'audio/wav', rf64()),
  file('wav of BW64 with a table and chunks around', 'audio/wav', () =>
    rf64({
      form: 'BW64',
      table: 1,
      before: riffChunk('chna', noise(44)),
      after: riffChunk('axml', noise(31)),
    }),
  ),
  file('wav of RF64 whose sizes are 32 bits', 'audio/wav', rf64({ isNarrow: true })),
  file('wav of RF64 written to a pipe', 'audio/wav', rf64({ sizes: [0, 0] })),
  file('wav of RF64 with odd bytes after it', 'audio/wav', bytes(rf64(), '\r\n\0\0')),
  file('wav of RF64 with an archive after it', /WAV/, bytes(rf64(), 'PK\x03\x04', noise(50))),
  file('wav of RF64 cut short', /WAV/, () => rf64().subarray(0, -50)),
  file('wav of RF64 without its sizes', /WAV/, () =>
    bytes('RF64', u32le(0xffffffff), 'WAVE', FMT, 'data', u32le(0xffffffff), noise(400)),
  ),
  file('wav of RF64 whose sizes are cut short', /WAV/, () =>
    bytes(
      'RF64',
      u32le(0xffffffff),
      'WAVE',
      riffChunk('ds64', noise(16)),
      FMT,
      riffChunk('data', noise(400)),
    ),
  ),
  file('webp of RF64', /RF64/, () => bytes('RF64', webp.subarray(4))),
  file('wav truncated', /WAV/, () => wav.subarray(0, -50)),
  file('wav without fmt', /WAV/, riff('WAVE', riffChunk('data', noise(50)))),
  file('wav without data', /WAV/, riff('WAVE', FMT)),
  file('wav with data before fmt', /WAV/, riff('WAVE', riffChunk('data', noise(50)), FMT)),
  file(
    'wav of no channels',
    /WAV/,
    riff(
      'WAVE',
      riffChunk('fmt ', u16le(1), u16le(0), u32le(8_000), u32le(8_000), u16le(1), u16le(8)),
      riffChunk('data', 1),
    ),
  ),
  file('wav with an archive after it', /WAV/, bytes(wav, 'PK\x03\x04', noise(50))),
  file('avi', /AVI video/, riff('AVI ', riffChunk('LIST', 'hdrl', noise(50)))),
]

const STREAMINFO = bytes(
  u16be(4096),
  u16be(4096),
  [0, 0, 14, 0, 16, 0],
  [0x0a, 0xc4, 0x42, 0xf0],
  u32be(44_100),
  noise(16),
)

function block(type: number, data: Uint8Array, isLast = false): Buffer {
  return bytes(type | (isLast ? 0x80 : 0), u32be(data.length).subarray(1), data)
}

export const flac = bytes('fLaC', block(0, STREAMINFO, true), [0xff, 0xf8, 0xc9, 0x18, 0], noise(600))

const FLAC: readonly CorpusFile[] = [
  file('flac', 'audio/flac', flac),
  file('flac with comments and a picture', 'audio/flac', () =>
    bytes(
      'fLaC',
      block(0, STREAMINFO),
      block(4, noise(80)),
      block(6, noise(70_000)),
      block(1, Buffer.alloc(99), true),
      [0xff, 0xf9],
      noise(90),
    ),
  ),
  file('flac after an ID3 tag', 'audio/flac', bytes(id3(50), flac)),
  file('flac of silence', 'audio/flac', bytes('fLaC', block(0, STREAMINFO, true))),
  file('flac without STREAMINFO', /FLAC/, bytes('fLaC', block(4, noise(80), true), [0xff, 0xf8], noise(90))),
  file(
    'flac whose STREAMINFO has no sample rate',
    /FLAC/,
    bytes('fLaC', block(0, Buffer.alloc(34, 16).fill(0, 10, 14), true)),
  ),
  file(
    'flac cut within its comments',
    /FLAC/,
    bytes('fLaC', block(0, STREAMINFO), block(4, noise(80))).subarray(0, 90),
  ),
  file(
    'flac without a frame where one must be',
    /FLAC/,
    bytes('fLaC', block(0, STREAMINFO, true), noise(90, 2)),
  ),
]

/** One page with one packet of up to 255 × 255 bytes. @param flags 2 the first of its stream, 4 the last */
export function page(flags: number, serial: number, data: Uint8Array): Buffer {
  const segments = [...Array.from({ length: Math.floor(data.length / 255) }, () => 255), data.length % 255]
  return bytes(
    'OggS',
    0,
    flags,
    Buffer.alloc(8),
    u32le(serial),
    u32le(0),
    u32le(0),
    segments.length,
    segments,
    data,
  )
}

function ogg(begin: Part): Buffer {
  return bytes(page(2, 1, bytes(begin, noise(20))), page(0, 1, noise(3000)), page(4, 1, noise(900)))
}

const OGG: readonly CorpusFile[] = [
  file('ogg vorbis', 'audio/ogg', ogg('\x01vorbis')),
  file('ogg opus', 'audio/ogg', ogg('OpusHead')),
  file('ogg speex', 'audio/ogg', ogg('Speex   ')),
  file('ogg flac', 'audio/ogg', ogg('\x7fFLAC')),
  file('ogg of two songs', 'audio/ogg', bytes(ogg('\x01vorbis'), ogg('\x01vorbis'))),
  file('ogg with a skeleton', 'audio/ogg', bytes(page(2, 9, bytes('fishead\0', noise(56))), ogg('OpusHead'))),
  file('ogg with an empty page', 'audio/ogg', bytes(ogg('OpusHead'), page(4, 1, bytes()))),
  file('ogg theora', /Ogg video/, ogg('\x80theora')),
  file('ogg theora with vorbis', /Ogg video/, bytes(page(2, 1, bytes('\x80theora')), ogg('\x01vorbis'))),
  file(
    'ogg vorbis with theora after it',
    /Ogg video/,
    bytes(ogg('\x01vorbis'), page(2, 2, bytes('\x80theora', noise(9)))),
  ),
  file('ogg dirac', /Ogg video/, ogg('BBCD\0')),
  file('ogg of an unknown codec', /Ogg/, ogg('whatever')),
  file('ogg truncated', /Ogg/, () => ogg('OpusHead').subarray(0, -10)),
  file('ogg with junk between pages', /Ogg/, bytes(ogg('OpusHead'), 'junk', ogg('OpusHead'))),
  file('ogg with a program after it', /Ogg/, bytes(ogg('OpusHead'), '\x7fELF', noise(40))),
]

export const AUDIO: readonly CorpusFile[] = [
  ...MP3,
  ...WAV,
  ...FLAC,
  ...OGG,
  file('m4a', /M4A/, bytes(u32be(24), 'ftypM4A \0\0\0\0', noise(99))),
  file('aiff', /AIFF/, bytes('FORM', u32be(90), 'AIFF', noise(82))),
  file('midi', /MIDI/, bytes('MThd', u32be(6), [0, 1, 0, 1, 0, 96], noise(82))),
  file('amr', /AMR/, bytes('#!AMR\n', noise(82))),
]
