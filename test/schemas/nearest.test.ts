import t from 'tap'
import { editDistance, hintOf, NAMES_COMPARED_MAX, nearest, shown } from '../../src/schemas/nearest.ts'

const NAMES = ['acme/embed', 'acme/embed-large', 'acme/chat', 'other/embed', 'openai', 'azure']

t.test(
  'a misspelt name finds the intended names, the nearest first, and an unrelated word finds none',
  async (t) => {
    t.same(nearest('acme/embde', NAMES), ['acme/embed'])
    t.same(nearest('ACME/embed-larg', NAMES), ['acme/embed-large'])
    t.same(nearest('embed', NAMES), ['acme/embed', 'other/embed'])
    t.same(nearest('opnai', NAMES), ['openai'])
    t.same(nearest('chat', NAMES), ['acme/chat'], 'without its author')
    t.same(nearest('embed-lareg', NAMES), ['acme/embed-large'], 'without its author, and misspelt')
    t.same(nearest('wrong/chat', NAMES), ['acme/chat'], 'with another author')
    for (const name of ['', 'z', 'completely/different', 'x'.repeat(10_000)])
      t.same(nearest(name, NAMES), [], name.slice(0, 20))
    t.equal(hintOf(['a', 'b']), ' Nearest: `a`, `b`.')
    t.equal(hintOf([]), '')
  },
)

t.test('swapped, missing and wrong letters are counted up to the bound', async (t) => {
  const cases = [
    ['ab', 'ba', 1],
    ['abc', 'ac', 1],
    ['abc', 'axc', 1],
    ['', 'ab', 2],
    ['abcd', 'abcd', 0],
    ['abcdef', 'ghijkl', 4],
  ] as const
  for (const [one, other, distance] of cases) {
    t.equal(editDistance(one, other, 3), distance, `${one} ${other}`)
  }
})

t.test('a name in a message is short, on one line, and redacted if it may be a key', async (t) => {
  t.equal(shown('a`b\nc\u202e'), '`a b c `')
  t.ok(shown('é'.repeat(500)).length < 110)
  t.equal(shown(`sk-sluice-v1-${'i'.repeat(43)}`), '`[…]`')
})

t.test('compares the first NAMES_COMPARED_MAX names, and reads no further', async (t) => {
  let read = 0
  const names = function* (): Generator<string> {
    for (;;) yield `acme/embed-${read++}`
  }
  t.same(nearest('acme/embed-x', names()).length, 3)
  t.equal(read, NAMES_COMPARED_MAX + 1)
})
