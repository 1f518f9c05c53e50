import { bytes, file, noise, u16le, u32le, type CorpusFile } from './bytes.ts'
import { NAMED } from './office-names.ts'
import {
  docx,
  DOCX,
  docxWith,
  entry,
  FORMATS,
  office,
  override,
  PPTX,
  RELS,
  types,
  TYPES_NAME,
  XLSX,
} from './office-writer.ts'
import { endRecords, zip, type EntryOptions } from './zip-writer.ts'

const MEBIBYTE = 1_048_576

const declares = (...inner: string[]): Buffer => docxWith([], { types: types(...inner) })
const MAIN = override('word/document.xml', `${DOCX}.main+xml`)

const VBA_BIN = '<Default Extension="bin" ContentType="application/vnd.ms-office.vbaProject"/>'
const XLSB_BIN =
  '<Default Extension="bin" ContentType="application/vnd.ms-excel.sheet.binary.macroEnabled.main"/>'
const xlsxOf = (declared: string, extra: readonly EntryOptions[] = []): Buffer =>
  zip([entry(TYPES_NAME, declared), RELS, entry('xl/workbook.xml', '<w/>'), ...extra])
const VBA = override('xl/vbaProject.bin', 'application/vnd.ms-office.vbaProject')
const WORKBOOK = override('xl/workbook.xml', `${XLSX}.main+xml`)
const STYLES = override('xl/styles.xml', `${FORMATS}spreadsheetml.styles+xml`)
const BY_EXTENSION = `<?xml version="1.0"?><Types><Default Extension="xml" ContentType="${XLSX}.main+xml"/>
  <Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/></Types>`

/** Types as OPC reads them: of an extension where a part has none of its own, and of parts that are there. */
const TYPED: readonly CorpusFile[] = [
  file(
    'xlsx of SheetJS, with the type of another format for an extension',
    XLSX,
    xlsxOf(types(XLSB_BIN, VBA_BIN, WORKBOOK)),
  ),
  file('xlsx with an unused type for macros', XLSX, xlsxOf(types(VBA, WORKBOOK))),
  file('xlsx typed by its extension', XLSX, xlsxOf(BY_EXTENSION)),
  file(
    'xlsx typed by its extension, its styles by name',
    XLSX,
    xlsxOf(BY_EXTENSION.replace('</Types>', `${STYLES}</Types>`), [entry('xl/styles.xml', '<s/>')]),
  ),
  file(
    'xlsx whose printer settings have a type of their own',
    XLSX,
    xlsxOf(types(VBA_BIN, override('xl/p.bin', 'application/x'), WORKBOOK), [
      { name: 'xl/p.bin', data: noise(9) },
    ]),
  ),
]

/** Bytes after the end record, over which readers step back. */
const BEHIND: readonly CorpusFile[] = [
  file('pptx that ends in a newline', PPTX, bytes(office('ppt/presentation.xml', PPTX), '\n')),
  file('docx with CR LF after it', DOCX, bytes(docx(), '\r\n')),
  file('docx with 65,535 zeros after it', DOCX, () => bytes(docx(), Buffer.alloc(65_535))),
  file('docx with 65,536 zeros after it', /Office/, () => bytes(docx(), Buffer.alloc(65_536))),
  file('docx, then another archive', /Office document that is also a ZIP/, () => bytes(docx(), docx())),
  file(
    'docx with a page in its comment',
    /Office document that is also an HTML page/,
    docx({}, { comment: '<html><script>alert(1)</script>' }),
  ),
]

