import { bytes, file, noise, u16le, u32be, u32le, type CorpusFile } from './bytes.ts'
import { frames, flac, page, wav } from './audio.ts'
import { gif, jpeg, png, webp } from './images.ts'
import { pdf } from './binaries.ts'

/** Bytes that phones, cameras and editors write after the end of a JPEG, by their own and ExifTool's docs. */
const sef = bytes(
  [0, 0, 0x30, 0x0a],
  u32le(13),
  'Image_UTC_Data1600000000000',
  'SEFH',
  u32le(106),
  u32le(1),
  [0, 0, 0x30, 0x0a],
  u32le(40),
  u32le(40),
  u32le(24),
  'SEFT',
)
const film = bytes(
  u32be(24),
  'ftypmp42',
  u32be(0),
  'isommp42',
  u32be(2_008),
  'mdat',
  noise(2_000, 5),
  u32be(16),
  'moov',
  noise(8),
)
const fotoStation = bytes([0x1c, 2, 5, 0, 4], 'Name', [0xa1, 0xb2, 0xc3, 0xd4, 0, 2], u32be(19))
const photoMechanic = bytes(noise(80, 3), u32be(80), 'cbipcbbl')
const afcp = bytes('AXS!', [1, 0], u32be(1), 'IPTC', u32be(40), u32be(0), noise(40, 9), 'AXS!', u32be(9))
const canon = bytes('CANON OPTIONAL DATA\0', noise(60, 7), 'CANON OPTIONAL DATA\0')

const JPEG_TRAILERS: readonly CorpusFile[] = [
  file('jpeg of a Samsung phone', 'image/jpeg', bytes(jpeg(), sef)),
  file('jpeg with a motion photo', 'image/jpeg', bytes(jpeg(), film)),
  file(
    'jpeg of a Samsung phone with a motion photo',
    'image/jpeg',
    bytes(jpeg(), 'MotionPhoto_Data', film, sef),
  ),
  file('jpeg of FotoStation', 'image/jpeg', bytes(jpeg(), fotoStation)),
  file('jpeg of PhotoMechanic', 'image/jpeg', bytes(jpeg(), photoMechanic)),
  file('jpeg with AFCP', 'image/jpeg', bytes(jpeg(), afcp)),
  file('jpeg of a Canon program', 'image/jpeg', bytes(jpeg(), canon)),
  file(
    'jpeg of a Nikon with two pictures and room between',
    'image/jpeg',
    bytes(jpeg(), Buffer.alloc(99, 0xff), noise(33, 3), jpeg(), Buffer.alloc(9)),
  ),
  file(
    'jpeg with an XMP packet after it',
    'image/jpeg',
    bytes(jpeg(), '<?xpacket begin=""?><x:xmpmeta xmlns:x="adobe:ns:meta/"/>'),
  ),
]

const WHOLE: readonly (readonly [string, string, Uint8Array])[] = [
  ['png', 'image/png', png()],
  ['jpeg', 'image/jpeg', jpeg()],
  ['gif', 'image/gif', gif()],
  ['webp', 'image/webp', webp],
  ['wav', 'audio/wav', wav],
  ['mp3', 'audio/mpeg', frames(40)],
  ['pdf', 'application/pdf', pdf()],
]

/** Bytes that transports and editors append to any file. */
const ANY_TRAILERS: readonly CorpusFile[] = WHOLE.flatMap(([name, type, whole]) => [
  file(`${name} with CR LF after it`, type, bytes(whole, '\r\n')),
  file(`${name} with 5,000 fill bytes after it`, type, () => bytes(whole, Buffer.alloc(5_000, 0xff))),
  file(`${name} with noise after it`, type, () => bytes(whole, noise(90, 5))),
])

const OGG: readonly CorpusFile[] = [
  file(
    'ogg with CR LF after it',
    'audio/ogg',
    bytes(page(2, 1, bytes('OpusHead', noise(20))), page(4, 1, noise(900)), '\r\n'),
  ),
  file('flac with CR LF after it', 'audio/flac', bytes(flac, '\r\n')),
]

/** Scripts by the numbers of their heads: a width, a length and a size that open a comment. */
const SCRIPT_HEADS: readonly CorpusFile[] = [
  file('polyglot: gif whose width opens a comment', /GIF image that is also a script/, () => {
    const whole = gif([0x21, 0xfe], 13, '*/=1;alert(1)', 0)
    return bytes(whole.subarray(0, 6), '/*', whole.subarray(8))
  }),
  file('polyglot: jpeg whose first segment opens a comment', /JPEG image that is also a script/, () =>
    bytes(
      [0xff, 0xd8, 0xff, 0xe0, 0x2f, 0x2a],
      Buffer.alloc(0x2f2a - 2),
      jpeg([0xff, 0xfe, 0, 15], '*/=alert(1)/*').subarray(2),
    ),
  ),
  file('polyglot: wav whose size opens a comment', /WAV audio file that is also a script/, () => {
    const room = bytes('RIFF', '/*', u16le(0), wav.subarray(8), 'JUNK', u32le(10_700), Buffer.alloc(10_700))
    return room
  }),
]

export const TRAILERS: readonly CorpusFile[] = [...JPEG_TRAILERS, ...ANY_TRAILERS, ...OGG, ...SCRIPT_HEADS]
