import t from 'tap'
import { FAILURES } from '../../src/schemas/failures.ts'
import { failureWords } from '../../src/schemas/failure-words.ts'

t.test(
  'every failure has a cause and a remedy in whole sentences, without a place that nothing fills',
  async (t) => {
    for (const name of Object.keys(FAILURES)) {
      const { cause = '', remedy = '' } = failureWords(name) ?? {}
      for (const text of [cause, remedy]) {
        t.match(text, /^[A-Z`].*[.`)]$/s, `${name}: ${text}`)
        t.notMatch(text, /[{}]/, name)
      }
    }
  },
)

t.test('what is no name of a failure has no words', async (t) => {
  for (const name of ['', 'constructor', '__proto__', 'MODEL_UNKNOWN'])
    t.equal(failureWords(name), null, name)
})
