import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import t from 'tap'
import { ROOT } from '../support/source.ts'

interface TestFiles {
  readonly compiledOf: (name: string) => readonly string[]
  readonly kindOf: (compiled: string) => string
}

const { compiledOf, kindOf } = (await import(
  pathToFileURL(join(ROOT, 'tools/test-files.mjs')).href
)) as TestFiles
const cwd = process.cwd()
process.chdir(ROOT)
t.teardown(() => process.chdir(cwd))

t.test('a test is named by its source, or by its compiled file', async (t) => {
  for (const name of [
    'test/tools/test-files.test.ts',
    './test/tools/test-files.test.ts',
    'dist/test/tools/test-files.test.js',
  ])
    t.same(compiledOf(name), ['dist/test/tools/test-files.test.js'], name)
})

t.test('naming a folder selects all tests in it', async (t) => {
  const found = compiledOf('test/tools/')
  t.ok(found.includes('dist/test/tools/tap-summary.test.js'))
  t.ok(found.every((path) => path.startsWith('dist/test/tools/')))
})

t.test('the error for an unknown test name lists similar names', async (t) => {
  t.throws(() => compiledOf('test/test-files.test.ts'), {
    message: /no test file test\/test-files\.test\.ts; near: .*test\/tools\/test-files\.test\.ts/,
  })
  t.throws(() => compiledOf('test/nowhere'), { message: 'there is no test file test/nowhere' })
})

t.test('the folder of a test decides whether `npm test` runs it', async (t) => {
  t.equal(kindOf('dist/test/prove/money/limits.test.js'), 'proof')
  t.equal(kindOf('dist/test/tools/install.test.js'), 'apparatus')
  t.equal(kindOf('dist/test/server/vault/vaults.test.js'), 'behaviour')
})
