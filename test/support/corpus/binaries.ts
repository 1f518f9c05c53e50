import { deflateRawSync, gzipSync } from 'node:zlib'
import { bytes, file, noise, u32be, u32le, utf8, type CorpusFile } from './bytes.ts'
import { flac, frames } from './audio.ts'
import { gif, jpeg, png } from './images.ts'
import { office, DOCX } from './office-writer.ts'

const OBJECTS =
  '1 0 obj\n<< /Type /Catalog /Pages 2 0 R >>\nendobj\n2 0 obj\n<< /Type /Pages /Kids [] /Count 0 >>\nendobj\n'
const STREAM = streamOf(noise(300))
const TABLE_STREAM = bytes('9 0 obj\n<</Type/XRef/Root 1 0 R>>stream\n', noise(50), '\nendstream\nendobj\n')
const END = 'xref\n0 3\ntrailer\n<< /Size 3 /Root 1 0 R >>\nstartxref\n120\n%%EOF\n'

export function pdf(version = '1.7', stream = STREAM): Buffer {
  return bytes(`%PDF-${version}\n%\xe2\xe3\xcf\xd3\n`, OBJECTS, stream, END)
}

/**
 * A document of exactly so many bytes, of which most are a stream.
 * @param fill the stream repeats it
 */
export function pdfOf(sizeBytes: number, fill: string | Uint8Array = 'The quick brown fox. '): Buffer {
  const around = pdf('1.7', streamOf(Buffer.alloc(0))).length
  // The length of the stream has digits, too.
  const digits = String(sizeBytes).length - 1
  return pdf('1.7', streamOf(Buffer.alloc(sizeBytes - around - digits, fill)))
}

function streamOf(content: Buffer): Buffer {
  return bytes(`3 0 obj\n<< /Length ${content.length} >>\nstream\n`, content, '\nendstream\nendobj\n')
}

/** One that is not UTF-8, and has no NUL either. */
const LATIN_PDF = bytes('%PDF-1.4\n%\xe2\xe3\xcf\xd3\n', OBJECTS, END)

const PDFS: readonly CorpusFile[] = [
  file('pdf', 'application/pdf', pdf()),
  file('pdf 2.0', 'application/pdf', pdf('2.0')),
  file('pdf of ASCII alone', 'application/pdf', bytes('%PDF-1.4\n', OBJECTS, END)),
  file('pdf after a byte order mark', 'application/pdf', bytes([0xef, 0xbb, 0xbf], pdf())),
  file(
    'pdf after a mark and white space',
    'application/pdf',
    bytes([0xef, 0xbb, 0xbf], ' '.repeat(1_024), pdf()),
  ),
  file('pdf after more white space', /not UTF-8/, bytes(' '.repeat(1_025), LATIN_PDF)),
  file('pdf after 900 bytes of junk', 'application/pdf', () => bytes(noise(900, 77), pdf())),
  file('pdf after lines of headers', 'application/pdf', () => bytes('HTTP/1.1 200 OK\r\n\r\n', LATIN_PDF)),
  file('pdf with an update after it', 'application/pdf', bytes(pdf(), '4 0 obj\n<<>>\nendobj\n', END)),
  file('pdf with 500 spaces after it', 'application/pdf', bytes(pdf(), Buffer.alloc(500, 0x20))),
  file('pdf, then zeros and line ends', 'application/pdf', bytes(pdf(), '\r\n\0\0', Buffer.alloc(900))),
  file('pdf with 2,000 zeros after it', 'application/pdf', bytes(pdf(), Buffer.alloc(2_000))),
  file('pdf with a word after it', 'application/pdf', bytes(pdf(), 'end')),
  file('pdf with a comment after it', 'application/pdf', bytes(pdf(), '%made by hand, 2 copies\n')),
  file('pdf with the end mark of DOS after it', 'application/pdf', bytes(pdf(), '\x1a')),
  file(
    'pdf with lines of a proxy after it',
    'application/pdf',
    bytes(pdf(), '\r\n0\r\nVia: 1.1 cache (squid); HIT from here\r\n\r\n'),
  ),
  file('pdf without an end marker', 'application/pdf', () => pdf().subarray(0, -6)),
  file(
    'pdf that ends with its trailer',
    'application/pdf',
    bytes('%PDF-1.4\n', OBJECTS, STREAM, 'trailer\n<< /Root 1 0 R >>'),
  ),
  file(
    'pdf whose table is a stream',
    'application/pdf',
    bytes('%PDF-1.5\n', OBJECTS, TABLE_STREAM, 'startxref\n9\n%%EOF'),
  ),
  file('pdf after a newline', 'application/pdf', bytes('\n', LATIN_PDF)),
  file('pdf of ASCII alone, cut short', /PDF document that is damaged/, () =>
    bytes('%PDF-1.4\n', OBJECTS, END).subarray(0, 120),
  ),
  file(
    'pdf of ASCII alone, cut short, after white space',
    /PDF document that is damaged/,
    bytes('\r\n %PDF-1.4\n', OBJECTS),
  ),
  file('pdf of 3 MB', 'application/pdf', () => bytes('%PDF-1.5\n', OBJECTS, noise(3_000_000), END)),
  file('pdf after 1,100 bytes of junk', /unrecognised|not UTF-8/, () => bytes(noise(1100, 77), pdf())),
  file('pdf truncated', /PDF/, () => pdf().subarray(0, 300)),
  file('pdf without startxref', /PDF/, bytes('%PDF-1.7\n%\xe2\xe3\n', OBJECTS, STREAM, '%%EOF')),
  file(
    'pdf whose startxref is outside, which readers mend',
    'application/pdf',
    bytes('%PDF-1.7\n%\xe2\xe3\n', OBJECTS, 'startxref\n99999\n%%EOF'),
  ),
  file('pdf without objects', /PDF/, bytes('%PDF-1.7\n%\xe2\xe3\nstartxref\n1\n%%EOF')),
  file('pdf with 5,000 bytes after it', 'application/pdf', () => bytes(pdf(), noise(5_000))),
  file(
    'text that begins as a PDF',
    /PDF document that is damaged/,
    bytes('%PDF-1.4 is how these files begin, and %%EOF how they end.'),
  ),
  file('text with words of a PDF', 'text/plain', bytes('x %PDF-1 objects trailer')),
  file(
    'text with lines of a PDF',
    'text/plain',
    bytes('On %PDF-1.4:\nsee 1 0 objects\nor a 1 0 obj\ntrailer of it'),
  ),
  file(
    'json with words of a PDF',
    'application/json',
    bytes('{"a":"%PDF-1.4 1 0 obj startxref 1 trailer<<"}'),
  ),
  file('text about PDF', 'text/plain', bytes('Files that begin with %PDF-1.4 end with %%EOF.')),
  file('mail that quotes a whole PDF', 'application/pdf', bytes('Look at this:\n%PDF-1.4\n', OBJECTS, END)),
]

