import t from 'tap'
import {
  OOXML_DIRECTORY_BYTES_MAX,
  OOXML_ENTRIES_MAX,
  OOXML_RATIO_MAX,
} from '../../../../src/schemas/files/file-limits.ts'
import { createContentScanner } from '../../../../src/workers/content/scanner.ts'
import type { ContentVerdict } from '../../../../src/workers/content/verdict.ts'
import { noise } from '../../../support/corpus/bytes.ts'
import { DOCX, docxWith } from '../../../support/corpus/office-writer.ts'
import type { EntryOptions } from '../../../support/corpus/zip-writer.ts'

/** Entries of every document that `docxWith` writes, before further ones. */
const OWN_ENTRIES = 3
const LINE_BYTES = 46

function scan(bytes: Buffer): ContentVerdict {
  const scanner = createContentScanner()
  for (let at = 0; at < bytes.length; at += 65_536) scanner.push(bytes.subarray(at, at + 65_536))
  return scanner.finish(bytes.length)
}

const empty = (name: string): EntryOptions => ({ name, data: Buffer.alloc(0), isStored: true })
const DOCUMENT = { ok: true, mimeType: DOCX }

t.test('a document may have OOXML_ENTRIES_MAX entries, and not one more', async (t) => {
  const withEntries = (count: number) =>
    docxWith(Array.from({ length: count - OWN_ENTRIES }, (_, nth) => empty(`e/${nth}`)))
  t.match(scan(withEntries(OOXML_ENTRIES_MAX)), DOCUMENT)
  t.match(scan(withEntries(OOXML_ENTRIES_MAX + 1)), { ok: false, found: /more than 10000 entries/ })
})

t.test('a document may have a directory of OOXML_DIRECTORY_BYTES_MAX bytes, and no more', async (t) => {
  const own = ['[Content_Types].xml', '_rels/.rels', 'word/document.xml'].reduce(
    (sum, name) => sum + LINE_BYTES + name.length,
    0,
  )
  const withDirectory = (bytes: number): Buffer => {
    const extra: EntryOptions[] = []
    for (let left = bytes - own; left > 0;) {
      // No line may be left that is shorter than its fixed part and one character.
      const line = left <= 2_000 ? left : 1_000
      extra.push(empty(`${extra.length}/`.padEnd(line - LINE_BYTES, 'x')))
      left -= line
    }
    return docxWith(extra)
  }
  t.match(scan(withDirectory(OOXML_DIRECTORY_BYTES_MAX)), DOCUMENT)
  t.match(scan(withDirectory(OOXML_DIRECTORY_BYTES_MAX + 1)), {
    ok: false,
    found: /directory larger than 1 MiB/,
  })
})

t.test('a part may unpack to OOXML_RATIO_MAX times its size, and not one byte more', async (t) => {
  const packedBytes = 100_000
  const part = (claimsPlainBytes: number) =>
    docxWith([{ name: 'a.bin', data: noise(packedBytes), isStored: true, claimsPlainBytes }])
  const [most, more] = [OOXML_RATIO_MAX * packedBytes, OOXML_RATIO_MAX * packedBytes + 1]
  t.match(scan(part(most)), DOCUMENT)
  t.match(scan(part(more)), { ok: false, found: /unpacks to more than 200 times/ })
})
