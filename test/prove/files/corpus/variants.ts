import { bytes, noise, u32be, u32le, type Part } from '../../../support/corpus/bytes.ts'

/** A file as people have it: by a transport, a camera, an editor or a cut. */
export type Variant = readonly [name: string, change: (whole: Buffer) => Uint8Array]

const behind = (name: string, ...parts: readonly Part[]): Variant => [name, (whole) => bytes(whole, ...parts)]

const ANY: readonly Variant[] = [
  behind('line break behind', '\r\n'),
  behind('zeros behind', Buffer.alloc(700)),
  behind('fill bytes behind', Buffer.alloc(300, 0xff)),
]

const SEF = bytes(
  ...[
    [0, 0, 0x30, 0x0a],
    u32le(13),
    'Image_UTC_Data1600000000000SEFH',
    u32le(106),
    u32le(1),
    [0, 0, 0x30, 0x0a],
  ],
  ...[u32le(40), u32le(40), u32le(24), 'SEFT'],
)
const FILM = bytes(
  u32be(24),
  'ftypmp42',
  u32be(0),
  'isommp42',
  u32be(20_008),
  'mdat',
  noise(20_000, 5),
  u32be(16),
  'moov',
  noise(8),
)

const JPEG: readonly Variant[] = [
  ...ANY,
  behind('Samsung trailer', SEF),
  behind('motion photo', FILM),
  behind('motion photo of Samsung', 'MotionPhoto_Data', FILM, SEF),
  behind('FotoStation trailer', [0x1c, 2, 5, 0, 4], 'Name', [0xa1, 0xb2, 0xc3, 0xd4, 0, 2], u32be(19)),
  behind('PhotoMechanic trailer', noise(80, 3), u32be(80), 'cbipcbbl'),
  behind(
    'AFCP trailer',
    'AXS!',
    [1, 0],
    u32be(1),
    'IPTC',
    u32be(40),
    u32be(0),
    noise(40, 9),
    'AXS!',
    u32be(9),
  ),
  ['second picture', (whole) => bytes(whole, noise(33, 3), whole)],
]

const PDF: readonly Variant[] = [
  ...ANY,
  behind('comment behind', '%made by hand\n'),
  behind('end mark of DOS behind', '\x1a'),
  behind('text of a proxy behind', '\r\n0\r\nX-Cache: MISS from proxy\r\n\r\n'),
  behind('padding behind', Buffer.alloc(3_000, 0x20)),
  ['junk in front', (whole) => bytes(noise(500, 77), whole)],
  ['headers in front', (whole) => bytes('HTTP/1.1 200 OK\r\nContent-Type: application/pdf\r\n\r\n', whole)],
  ['no end marker', (whole) => Buffer.from(whole.toString('latin1').replace(/%%EOF\s*$/, ''), 'latin1')],
]

const MP3: readonly Variant[] = [
  ...ANY,
  ['cut last frame', (whole) => whole.subarray(0, -100)],
  ['joined with itself', (whole) => bytes(whole, whole)],
  [
    'stray byte within',
    (whole) => bytes(whole.subarray(0, whole.length >> 1), 'x', whole.subarray(whole.length >> 1)),
  ],
  ['zeros in front', (whole) => (isTagged(whole) ? whole : bytes(Buffer.alloc(3_000), whole))],
  ['stray byte in front', (whole) => bytes(isTagged(whole) ? [] : 'x', whole)],
  behind(
    'Lyrics3',
    'LYRICSBEGININD0000200LYR00090',
    'la '.repeat(30),
    '000119LYRICS200',
    'TAG',
    Buffer.alloc(125),
  ),
]

function isTagged(recording: Buffer): boolean {
  return recording.toString('latin1', 0, 3) === 'ID3'
}

const WAV: readonly Variant[] = [
  ...ANY,
  behind('chunk behind the size', 'id3 ', u32le(40), noise(40)),
  behind('odd chunk behind', 'bext', u32le(41), noise(41)),
]

const OFFICE: readonly Variant[] = [
  behind('newline behind', '\n'),
  behind('line break behind', '\r\n'),
  behind('zeros behind', Buffer.alloc(700)),
]

/** As libraries of Windows write it: with backslashes between the folders of each name. */
function withBackslashes(whole: Buffer): Buffer {
  const changed = Buffer.from(whole)
  for (let at = changed.indexOf(LINE_MARK); at >= 0; at = changed.indexOf(LINE_MARK, at + 1)) {
    const nameBytes = changed.readUInt16LE(at + 28)
    const localAt = changed.readUInt32LE(at + 42)
    for (const nameAt of [at + 46, localAt + 30])
      for (let nth = nameAt; nth < nameAt + nameBytes; nth++) if (changed[nth] === 0x2f) changed[nth] = 0x5c
  }
  return changed
}

/** The mark of a line of a zip's directory. */
const LINE_MARK = 'PK\x01\x02'

/** By the extension of the file that is changed. */
export const VARIANTS: Readonly<Record<string, readonly Variant[]>> = {
  png: ANY,
  gif: ANY,
  webp: ANY,
  jpg: JPEG,
  pdf: PDF,
  mp3: MP3,
  wav: WAV,
  docx: OFFICE,
  xlsx: [...OFFICE, ['backslashes in names', withBackslashes]],
  pptx: OFFICE,
}
