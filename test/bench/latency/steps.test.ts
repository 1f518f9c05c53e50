import t from 'tap'
import { createServer, type Server, type ServerResponse } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import {
  GENERATOR_LATE_MS_MAX,
  lateNotes,
  latencySteps,
  stepRows,
  type Steps,
} from '../../../bench/latency/steps.ts'
import type { SampleRecord } from '../../../bench/record.ts'
import type { Target } from '../../../bench/target.ts'

t.setTimeout(600_000)

async function target(
  t: { teardown(done: () => void): unknown },
  answer: (res: ServerResponse, nth: number) => void,
): Promise<Target> {
  let count = 0
  const server: Server = createServer((_req, res) => answer(res, ++count)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return {
    name: 'one',
    pid: process.pid,
    port,
    request: { method: 'GET', path: '/', headers: {}, body: '' },
    note: '',
    stop: () => Promise.resolve(),
  }
}

/** One second: even at the lowest rate, one request a second, a cell has one after its head. */
const settings = { connections: 4, durationMs: 1_000, warmUpMs: 100, repeats: 2, shares: [10, 50] }

t.test('a subject that refuses requests has failed, and so has one that exits early', async (t) => {
  // As quick as it can, it would keep two cores busy.
  const refusing = await target(t, (res) => setTimeout(() => res.writeHead(503).end(), 5))
  const dying = await target(t, (res, nth) => (nth > 2 ? res.destroy() : res.end('ok')))
  const all = await latencySteps(
    [
      { of: 'a', target: refusing },
      { of: 'b', target: dying },
    ],
    { ...settings, repeats: 1, shares: [50] },
    () => {},
  )
  for (const row of stepRows('latency', all)) t.ok(row.failed > 0, `${row.case}: ${row.failed}`)
})

const sample: SampleRecord = {
  cpu_us_per_request: 1,
  cpu_s_per_gb: null,
  requests_per_second: 100,
  mb_per_second: null,
  rss_mb: null,
  generator_cores: 0.1,
  failed: 0,
  failures: [],
  latency_us: { p50: 1, p90: 1, p99: 1, p99_9: 1, max: 1 },
}

t.test('marks a cell whose generator was late, and says how late', async (t) => {
  const steps: Steps = {
    of: 'reads',
    subject: 'one',
    connections: 4,
    ceiling: 100,
    ceilingSample: sample,
    cells: new Map([
      [10, [{ sample, generatorLateMs: 1 }]],
      [
        90,
        [
          { sample, generatorLateMs: 1 },
          { sample, generatorLateMs: GENERATOR_LATE_MS_MAX + 2 },
        ],
      ],
    ]),
  }
  t.same(
    stepRows('latency', [steps]).map((row) => row.is_generator_limit),
    [false, false, true],
  )
  t.same(lateNotes([steps]), [
    'one, reads, 90 %: the generator itself was late in 1 of 2 repeats, p99 up to 7.0 ms, which its latency holds',
  ])
})
