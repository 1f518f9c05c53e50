import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { ScenarioRecord } from '../../../bench/record.ts'
import { holdings } from '../../../bench/soak/holding.ts'
import { readSoakOptions } from '../../../bench/soak/options.ts'
import { holdsRate } from '../../../bench/soak/rate.ts'
import { plainEnvironment } from '../../support/load/load.ts'
import type { LoadResult } from '../../support/load/load-plan.ts'
import { tree } from '../../support/load/process-cpu.ts'
import { present } from '../../support/must.ts'
import { spawnServer, untilPrinted } from '../../support/nodes/spawned.ts'
import { ROOT } from '../../support/source.ts'

t.setTimeout(600_000)

/** Milliseconds in which two processes start on a busy machine. */
const START_MS_MAX = 60_000

t.test('the load is the documented one unless the command line says otherwise', async (t) => {
  t.match(readSoakOptions([]), { duration: 600, rate: 1_000, dimensions: 1_536, fronts: 1, json: null })
  t.match(readSoakOptions(['--duration', '2']), /^--duration takes a whole number from 5 to /)
})

t.test('a rate is held when almost all requests were answered, successfully and in time', async (t) => {
  const result = (more: Partial<LoadResult>): LoadResult =>
    ({
      statuses: { 200: 500 },
      requests: 500,
      requestsWithWarmUp: 500,
      measuredMs: 5_000,
      generatorCores: 0.1,
      failures: [],
      sockets: [],
      rows: [],
      latency: { p50: 1, p90: 2, p99: 3, p99_9: 4, max: 5, mean: 1 },
      answerBytes: 1,
      ...more,
    }) as LoadResult
  t.ok(holdsRate(result({}), 100))
  t.notOk(holdsRate(result({}), 120), 'not all that was offered')
  t.notOk(holdsRate(result({ statuses: { 200: 499, 503: 1 } }), 100))
  t.notOk(holdsRate(result({ latency: { ...result({}).latency, p99: 900 } }), 100))
})

t.test(
  'reports the memory and descriptors of this process',
  { skip: process.platform !== 'linux' && 'read from /proc' },
  async (t) => {
    const [own] = holdings(process.pid)
    t.ok(
      own !== undefined &&
        own.residentBytes > own.ownBytes &&
        own.ownBytes > 1_000_000 &&
        (own.descriptors ?? 0) > 2,
    )
    t.same(holdings(0), [])
  },
)

/** Starts itself again with the same arguments, and says so from within. */
const TWIN = `
const { spawn } = require('node:child_process')
if (process.env.IS_TWIN) console.log('twin')
else spawn(process.execPath, process.execArgv, { env: { IS_TWIN: '1' }, stdio: ['ignore', 'inherit', 'ignore'] })
setInterval(() => undefined, 1_000)`

t.test(
  'a child between fork and exec, which still has the arguments of its parent, is not a process of the node',
  { skip: process.platform !== 'linux' && 'read from /proc' },
  async (t) => {
    const parent = spawnServer(process.execPath, ['-e', TWIN])
    t.teardown(() => {
      for (const { pid } of tree(present(parent.child.pid))) process.kill(pid, 'SIGKILL')
    })
    await untilPrinted(parent, /twin/, START_MS_MAX)
    const pid = present(parent.child.pid)
    t.equal(tree(pid).length, 2)
    t.same(
      holdings(pid).map(({ pids }) => pids),
      [[pid]],
    )
  },
)

t.test(
  'a short load on a real node is watched from start to end',
  { skip: process.platform !== 'linux' && 'read from /proc' },
  async (t) => {
    const file = join(t.testdir(), 'soak.json')
    const args = [
      '--duration',
      '5',
      '--rate',
      '40',
      '--dimensions',
      '8',
      '--connections',
      '2',
      '--record',
      file,
    ]
    const ran = spawnSync(process.execPath, [join(ROOT, 'dist/bench/soak.js'), ...args], {
      encoding: 'utf8',
      env: plainEnvironment(),
    })
    const record = JSON.parse(readFileSync(file, 'utf8')) as ScenarioRecord
    // A missed figure is the machine's: what counts here is that they were all taken.
    t.ok(ran.status === 0 || ran.status === 1, ran.stderr)
    t.same(
      record.rows.map(({ failed }) => failed),
      [0],
    )
    t.ok(record.checks.some(({ text }) => text.startsWith('event-loop delay of front ')))
    const lines = record.curves[0]?.lines.map(({ name }) => name) ?? []
    t.ok(
      ['sluice supervisor', 'sluice front', 'sluice runner', 'postgres'].every((name) =>
        lines.includes(name),
      ),
      lines.join(),
    )
    t.ok(record.curves.every(({ lines: of }) => of.every(({ points }) => points.length > 3)))
  },
)
