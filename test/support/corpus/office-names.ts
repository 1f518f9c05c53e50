import { file, noise, type CorpusFile } from './bytes.ts'
import { entry, FORMATS, override, types, TYPES_NAME, XLSX } from './office-writer.ts'
import { zip } from './zip-writer.ts'

const WORKBOOK = override('xl/workbook.xml', `${XLSX}.main+xml`)
const VBA = override('xl/vbaProject.bin', 'application/vnd.ms-office.vbaProject')
const WINDOWS = [
  entry(TYPES_NAME, types(WORKBOOK, override('xl/styles.xml', `${FORMATS}spreadsheetml.styles+xml`))),
  entry('_rels\\.rels', '<Relationships/>'),
  entry('xl\\workbook.xml', '<w/>'),
  entry('xl\\styles.xml', '<s/>'),
]

/** Names with backslashes, as libraries of Windows write them, and names that lead out of the archive. */
export const NAMED: readonly CorpusFile[] = [
  file('xlsx whose names have backslashes', XLSX, zip(WINDOWS)),
  file('xlsx whose names have backslashes also in its types', XLSX, () =>
    zip([
      entry(TYPES_NAME, types(`<Override PartName="\\xl\\workbook.xml" ContentType="${XLSX}.main+xml"/>`)),
      ...WINDOWS.slice(1),
    ]),
  ),
  file(
    'xlsm whose names have backslashes',
    /macros/,
    zip([
      entry(TYPES_NAME, types(WORKBOOK, VBA)),
      ...WINDOWS.slice(1),
      { name: 'xl\\vbaProject.bin', data: noise(90) },
    ]),
  ),
  file(
    'xlsx that is a Java archive by a name with a backslash',
    /another archive/,
    zip([...WINDOWS, entry('META-INF\\MANIFEST.MF', 'Main-Class: A\n')]),
  ),
  ...['..\\a.xml', 'xl\\..\\..\\a.xml', '../a.xml', 'xl/..\\../a.xml', 'xl/..'].map((name) =>
    file(`xlsx with an entry named ${name}`, /lies outside/, zip([...WINDOWS, entry(name, '<a/>')])),
  ),
  file('xlsx with points in a name', XLSX, zip([...WINDOWS, entry('xl\\a..b\\..c\\d...xml', '<a/>')])),
]