const WHOLE: readonly CorpusFile[] = [
  file('docx', DOCX, docx()),
  file('xlsx', XLSX, office('xl/workbook.xml', XLSX)),
  file('pptx', PPTX, office('ppt/presentation.xml', PPTX)),
  file(
    'docx with content types last',
    DOCX,
    docxWith([entry('word/styles.xml', '<s/>')], { typesLast: true }),
  ),
  file('docx stored, not deflated', DOCX, docx({ isStored: true })),
  file('docx with signed descriptors', DOCX, docx({ descriptor: 'signed' })),
  file('docx with bare descriptors', DOCX, docx({ descriptor: 'bare' })),
  file('docx with signed 64-bit descriptors', DOCX, docx({ descriptor: 'signed64' })),
  file('docx with bare 64-bit descriptors', DOCX, docx({ descriptor: 'bare64' })),
  file('docx stored with descriptors', DOCX, docx({ isStored: true, descriptor: 'signed' })),
  file('xlsx with descriptors', XLSX, office('xl/workbook.xml', XLSX, { descriptor: 'signed' })),
  file('docx of zip64', DOCX, docx({ zip64: true }, { zip64: true })),
  file(
    'docx of zip64 with descriptors',
    DOCX,
    docx({ zip64: true, descriptor: 'signed64' }, { zip64: true }),
  ),
  file('docx with a comment', DOCX, docx({}, { comment: 'PK\x05\x06 made by hand' })),
  file(
    'docx with room in extra fields',
    DOCX,
    docx({ extra: bytes(u16le(0xa220), u16le(300), Buffer.alloc(300)) }),
  ),
  file('docx whose directory has another order', DOCX, docx({}, { order: (lines) => lines.toReversed() })),
  file('docx with a large picture', DOCX, () =>
    docxWith([{ name: 'word/media/a.png', data: noise(700_000), isStored: true }]),
  ),
  file('docx holding a zip that is stored', DOCX, () =>
    docxWith([{ name: 'word/embeddings/a.xlsx', data: docx(), isStored: true }]),
  ),
  file('docx holding a stored zip, with descriptors', DOCX, () =>
    docxWith([
      {
        name: 'word/embeddings/a.xlsx',
        data: docx({ descriptor: 'signed' }),
        isStored: true,
        descriptor: 'signed',
      },
    ]),
  ),
  file('docx with 9,000 parts', DOCX, () =>
    docxWith(Array.from({ length: 9_000 }, (_, nth) => entry(`word/p${nth}.xml`, '<p/>'))),
  ),
  file('docx with a folder entry', DOCX, docxWith([{ name: 'word/', data: bytes(), isStored: true }])),
  file(
    'docx with content types in UTF-16',
    DOCX,
    zip([
      { name: TYPES_NAME, data: Buffer.from(`\ufeff${types(MAIN)}`, 'utf16le') },
      RELS,
      entry('word/document.xml', '<w/>'),
    ]),
  ),
  file(
    'docx with an embedded workbook that has macros',
    DOCX,
    declares(
      '<Default Extension="xlsm" ContentType="application/vnd.ms-excel.sheet.macroEnabled.12"/>',
      MAIN,
    ),
  ),
  file(
    'docx with a prefix and single quotes in its types',
    DOCX,
    declares(`<ct:Override ContentType='${DOCX}.main+xml' PartName='/word/document.xml'/>`),
  ),
]