const docxOf = (comment = ''): Buffer => office('word/document.xml', DOCX, {}, { comment })

/** A PDF with an attachment that is not compressed. */
function attached(attachment: Uint8Array, { eol = '\n', before = '', behind = '' } = {}): Buffer {
  const head = `5 0 obj\n<< /Type /EmbeddedFile /Length ${attachment.length} >>\nstream${eol}`
  return bytes(
    '%PDF-1.7\n%\xe2\xe3\n',
    OBJECTS,
    head,
    before,
    attachment,
    behind,
    `${eol}endstream\nendobj\n`,
    END,
  )
}

/**
 * Zip readers look for the end of an archive near the end of a file: here it must be that of an attachment.
 */
const PDF_ARCHIVES: readonly CorpusFile[] = [
  file('polyglot: pdf with an archive whose comment ends as a PDF', /PDF document that is also a ZIP/, () =>
    bytes(pdf(), docxOf('startxref\n120\n%%EOF')),
  ),
  file(
    'polyglot: pdf with an archive whose comment has a whole trailer',
    /PDF document that is also a ZIP/,
    () => bytes(pdf(), docxOf(END)),
  ),
  file(
    'polyglot: pdf with an archive whose comment is as long as it may be',
    /PDF document that is also a ZIP/,
    () => bytes(pdf(), docxOf(END.padStart(65_535))),
  ),
  file(
    'polyglot: pdf with a trailer after an archive without a comment',
    /PDF document that is also a ZIP/,
    () => bytes(pdf(), docxOf(), END),
  ),
  file(
    'polyglot: pdf with an archive that claims to have been a stream',
    /PDF document that is also a ZIP/,
    () => bytes(pdf(), docxOf(), '\nendstream\nendobj\n', END),
  ),
  file(
    'polyglot: pdf with an attachment whose comment reaches to the end',
    /PDF document that is also a ZIP/,
    () => {
      const behind = `\nendstream\nendobj\n${END}`
      return attached(docxOf('x'.repeat(behind.length)).subarray(0, -behind.length))
    },
  ),
  file('polyglot: pdf with an archive inside a longer stream', /PDF document that is also a ZIP/, () =>
    attached(docxOf(), { before: 'x' }),
  ),
  file('polyglot: pdf with an attachment, and more after it', /PDF document that is also a ZIP/, () =>
    attached(docxOf(), { behind: 'more' }),
  ),
  file('polyglot: pdf with an empty archive after it', /PDF document that is also a ZIP/, () =>
    bytes(pdf(), 'PK\x05\x06', Buffer.alloc(18), END),
  ),
  file('polyglot: pdf with an archive of 64 bits after it', /PDF document that is also a ZIP/, () =>
    bytes(pdf(), office('word/document.xml', DOCX, {}, { zip64: true, comment: END })),
  ),
  file('pdf with a document attached', 'application/pdf', () => attached(docxOf())),
  file('pdf with a document attached, its lines ended by CR LF', 'application/pdf', () =>
    attached(docxOf('a comment'), { eol: '\r\n' }),
  ),
  file('pdf with an empty archive attached', 'application/pdf', () =>
    attached(bytes('PK\x05\x06', Buffer.alloc(18))),
  ),
  file('pdf with a document attached in an update', 'application/pdf', () =>
    bytes(pdf(), attached(docxOf()).subarray(11)),
  ),
  file('pdf with a document attached far from its end', 'application/pdf', () =>
    bytes(attached(docxOf(), { behind: 'more' }), noise(70_000), END),
  ),
  file('pdf with the mark of an archive by chance', 'application/pdf', () =>
    attached(bytes('PK\x05\x06', noise(500))),
  ),
]

