import fc from 'fast-check'
import t from 'tap'
import { WordSearch } from '../../../src/server/catalogue/word-search.ts'

const LETTERS = fc.constantFrom('a', 'b', 'é', '😀', ' ', '\n')
const texts = fc.array(fc.string({ unit: LETTERS, maxLength: 8 }), { maxLength: 12 })
const words = fc.array(fc.string({ unit: fc.constantFrom('a', 'b', 'é', '😀'), maxLength: 3 }), {
  minLength: 1,
  maxLength: 3,
})

t.test('the texts that have every word are found, as a look into each would find them', async (t) => {
  fc.assert(
    fc.property(texts, words, (all, wanted) => {
      const has = all.flatMap((text, at) => (wanted.every((word) => text.includes(word)) ? [at] : []))
      t.same(new WordSearch(all).find(wanted), has)
    }),
    { numRuns: 300 },
  )
})

t.test('a word does not reach from one text into the next, and an empty one is in all', async (t) => {
  const search = new WordSearch(['ab', '', 'cd'])
  t.same(search.find(['bc']), [])
  t.same(search.find(['']), [0, 1, 2])
  t.same(new WordSearch([]).find(['']), [])
})
