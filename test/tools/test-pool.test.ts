import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import t from 'tap'
import { ROOT } from '../support/source.ts'

interface TestPool {
  readonly runPool: (files: readonly string[], run: (path: string) => Promise<void>) => Promise<void>
}

interface TestTimes {
  readonly longestFirst: (
    files: readonly string[],
    kept: Readonly<Record<string, number>>,
  ) => readonly string[]
}

const { runPool } = (await imported('test-pool')) as TestPool
const { longestFirst } = (await imported('test-times')) as TestTimes

t.test('the files that took longest come first, and those that are not known last', async (t) => {
  const [unknown, short, long] = [
    'dist/test/a.test.js',
    'dist/test/b.test.js',
    'dist/test/c.test.js',
  ] as const
  const kept = { 'test/b.test.ts': 5, 'test/c.test.ts': 50 }
  t.same(longestFirst([unknown, short, long], kept), [long, short, unknown])
})

t.test('each file runs once, and one that waits runs beside those that calculate', async (t) => {
  const files = ['a', 'b', 'c', 'server/supervisor/d', 'prove/e'].map((name) => `dist/test/${name}.test.js`)
  const began: string[] = []
  const ends: (() => void)[] = []
  const pool = runPool(files, (path) => {
    began.push(path)
    return new Promise((resolve) => ends.push(resolve))
  })
  t.same(began.slice(0, 3), ['dist/test/server/supervisor/d.test.js', ...files.slice(0, 2)])
  while (began.length < files.length || ends.length > 0) {
    ends.shift()?.()
    await new Promise((resolve) => setImmediate(resolve))
  }
  await pool
  t.same([...began].sort(), [...files].sort())
})

t.test('a pool without files ends', async () => {
  await runPool([], async () => {})
})

function imported(name: string): Promise<unknown> {
  return import(pathToFileURL(join(ROOT, `tools/${name}.mjs`)).href)
}