/** Files that are two things at once: what stands first must be whole, or nothing is. */
const POLYGLOTS: readonly CorpusFile[] = [
  file('polyglot: pdf with a document after it', /PDF/, () =>
    bytes(pdf(), noise(2000), office('word/document.xml', DOCX)),
  ),
  file('polyglot: pdf with a small archive after it', /PDF/, () =>
    bytes(pdf(), 'PK\x05\x06', Buffer.alloc(18)),
  ),
  file('polyglot: pdf with a document close after it', /PDF/, () =>
    bytes(pdf(), office('word/document.xml', DOCX)),
  ),
  ...PDF_ARCHIVES,
  file('polyglot: page with a PDF after it', /PDF document that is also an HTML page/, () =>
    bytes('<script>alert(1)</script>', LATIN_PDF),
  ),
  file('polyglot: script with a PDF after it', /PDF document that is also a script/, () =>
    bytes('#!/bin/sh\nexit 0\n', LATIN_PDF),
  ),
  file('polyglot: jpeg that holds a PDF header, and a PDF after it', /JPEG/, bytes(jpeg(), pdf())),
  file('polyglot: jpeg with a whole PDF in its comment', 'image/jpeg', () => {
    const inner = pdf()
    return jpeg(bytes([0xff, 0xfe], (inner.length + 2) >>> 8, (inner.length + 2) & 0xff, inner))
  }),
  file('polyglot: gif with a PDF after it', /GIF/, bytes(gif(), pdf())),
  file('polyglot: executable with a PDF after it', /executable/, bytes('MZ\x90\0', noise(100), pdf())),
  file('polyglot: png, then a document', /PNG/, () => bytes(png(), office('word/document.xml', DOCX))),
  file('polyglot: document with a PDF in its comment', /Office document that is also a PDF/, () =>
    office('word/document.xml', DOCX, {}, { comment: pdf().toString('latin1') }),
  ),
  file('polyglot: HTML that begins as a GIF', 'text/plain', bytes('GIF89a<script>alert(1)</script>')),
  file('polyglot: flac with an MP3 after it is one to its end', 'audio/flac', bytes(flac, frames(3))),
  file(
    'polyglot: zip after text',
    /not UTF-8|unrecognised|NUL/,
    bytes('hello\n', office('word/document.xml', DOCX)),
  ),
]

function tar(): Buffer {
  const head = Buffer.alloc(512)
  head.write('a.txt')
  head.write('ustar\0', 257)
  return bytes(head, Buffer.alloc(1024))
}

function pe(): Buffer {
  const head = Buffer.alloc(400)
  head.write('MZ')
  head.writeUInt32LE(0x80, 0x3c)
  head.write('PE\0\0', 0x80)
  return head
}

