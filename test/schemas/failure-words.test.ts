import t from 'tap'
import { FAILURE_CAUSES } from '../../src/schemas/failure-causes.ts'
import { FAILURES, type FailureName } from '../../src/schemas/failures.ts'
import { failureWords } from '../../src/schemas/failure-words.ts'

t.test(
  'every failure has a cause and a remedy in whole sentences, without unfilled placeholders',
  async (t) => {
    for (const name of Object.keys(FAILURES) as FailureName[]) {
      const { cause = '', remedy = '' } = failureWords(name) ?? {}
      t.equal(cause, FAILURE_CAUSES[name], `${name}: the dashboard and the page of the error agree`)
      for (const text of [cause, remedy]) {
        t.match(text, /^[A-Z`].*[.`)]$/s, `${name}: ${text}`)
        t.notMatch(text, /[{}]/, name)
      }
    }
  },
)

t.test('remedies for the operator do not refer to answer members that only the caller has', async (t) => {
  for (const name of Object.keys(FAILURES)) t.notMatch(failureWords(name)?.remedy, /metadata\.issues/, name)
  t.match(failureWords('body_invalid')?.remedy, /in the list of invalid inputs/)
})

t.test('the words for an exceeded quota cover keys, workspaces and interns, not only files', async (t) => {
  t.match(failureWords('quota_exceeded'), {
    cause: /objects or bytes/,
    remedy: /raise the workspace's quota or the organization's cap\.$/,
    page: null,
  })
})

t.test('an unknown failure name has no cause or remedy', async (t) => {
  for (const name of ['', 'constructor', '__proto__', 'MODEL_UNKNOWN'])
    t.equal(failureWords(name), null, name)
})
