import fc from 'fast-check'
import t from 'tap'
import { isMarkdown, MARKDOWN_HEAD_BYTES } from '../../../../src/workers/content/text/markdown.ts'
import { TextScanner } from '../../../../src/workers/content/text/text.ts'

const DASHES = /^[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$/

/** Looks for tables line by line. */
function hasTable(text: string): boolean {
  const lines = text.split(/\r\n|\r|\n/)
  return lines.some(
    (line, nth) => DASHES.test(line) && cells(line) > 0 && cells(line) === cells(lines[nth - 1] ?? ''),
  )
}

function cells(line: string): number {
  const pipes = line.split('|').length - 1
  if (pipes === 0) return 0
  return pipes + 1 - (/^ {0,3}\|/.test(line) ? 1 : 0) - (/\|[ \t]*$/.test(line) ? 1 : 0)
}

t.test('tables are found exactly where a reading line by line finds them', async (t) => {
  const signs = ['|', '|', 'a', ' ', '\t', '-', '--', ':', '\n', '\r', '\r\n', '\n|', '|\n', 'a|a\n']
  const rows = fc.array(fc.constantFrom(...signs), { maxLength: 16 }).map((parts) => parts.join(''))
  fc.assert(
    fc.property(rows, (text) => isMarkdown(text) === hasTable(text)),
    { numRuns: 40_000 },
  )
  t.pass('no difference')
})

const LINKS = [
  '[a](b)',
  '![a](b)',
  '[a](<b c>)',
  '[a](b(c)d)',
  '[a](b "c d")',
  "[a]( b 'c' )",
  '[\\]](b (c))',
]
const NO_LINKS = [
  '[](b)',
  '[a]()',
  '[a] (b)',
  '[a](b c)',
  '[a](b"c d")',
  '[a|b](c)',
  '[a\n](b)',
  'a[b](c)',
  '\\[a](b)',
]

t.test('a link has a text and a target on one line', async (t) => {
  for (const link of LINKS) t.ok(isMarkdown(`See ${link}.`), link)
  for (const text of NO_LINKS) t.notOk(isMarkdown(text), text)
})

t.test('Markdown after the first MARKDOWN_HEAD_BYTES of a text does not count', async (t) => {
  const kindOf = (text: string): string | null => {
    const scanner = new TextScanner()
    scanner.push(Buffer.from(text))
    return scanner.finish()
  }
  const link = '[a](b)'
  t.equal(kindOf(`${'x '.repeat((MARKDOWN_HEAD_BYTES - link.length) / 2)}${link}`), 'text/markdown')
  t.equal(kindOf(`${'x '.repeat(MARKDOWN_HEAD_BYTES / 2)}${link}`), 'text/plain')
  const heading = '\n\n# ab'
  t.equal(kindOf(`${'x'.repeat(MARKDOWN_HEAD_BYTES - heading.length)}${heading}\ncd`), 'text/plain')
})

const BEGINNINGS =
  '[ [a]( [a](b~ [a](b~" [a](b~\' [a](b~( [a](< [a](b[a]() [a](() [\\ ~` | |- -| -| - :- \t \n~ # #~ = **a __a -\n a\n- 1 :'
    .split(' ')
    .map((beginning) => beginning.replaceAll('~', ' '))

/** A search whose time grows with the square of the length would take hours. */
t.test('a text that only repeats the beginning of a construct is still searched to its end', async (t) => {
  for (const beginning of BEGINNINGS) {
    const many = beginning.repeat(500_000 / beginning.length)
    for (const text of [many, `x[a](b${many}`, `- | -\nx${many}x`]) {
      t.notOk(isMarkdown(text), beginning)
      t.ok(isMarkdown(`${text}\n\n~~~\n`), `${beginning}, and a fence at the end`)
    }
  }
})
