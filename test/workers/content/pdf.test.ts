import fc from 'fast-check'
import t from 'tap'
import { AUTOMATA } from '../../../src/workers/content/automaton.ts'
import { Marks } from '../../../src/workers/content/pdf.ts'

const NAMES = ['trailer', 'startxref', '%%EOF', ' obj']
const MARKS = new Marks(NAMES)

/** The places by a regular expression. */
function placesOf(text: string, to: number): readonly number[] {
  return [...text.matchAll(new RegExp(NAMES.join('|'), 'g'))]
    .map(({ index }) => index)
    .filter((at) => at < to)
}

t.test('finds marks at the same places as a regular expression', async (t) => {
  const parts = fc.constantFrom(
    ...NAMES,
    ...NAMES.map((name) => name.slice(0, -1)),
    's',
    't',
    'tr',
    '%',
    ' ',
    'x'.repeat(20),
  )
  fc.assert(
    fc.property(fc.array(parts, { maxLength: 20 }), fc.nat(20), (texts, less) => {
      const text = texts.join('')
      const to = Math.max(0, text.length - less)
      const held = AUTOMATA.hold(Buffer.from(text))
      const found = []
      for (let at = MARKS.placeIn(held, 0, to); at >= 0; at = MARKS.placeIn(held, at + 1, to)) found.push(at)
      return JSON.stringify(found) === JSON.stringify(placesOf(text, to))
    }),
    { numRuns: 5_000 },
  )
  t.pass('no difference')
})
