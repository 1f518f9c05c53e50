import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import t from 'tap'
import { plainEnvironment } from '../support/load/load.ts'
import { ROOT } from '../support/source.ts'

/** Runs a test file of this text with tap as compiled tests find it. */
function run(text: string): { readonly status: number | null; readonly stdout: string } {
  const program = ['--input-type=module', '-e', `import t from 'tap'\n${text}`]
  const options = { cwd: join(ROOT, 'dist/test'), encoding: 'utf8', env: plainEnvironment() } as const
  return spawnSync(process.execPath, program, options)
}

t.test('an error thrown by a timer fails the running test, and the next test runs', async (t) => {
  const { status, stdout } = run(`
    t.test('first', () => new Promise(() => setTimeout(() => { throw new Error('thrown') })))
    t.test('second', async (t) => t.pass('it ran'))`)
  t.equal(status, 1)
  t.match(stdout, /^ {4}not ok 1 - thrown$/m)
  t.match(stdout, /^not ok 1 - first/m)
  t.match(stdout, /^ok 2 - second/m)
})

t.test('an unhandled rejection fails the running test, also a nested one', async (t) => {
  const { status, stdout } = run(`
    t.test('outer', async (t) => {
      await t.test('inner', () => new Promise(() => void Promise.reject(new Error('rejected'))))
      t.pass('it goes on')
    })`)
  t.equal(status, 1)
  t.match(stdout, /^ {8}not ok 1 - rejected$/m)
  t.match(stdout, /^ {4}ok 2 - it goes on$/m)
})

t.test('an error after the end of its test fails the file', async (t) => {
  const { status, stdout } = run(`
    t.test('ends', async () => void setTimeout(() => { throw new Error('late') }, 20))
    t.test('waits', () => new Promise((resolve) => setTimeout(resolve, 2_000)))`)
  t.equal(status, 1)
  t.match(stdout, /not ok \d - late$/m)
})

t.test('an error outside of any test fails the file', async (t) => {
  const { status, stdout } = run(`
    t.test('passes', async (t) => t.pass('it ran'))
    setTimeout(() => { throw new Error('outside') }, 100)`)
  t.equal(status, 1)
  t.match(stdout, /not ok \d - outside$/m)
})

t.test('a test that handles such errors itself does not fail', async (t) => {
  const { status } = run(`
    t.test('listens', (t) => {
      process.once('uncaughtException', () => t.end())
      setTimeout(() => { throw new Error('expected') })
    })`)
  t.equal(status, 0)
})
