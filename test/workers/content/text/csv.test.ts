import fc from 'fast-check'
import t from 'tap'
import { AUTOMATA } from '../../../../src/workers/content/automaton.ts'
import { CsvScanner } from '../../../../src/workers/content/text/csv.ts'
import { chunks } from '../../../support/wire/chunks.ts'
import { fieldCounts } from '../../../support/wire/csv-oracle.ts'

const DELIMITERS = [',', ';', '\t'] as const

function scan(text: string, sizes: readonly number[] = [4_096]): boolean {
  const scanner = new CsvScanner()
  for (const chunk of chunks(Buffer.from(text), sizes)) scanner.push(AUTOMATA.hold(chunk))
  return scanner.finish()
}

/** The rule of contract C26 over the whole text at once. */
function isCsv(text: string): boolean {
  return DELIMITERS.some((delimiter) => {
    const counts = fieldCounts(text.replace(/(?:\r?\n)+$/, ''), delimiter)
    if (counts === null || counts.length < 2) return false
    return counts.every((count) => count >= 2 && count === counts[0])
  })
}

const SIZES = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 5 })

/** Records of the same number of fields, some of them quoted, changed at up to two places. */
const NEAR_CSV = fc
  .record({
    width: fc.integer({ min: 1, max: 4 }),
    fields: fc.array(
      fc.constantFrom('', 'a', 'bc', '"q"', '"a,b"', '"x""y"', '"1\n2"', '";"', 'é', ' ', '"\t"'),
      { maxLength: 16 },
    ),
    delimiter: fc.constantFrom(...DELIMITERS),
    lineEnd: fc.constantFrom('\n', '\r\n'),
    tail: fc.constantFrom('', '\n', '\r\n', '\n\n', '\r'),
    changes: fc.array(
      fc.tuple(fc.nat(), fc.nat(1), fc.constantFrom('"', ',', ';', '\t', '\n', '\r', 'x', '')),
      { maxLength: 2 },
    ),
  })
  .map(({ width, fields, delimiter, lineEnd, tail, changes }) => {
    const records: string[] = []
    for (let at = 0; at + width <= fields.length; at += width)
      records.push(fields.slice(at, at + width).join(delimiter))
    let text = records.join(lineEnd) + tail
    for (const [place, removed, inserted] of changes) {
      const at = place % (text.length + 1)
      text = text.slice(0, at) + inserted + text.slice(at + removed)
    }
    return text
  })

t.test('a text is CSV exactly when it satisfies RFC 4180 as a whole, however it is split', async (t) => {
  fc.assert(
    fc.property(NEAR_CSV, SIZES, (text, sizes) => scan(text, sizes) === isCsv(text)),
    { numRuns: 8_000 },
  )
  t.pass('no difference')
})

t.test('texts of only quotes, delimiters and line ends are read the same', async (t) => {
  const noise = fc
    .array(fc.constantFrom('"', ',', ';', '\t', '\n', '\r\n', '\r', 'x'), { maxLength: 12 })
    .map((parts) => parts.join(''))
  fc.assert(
    fc.property(noise, SIZES, (text, sizes) => scan(text, sizes) === isCsv(text)),
    { numRuns: 20_000 },
  )
  t.pass('no difference')
})
