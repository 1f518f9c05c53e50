import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import t from 'tap'
import { ROOT } from '../support/source.ts'

interface TestPool {
  readonly runPool: (files: readonly string[], run: (path: string) => Promise<void>) => Promise<void>
}

interface TestTimes {
  readonly longestFirst: (jobs: readonly { path: string; seconds: number }[]) => readonly string[]
}

interface Job {
  readonly path: string
  readonly files: readonly string[]
  readonly isInTurn?: boolean
}

interface TestGroups {
  readonly jobsOf: (
    files: readonly string[],
    kept: Readonly<Record<string, number>>,
    read: (path: string) => string,
  ) => readonly Job[]
}

const { jobsOf } = (await imported('test-groups')) as TestGroups
const { runPool } = (await imported('test-pool')) as TestPool
const { longestFirst } = (await imported('test-times')) as TestTimes

t.test('the jobs that take longest come first', async (t) => {
  const jobs = [
    { path: 'a', seconds: 1 },
    { path: 'b', seconds: 5 },
    { path: 'c', seconds: 50 },
  ]
  t.same(longestFirst(jobs), ['c', 'b', 'a'])
})

t.test('runs each file once, and a mostly waiting file alongside ones that use the CPU', async (t) => {
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

t.test('short files share a process, and each file is in one job', async (t) => {
  const short = Array.from({ length: 40 }, (_, nth) => `dist/test/schemas/s${nth}.test.js`)
  const [long, middle, env, fleet, store] = [
    'dist/test/schemas/long.test.js',
    'dist/test/schemas/middle.test.js',
    'dist/test/server/store/env.test.js',
    'dist/test/dashboard/fleet.test.js',
    'dist/test/server/store/rows.test.js',
  ] as const
  const files = [...short, long, middle, env, fleet, store]
  const kept = { 'test/schemas/long.test.ts': 13, 'test/schemas/middle.test.ts': 12 }
  const jobs = jobsOf(files, kept, (path) => (path === env ? "process.env['A'] = 'b'" : ''))
  t.same(jobs.flatMap((job) => job.files).sort(), [...files].sort())
  const alone = jobs.filter((job) => job.files.length === 1).map(({ path }) => path)
  t.same(alone, [long, env, fleet])
  t.ok(jobs.every((job) => job.files.length <= 24))
  t.ok(jobs.some((job) => job.files.includes(middle) && job.files.length > 1))
  t.equal(new Set(jobs.map(({ path }) => path)).size, jobs.length)
})

t.test('files that share a node run in turn in one process, and dashboard files in another', async (t) => {
  const of = (folder: string) => ['a', 'b'].map((name) => `dist/test/${folder}/${name}.test.js`)
  const [pages, verbs, others] = [
    of('dashboard'),
    of('server/cli'),
    Array.from({ length: 40 }, (_, nth) => `dist/test/schemas/s${nth}.test.js`),
  ]
  const read = (path: string): string =>
    pages.includes(path) ? 'openDashboard(t)' : verbs.includes(path) ? 'support/nodes/shared-node' : ''
  const turns = jobsOf([...pages, ...verbs, ...others], {}, read).filter(({ isInTurn }) => isInTurn)
  t.same(
    turns.map(({ files }) => files),
    [pages, verbs],
  )
})

t.test('a few named files each run alone', async (t) => {
  const files = ['a', 'b'].map((name) => `dist/test/schemas/${name}.test.js`)
  t.same(
    jobsOf(files, {}, () => '').map(({ path }) => path),
    files,
  )
})

t.test('a pool without files ends', async () => {
  await runPool([], async () => {})
})

function imported(name: string): Promise<unknown> {
  return import(pathToFileURL(join(ROOT, `tools/${name}.mjs`)).href)
}
