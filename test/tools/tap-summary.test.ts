import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import t from 'tap'
import { ROOT } from '../support/source.ts'

interface Ended {
  readonly stdout: string
  readonly stderr: string
  readonly code: number | null
  readonly signal: string | null
}
interface Summary {
  readonly passed: number
  readonly failed: number
  readonly text: string
}

const { summaryOf } = (await import(pathToFileURL(join(ROOT, 'tools/tap-summary.mjs')).href)) as {
  summaryOf: (ended: Ended) => Summary
}

const GOOD =
  'TAP version 14\n# Subtest: a\n    ok 1 - x\n    1..1\nok 1 - a\n\n1..1\n# { total: 1, pass: 1 }\n'
const ENDED: Ended = { stdout: GOOD, stderr: 'a warning', code: 0, signal: null }

t.test('a file that ends well counts its assertions and shows nothing', async (t) => {
  t.same(summaryOf(ENDED), { passed: 1, failed: 0, text: '' })
})

t.test('a skipped test is one line', async (t) => {
  const stdout = GOOD.replace('ok 1 - a', 'ok 1 - a # SKIP no nginx here')
  t.same(summaryOf({ ...ENDED, stdout }), { passed: 1, failed: 0, text: 'ok 1 - a # SKIP no nginx here\n' })
})

t.test("a failed assertion is shown with tap's details, without the tests around it", async (t) => {
  const stdout =
    '# Subtest: a\n    ok 1 - fine\n    not ok 2 - sums\n      ---\n      diff: 1\n      ...\n    1..2\nnot ok 1 - a\nok 2 - b\n1..2\n' +
    '# { total: 2, pass: 1, fail: 1 }\n'
  const { text, ...counts } = summaryOf({ ...ENDED, stdout, code: 1 })
  t.same(counts, { passed: 1, failed: 1 })
  t.match(text, /not ok 2 - sums\n +---\n +diff: 1/)
  t.notMatch(text, /fine|ok 2 - b/)
})

for (const [what, change] of [
  ['ends with another code', { code: 3 }],
  ['is killed', { code: null, signal: 'SIGKILL' }],
  ['ends before its plan', { stdout: 'TAP version 14\nok 1 - a\n' }],
  ['says nothing', { stdout: '' }],
] as const) {
  t.test(`a file that ${what} has failed, and its output on stderr is shown`, async (t) => {
    t.match(summaryOf({ ...ENDED, ...change }), { failed: 1, text: /a warning/ })
  })
}
