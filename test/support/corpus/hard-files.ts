import { bytes, u16le, u32le } from './bytes.ts'
import { id3 } from './audio.ts'
import { gif, jpeg, png } from './images.ts'

/** A file of a size, made of a beginning and of one piece again and again. */
export interface HardFile {
  readonly name: string
  readonly make: (sizeBytes: number) => Uint8Array
}

function repeated(name: string, piece: string | Uint8Array, start: Uint8Array = bytes()): HardFile {
  return {
    name,
    make: (sizeBytes) =>
      bytes(start, Buffer.alloc(sizeBytes, typeof piece === 'string' ? Buffer.from(piece) : piece)),
  }
}

const WAV_START = bytes(
  'RIFF',
  u32le(0xffffffff),
  'WAVEfmt ',
  u32le(16),
  u16le(1),
  u16le(2),
  u32le(44_100),
  u32le(176_400),
  u16le(4),
  u16le(16),
)
const ZIP_START = bytes(
  'PK\x03\x04',
  u16le(20),
  u16le(8),
  u16le(8),
  Buffer.alloc(16),
  u16le(1),
  u16le(0),
  'a',
)

/** Marks, headers and tags at every few bytes, of which none, or only the last, means something. */
export const HARD_MARKS: readonly HardFile[] = [
  repeated('pdf of ends', '%%EOF\n', bytes('%PDF-1.4\n')),
  repeated('pdf of places', 'startxref\n0\n%%EOF\n', bytes('%PDF-1.4\n')),
  repeated('pdf of ends and objects', '%%EOF obj', bytes('%PDF-1.4\n')),
  repeated('mp3 of headers', bytes([0xff, 0xfb, 0x90, 0x64])),
  repeated('mp3 of headers and fill', bytes([0, 0xff, 0xfb, 0x90]), id3(40)),
  repeated('mp3 of ID3v1 marks', 'TAG', id3(40)),
  repeated('mp3 of letters that begin tags', 'T', id3(40)),
  repeated('mp3 of names of APE tags', 'APET', id3(40)),
  repeated(
    'mp3 of texts that end at once',
    bytes([0xff, 0xf3, 0x14, 0xc4], Buffer.alloc(20), 'LYRICSBEGIN000010LYRICS200'),
  ),
]

/**
 * What makes each scanner work hardest for a byte: the shortest lines, blocks, chunks and segments there are.
 */
export const HARD_FILES: readonly HardFile[] = [
  repeated('prose', 'The quick brown fox jumps over the lazy dog, and then it sleeps; really.\n'),
  repeated('one line', 'abcdefgh '),
  repeated('empty lines', '\n'),
  repeated('lines of a letter', 'a\n'),
  repeated('lines of a pipe', '|\n'),
  repeated('pipes on one line', '|a'),
  repeated('brackets', '[a]( '),
  repeated('open brackets', '[ '),
  repeated('a line of all delimiters', 'x,y;z\tw,'),
  repeated('commas', ','),
  repeated('quotes', '"",'),
  repeated('pretty JSON', '{\n  "id": 1,\n  "b": [\n 1,\n 2\n]\n},\n', bytes('[')),
  repeated('JSON on one line', '{"id":12345,"name":"somebody","x":[1,2,3]},', bytes('[')),
  repeated('JSON that goes deeper', '[{},'),
  repeated('NDJSON', '{"prompt":"x","completion":"y, z"}\n'),
  repeated('letters of two bytes', 'Привет, мир и все остальные\n'),
  repeated('gif of empty comments', bytes(0x21, 0xfe, 0), gif().subarray(0, 19)),
  repeated('gif of one-byte blocks', bytes(1, 0x61), bytes(gif().subarray(0, 19), 0x21, 0xfe)),
  repeated('jpeg of empty segments', bytes([0xff, 0xe0, 0, 2]), bytes([0xff, 0xd8])),
  repeated('jpeg of fill bytes', bytes(0xff), bytes([0xff, 0xd8])),
  repeated('jpeg of stuffed zeros', bytes(0xff, 0), jpeg().subarray(0, -2)),
  repeated('jpeg of scans', bytes([0xff, 0xda, 0, 2]), jpeg().subarray(0, -2)),
  repeated('jpegs one after the other', jpeg()),
  repeated('wav of empty chunks', bytes('JUNK', u32le(0)), WAV_START),
  repeated('wav of one-byte chunks', bytes('JUNK', u32le(1), 'xx'), WAV_START),
  repeated('png of empty chunks', bytes(u32le(0), 'tEXt', u32le(0)), png().subarray(0, 33)),
  repeated('ogg of empty pages', bytes('OggS', Buffer.alloc(23)), bytes()),
  repeated('mp3 of small frames', bytes([0xff, 0xe3, 0x18, 0xc4], Buffer.alloc(68, 0x78))),
  repeated('mp3 of tags', id3(0), id3(40)),
  repeated('mp3 of zeros', bytes(0), id3(40)),
  ...HARD_MARKS,
  repeated('zip of headers in an entry without a length', 'PK\u0003\u0004', ZIP_START),
  repeated('zip of letters P in an entry without a length', 'P', ZIP_START),
  repeated('zeros', bytes(0)),
]
