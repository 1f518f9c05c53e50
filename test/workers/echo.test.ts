import fc from 'fast-check'
import t from 'tap'
import { ECHO_UNITS_MAX } from '../../src/schemas/inference/inference-limits.ts'
import { ECHO_TOKENS_MAX, echo } from '../../src/workers/echo.ts'

type Asked = Parameters<typeof echo>[0]

const of = (last: string, more: Partial<Asked> = {}) =>
  echo({
    ...{ last, isLastCut: false, stops: [], tokensMax: null, choices: 1 },
    ...{ isReasoning: false, isCall: false, isJson: false, unread: null },
    ...more,
  })

t.test('words keep the space before them, and the last one also the space after it', async (t) => {
  const text = fc.string({ unit: fc.constantFrom('a', 'b', ' ', '\n', '\u3000', '😀') })
  fc.assert(
    fc.property(text, (last) => {
      const { pieces } = of(last)
      const isOfWords = pieces.every((piece, nth) =>
        (nth === pieces.length - 1 ? /^\s*\S+\s*$/ : /^\s*\S+$/).test(piece),
      )
      return isOfWords && pieces.join('') === (last.trim() === '' ? '' : last)
    }),
    { numRuns: 400 },
  )
  t.end()
})

t.test('a text without words has no pieces, and one with the most words has one for each', async (t) => {
  t.same(of(' '.repeat(ECHO_UNITS_MAX)).pieces, [])
  const { pieces, finish } = of('a '.repeat(ECHO_UNITS_MAX / 2))
  t.equal(pieces.length, Math.min(ECHO_TOKENS_MAX, ECHO_UNITS_MAX / 2))
  t.equal(finish, 'stop')
})

t.test('JSON with the text is also sent by words, and is whole unless tokens or a stop end it', async (t) => {
  const last = 'a "b"\n c😀 '
  const { pieces, finish } = of(last, { isJson: true, isLastCut: true })
  t.same([JSON.parse(pieces.join('')), finish], [{ text: last }, 'stop'])
  t.equal(pieces.length, 4)
  t.equal(of(last, { isJson: true, tokensMax: 2 }).finish, 'length')
  t.equal(
    of(last, { isJson: true, stops: ['"}'] })
      .pieces.join('')
      .at(-1),
    ' ',
  )
  t.same(of('', { isJson: true }).pieces, ['{"text":""}'])
})