const OTHER: readonly CorpusFile[] = [
  file('plain zip', /ZIP archive/, zip([entry('a.txt', 'hello')])),
  file(
    'plain zip with a Word path',
    /ZIP archive/,
    zip([entry('word/notes.txt', 'hello'), entry('word/document.xml', '<w/>')]),
  ),
  file('empty zip', /ZIP archive/, endRecords(0, 0, 0)),
  file(
    'epub',
    /ZIP archive/,
    zip([{ name: 'mimetype', data: bytes('application/epub+zip'), isStored: true }, entry('a.html', '<p>')]),
  ),
  file(
    'odt',
    /ZIP archive/,
    zip([{ name: 'mimetype', data: bytes('application/vnd.oasis.opendocument.text'), isStored: true }]),
  ),
  file('jar', /ZIP archive/, zip([entry('META-INF/MANIFEST.MF', 'Manifest-Version: 1.0\n')])),
  file(
    'content types without an office type',
    /ZIP archive/,
    declares('<Override PartName="/3d.model" ContentType="application/3mf"/>'),
  ),
  file('content types in a comment only', /ZIP archive/, declares(`<!--${MAIN}-->`)),
  file(
    'content types naming a part that is not there',
    /ZIP archive/,
    declares(override('word/missing.xml', `${DOCX}.main+xml`)),
  ),
  file(
    'docm',
    /macros/,
    declares(override('word/document.xml', 'application/vnd.ms-word.document.macroEnabled.main+xml')),
  ),
  file(
    'xlsm',
    /macros/,
    declares(override('word/document.xml', 'application/vnd.ms-excel.sheet.macroEnabled.main+xml')),
  ),
  file(
    'xlsb',
    /macros/,
    declares(override('word/document.xml', 'application/vnd.ms-excel.sheet.binary.macroEnabled.main')),
  ),
  file(
    'docx with a project of macros',
    /macros/,
    docxWith([{ name: 'word/vbaProject.bin', data: noise(90) }], {
      types: types(MAIN, override('word/vbaProject.bin', 'application/vnd.ms-office.vbaProject')),
    }),
  ),
  file(
    'docx with a project of macros by its extension',
    /macros/,
    docxWith([{ name: 'word/Any.BIN', data: noise(90) }], { types: types(MAIN, VBA_BIN) }),
  ),
  file(
    'docx with a sheet of macros',
    /macros/,
    docxWith([entry('word/m.xml', '<m/>')], {
      types: types(MAIN, override('word/m.xml', 'application/vnd.ms-excel.macrosheet+xml')),
    }),
  ),
  file(
    'docx that is a Java archive',
    /another archive/,
    docxWith([entry('META-INF/MANIFEST.MF', 'Main-Class: A\n')]),
  ),
  file(
    'dotx',
    /template/,
    declares(override('word/document.xml', `${FORMATS}wordprocessingml.template.main+xml`)),
  ),
  file(
    'ppsx',
    /slide show/,
    declares(override('word/document.xml', `${FORMATS}presentationml.slideshow.main+xml`)),
  ),
  file('docx and xlsx at once', /several kinds/, declares(MAIN, override('_rels/.rels', `${XLSX}.main+xml`))),
  file('docx whose entries are encrypted', /encrypted/, docx({ flags: 1 })),
  file(
    'docx encrypted by Office',
    /OLE/,
    bytes([0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1], noise(900)),
  ),
]

/** The end record says another size of the directory than it has. */
function wrongEnd(): Buffer {
  const whole = docx()
  whole.writeUInt32LE(whole.readUInt32LE(whole.length - 10) - 1, whole.length - 10)
  return whole
}

const DAMAGED: readonly CorpusFile[] = [
  file('docx whose end record has a wrong size', /Office/, wrongEnd),
  file('docx truncated in the directory', /Office/, () => docx().subarray(0, -40)),
  file('docx truncated in an entry', /Office/, () => docx().subarray(0, 330)),
  file('docx without its end record', /Office/, () => docx().subarray(0, -22)),
  file('docx with junk after it', DOCX, bytes(docx(), 'junk')),
  file('docx with a program in front', /unrecognised|executable/, () =>
    bytes('MZ\x90\0', noise(200), docx()),
  ),
  file('docx with junk before the directory', /Office/, docx({}, { gap: noise(40) })),
  file(
    'docx whose directory leaves an entry out',
    /Office/,
    docx({}, { order: (lines) => lines.slice(0, 2) }),
  ),
  file(
    'docx whose directory names an entry instead of another',
    /Office/,
    docx({}, { order: (lines) => [...lines.slice(0, 2), ...lines.slice(0, 1)] }),
  ),
  file(
    'docx whose directory names an entry twice',
    /Office/,
    docx({}, { order: (lines) => [...lines, ...lines.slice(0, 1)] }),
  ),
  file(
    'docx whose directory gives another name',
    /Office/,
    docx(
      {},
      {
        order: (lines) =>
          lines.map((line) =>
            Buffer.from(line.toString('latin1').replace('word/document', 'work/document'), 'latin1'),
          ),
      },
    ),
  ),
  file(
    'docx with content types twice',
    /Office/,
    docxWith([entry(TYPES_NAME, types(override('word/document.xml', `${XLSX}.main+xml`)))]),
  ),
  file('docx whose content types are not deflate', /cannot be read/, () => {
    const whole = docx()
    whole.fill(0xff, 49, 60)
    return whole
  }),
]

