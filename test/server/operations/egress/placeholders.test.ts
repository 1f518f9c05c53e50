import { deepEqual } from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { templateOf } from '../../../../src/server/operations/egress/placeholders.ts'

const PIECES = fc.array(
  fc.constantFrom(
    '{{secret:a}}',
    '{{secret:api_key}}',
    '%7B%7Bsecret:a%7D%7D',
    '{%7bsecret%3Aa}%7D',
    '%41',
    '%4',
    '%',
    'é',
    'plain',
    '&x=',
    '{{',
    '}}',
    '{{secret:',
    '%7',
  ),
  { maxLength: 40 },
)

t.test(
  'finds the same literals and names in an encoded text as a separate search for each placeholder',
  async (t) => {
    fc.assert(
      fc.property(PIECES, (pieces) => {
        const text = pieces.join('')
        deepEqual(templateOf(text, true), searchedSingly(text))
      }),
      { numRuns: 500 },
    )
    t.pass('all are')
  },
)

t.test('a text that is sixteen times as long takes about sixteen times as long to search', async (t) => {
  const text = (bytes: number): string =>
    '%41'
      .repeat(4)
      .concat('{{secret:a}}')
      .repeat(bytes / 24)
  const [short, long] = [text(24 * 1024), text(16 * 24 * 1024)]
  // Of the square, a long one is as much work as 256 short ones: sixteen times as much as these.
  t.ok(cpuOf(32, () => templateOf(long, true)) < 8 * cpuOf(32 * 16, () => templateOf(short, true)))
})

/**
 * Microseconds of CPU, of which other processes of the machine have no part; counted in ticks, so of many
 * runs together.
 */
function cpuOf(runs: number, work: () => void): number {
  const before = process.cpuUsage()
  for (let nth = 0; nth < runs; nth++) work()
  return process.cpuUsage(before).user
}

/** As `templateOf`, but decodes the whole text before each place again. */
function searchedSingly(text: string): { literals: string[]; names: string[] } | null {
  const escape = /%[0-9a-fA-F]{2}/y
  const characters: { readonly plain: string; readonly at: number }[] = []
  for (let at = 0; at < text.length;) {
    escape.lastIndex = at
    const [found] = escape.exec(text) ?? []
    characters.push({
      plain:
        found === undefined ? (text[at] ?? '') : String.fromCharCode(Number.parseInt(found.slice(1), 16)),
      at,
    })
    at += found?.length ?? 1
  }
  const plain = characters.map((character) => character.plain).join('')
  const place = (index: number): number => characters[index]?.at ?? text.length
  const [literals, names]: [string[], string[]] = [[], []]
  let from = 0
  for (const open of plain.matchAll(/\{\{secret:/g)) {
    if (open.index < from) continue
    const close = plain.indexOf('}}', open.index)
    const name = plain.slice(open.index + open[0].length, close)
    if (close < 0 || !/^[a-z]([a-z0-9_]*[a-z0-9])?$/.test(name) || name.includes('__')) return null
    literals.push(text.slice(place(from), place(open.index)))
    names.push(name)
    from = close + 2
  }
  return { literals: [...literals, text.slice(place(from))], names }
}
