import fc from 'fast-check'
import t from 'tap'
import { AUTOMATA } from '../../../../src/workers/content/automaton.ts'
import { MarkdownScanner } from '../../../../src/workers/content/text/markdown.ts'
import { chunks } from '../../../support/wire/chunks.ts'
import { hasMarkdownLines } from '../../../support/wire/markdown-oracle.ts'

function scan(text: string, sizes: readonly number[]): boolean {
  const scanner = new MarkdownScanner()
  for (const chunk of chunks(Buffer.from(text), sizes)) scanner.push(AUTOMATA.hold(chunk))
  return scanner.finish()
}

const SIZES = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 5 })

function textOf(...signs: readonly string[]): fc.Arbitrary<string> {
  return fc.array(fc.constantFrom(...signs), { maxLength: 16 }).map((parts) => parts.join(''))
}

t.test('nothing but tables is found in lines without links and back-ticks', async (t) => {
  const lines = textOf(
    '#',
    '##',
    '-',
    '*',
    '+',
    '1',
    '23',
    '.',
    ')',
    '~',
    '|',
    ':',
    ' ',
    '  ',
    '\t',
    '\n',
    '\r\n',
    '\r',
    'a',
    'é',
  )
  fc.assert(
    fc.property(lines, SIZES, (text, sizes) => scan(text, sizes) === hasMarkdownLines(text)),
    { numRuns: 40_000 },
  )
  t.pass('no difference')
})

t.test('tables are found exactly where a reading line by line finds them', async (t) => {
  const rows = textOf('|', '|', 'a', ' ', '-', '--', ':', '\n', '\n|', '|\n', 'a|a\n')
  fc.assert(
    fc.property(rows, SIZES, (text, sizes) => scan(text, sizes) === hasMarkdownLines(text)),
    { numRuns: 40_000 },
  )
  t.pass('no difference')
})

t.test('links and fences of back-ticks do not depend on how the text is cut', async (t) => {
  const links = textOf(
    '[',
    ']',
    '(',
    ')',
    '](',
    '[a](b)',
    '!',
    '\\',
    '|',
    '"',
    "'",
    '<',
    '>',
    ' ',
    'a',
    '`',
    '```',
    '\n',
  )
  fc.assert(
    fc.property(links, SIZES, (text, sizes) => scan(text, sizes) === scan(text, [1_000])),
    { numRuns: 20_000 },
  )
  t.pass('no difference')
})