/** Entries that only the directory knows. */
function crowdedDirectory(count: number): Buffer {
  const first = zip([entry('a.txt', 'hello')])
  const local = first.subarray(0, first.indexOf('PK\x01\x02'))
  const line = first.subarray(local.length, first.indexOf('PK\x05\x06'))
  const directory = Buffer.alloc(line.length * count, line)
  return bytes(local, directory, endRecords(count, directory.length, local.length, { zip64: true }))
}

/** Entries of 30 bytes and a name each, one after the other. */
function crowdedEntries(count: number): Buffer {
  const local = bytes(
    'PK\x03\x04',
    u16le(20),
    u16le(0),
    u16le(0),
    u32le(0),
    u32le(0),
    u32le(0),
    u32le(0),
    u16le(1),
    u16le(0),
    'a',
  )
  return Buffer.alloc(local.length * count, local)
}

const BOMBS: readonly CorpusFile[] = [
  file('bomb: 40 parts of 900 KB of zeros', /times its size/, () =>
    docxWith(Array.from({ length: 40 }, (_, nth) => ({ name: `p${nth}`, data: Buffer.alloc(900_000) }))),
  ),
  file('bomb: 50 MB of zeros in a docx', /times its size/, () =>
    docxWith([{ name: 'word/media/zeros.bin', data: Buffer.alloc(50 * MEBIBYTE) }]),
  ),
  file('bomb: 50 MB of zeros next to a large picture', /times its size/, () =>
    docxWith([
      { name: 'word/media/zeros.bin', data: Buffer.alloc(50 * MEBIBYTE), descriptor: 'signed' },
      { name: 'word/media/a.png', data: noise(MEBIBYTE), isStored: true },
    ]),
  ),
  file('bomb: content types of 30 MB', /times its size/, () =>
    docxWith([], { types: types(MAIN, ' '.repeat(30 * MEBIBYTE)) }),
  ),
  file('bomb: content types of 30 MB next to a large picture', /times its size|cannot be read/, () =>
    docxWith([{ name: 'a', data: noise(MEBIBYTE) }], { types: types(MAIN, ' '.repeat(30 * MEBIBYTE)) }),
  ),
  file('content types that unpack to more than 1 MiB', /cannot be read/, () =>
    docxWith([], {
      types: types(
        MAIN,
        '<Default Extension="a" ContentType="b"/>'.repeat(26_000),
        noise(90_000).toString('hex'),
      ),
    }),
  ),
  file('content types packed to 200 KB', /cannot be read/, () =>
    docxWith([], { types: types(MAIN, noise(200_000).toString('hex')) }),
  ),
  file(
    'bomb: a directory that claims 4 GB',
    /times its size/,
    docxWith([{ name: 'a', data: bytes('x'), claimsPlainBytes: 0xfffffff0 }]),
  ),
  file('bomb: a million lines in the directory', /ZIP archive/, () => crowdedDirectory(1_000_000)),
  file('bomb: a million entries', /10000 entries/, () => crowdedEntries(1_000_000)),
  file('bomb: 10,001 entries of a document', /10000 entries/, () =>
    docxWith(Array.from({ length: 9_999 }, (_, nth) => entry(`p${nth}`, ''))),
  ),
  file('bomb: a directory above 1 MiB', /1 MiB/, () =>
    docxWith(Array.from({ length: 9_000 }, (_, nth) => entry(`word/${'p'.repeat(90)}${nth}.xml`, ''))),
  ),
]

export const OFFICE: readonly CorpusFile[] = [
  ...WHOLE,
  ...TYPED,
  ...NAMED,
  ...BEHIND,
  ...OTHER,
  ...DAMAGED,
  ...BOMBS,
]