const OTHERS: readonly CorpusFile[] = [
  file('elf', /ELF/, bytes('\x7fELF', [2, 1, 1, 0], noise(90))),
  file('windows program', /Windows executable/, pe()),
  file('mach-o', /Mach-O/, bytes([0xcf, 0xfa, 0xed, 0xfe, 7, 0, 0, 1], noise(90))),
  file('mach-o for several processors', /Mach-O/, bytes([0xca, 0xfe, 0xba, 0xbe, 0, 0, 0, 2], noise(90))),
  file('java class', /Java/, bytes([0xca, 0xfe, 0xba, 0xbe, 0, 0, 0, 61], noise(90))),
  file('wasm', /WebAssembly/, bytes('\0asm', [1, 0, 0, 0])),
  file('gzip', /gzip/, gzipSync('hello')),
  file('tar', /tar archive/, tar()),
  file('7z', /7-Zip/, bytes('7z\xbc\xaf\x27\x1c', noise(90))),
  file('rar', /RAR/, bytes('Rar!\x1a\x07\x01\0', noise(90))),
  file('xz', /xz/, bytes('\xfd7zXZ\0', noise(90))),
  file('zstd', /Zstandard/, bytes('\x28\xb5\x2f\xfd', noise(90))),
  file('bzip2', /bzip2/, bytes('BZh91AY&SY', noise(90))),
  file('mp4', /MP4 video/, bytes(u32be(24), 'ftypisom\0\0\x02\0', noise(90))),
  file('mov', /QuickTime/, bytes(u32be(24), 'ftypqt  ', noise(90))),
  file('mov of old', /QuickTime/, bytes(u32be(900), 'moov', noise(90))),
  file('3gp', /3GP/, bytes(u32be(24), 'ftyp3gp4', noise(90))),
  file('webm', /WebM/, bytes([0x1a, 0x45, 0xdf, 0xa3, 0x9f, 0x42, 0x82, 0x84], 'webm', noise(90))),
  file('mkv', /Matroska/, bytes([0x1a, 0x45, 0xdf, 0xa3, 0xa3, 0x42, 0x82, 0x88], 'matroska', noise(90))),
  file('flv', /Flash/, bytes('FLV\x01\x05', noise(90))),
  file('mpeg', /MPEG video/, bytes([0, 0, 1, 0xba], noise(90))),
  file('transport stream', /transport/, () =>
    Buffer.alloc(188 * 5, bytes('G', [0x40, 0, 0x10], Buffer.alloc(184, 0xff))),
  ),
  file('wmv', /Windows Media/, bytes([0x30, 0x26, 0xb2, 0x75, 0x8e, 0x66, 0xcf, 0x11], noise(90))),
  file('sqlite', /SQLite/, bytes('SQLite format 3\0', noise(90))),
  file('parquet', /Parquet/, bytes('PAR1', noise(90), 'PAR1')),
  file('font', /font/, bytes('wOF2', noise(90))),
  file('old word document', /OLE/, bytes([0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1], noise(90))),
  file('raw deflate', /unrecognised|not UTF-8/, () => deflateRawSync(noise(500))),
  file('noise', /unrecognised/, () => noise(5_000, 99)),
  file('one byte that is nothing', /UTF-8|unrecognised/, bytes(0xff)),
  file('zeros', /NUL|unrecognised/, Buffer.alloc(5_000)),
  file('empty', /empty/, bytes()),
  file('riff of another kind', /RIFF file of type/, bytes('RIFF', u32le(40), 'sfbk', noise(36))),
  file('utf-16 little-endian with a mark', /UTF-16/, () => Buffer.from('\ufeffHello, world', 'utf16le')),
  file('utf-16 big-endian with a mark', /UTF-16/, () =>
    Buffer.from('\ufeffHello, world', 'utf16le').swap16(),
  ),
  file('utf-16 little-endian without a mark', /UTF-16/, () =>
    Buffer.from('Hello, world, and more of it', 'utf16le'),
  ),
  file('utf-16 big-endian without a mark', /UTF-16/, () =>
    Buffer.from('Hello, world, and more of it', 'utf16le').swap16(),
  ),
  file('utf-16 of another script', /UTF-16/, () => Buffer.from('\ufeffПривет, мир', 'utf16le')),
  file('utf-32', /UTF-32/, () =>
    bytes([0xff, 0xfe, 0, 0], ...[...'hello'].map((letter) => u32le(letter.charCodeAt(0)))),
  ),
  file('latin-1', /not UTF-8/, bytes('Gr\xfc\xdfe aus K\xf6ln, und noch mehr davon\n')),
  file('latin-1 that begins like a bitmap', /not UTF-8/, bytes('BMW ist f\xfcr M\xfcnchen\n')),
  file('windows-1252 quotes', /not UTF-8/, bytes('He said \x93hello\x94.\n')),
  file('text with a NUL', /NUL/, bytes('hello\0world\n')),
  file('long text with one NUL at the end', /NUL/, () => bytes('hello world\n'.repeat(30_000), 0)),
  file('long text with one wrong byte at the end', /not UTF-8/, () =>
    bytes('hello world\n'.repeat(30_000), 0xe4),
  ),
  file('surrogates in UTF-8', /not UTF-8/, bytes('a\xed\xa0\x80b')),
  file('an overlong slash', /not UTF-8/, bytes('a\xc0\xafb')),
  file('above the last code point', /not UTF-8/, bytes('a\xf4\x90\x80\x80b')),
  file('text cut within a character', /not UTF-8/, () => utf8('héllo wörld ✓').subarray(0, -1)),
]

export const BINARIES: readonly CorpusFile[] = [...PDFS, ...POLYGLOTS, ...OTHERS]
