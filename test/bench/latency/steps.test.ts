import t from 'tap'
import { createServer, type Server, type ServerResponse } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import {
  GENERATOR_LATE_MS_MAX,
  lateNotes,
  latencyCurves,
  latencySteps,
  stepRows,
  type Steps,
} from '../../../bench/latency/steps.ts'
import type { SampleRecord } from '../../../bench/record.ts'
import type { Target } from '../../../bench/target.ts'
import { foundAtPace } from '../../support/load/pace.ts'

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

t.test(
  'a row for the ceiling and one for each share, with the rates that were offered, and a curve for each percentile',
  async (t) => {
    const one = await target(t, (res) => setTimeout(() => res.end('ok'), 5))
    const run = async (durationMs: number) =>
      stepRows(
        'latency',
        await latencySteps([{ of: 'reads', target: one }], { ...settings, durationMs }, () => {}),
      )
    // A generator that stands still for longer than its whole load has sent nothing when that ends.
    const rows = await foundAtPace(settings.durationMs, run, (found) =>
      found.every(({ failed }) => failed === 0),
    )
    t.same(
      rows.map((row) => [row.case, row.pace, row.samples.length]),
      [
        ['reads, the ceiling', 'closed', 1],
        ['reads, 10 % of the ceiling', 'open', 2],
        ['reads, 50 % of the ceiling', 'open', 2],
      ],
    )
    const ceiling = rows[0]?.requests_per_second.median ?? 0
    t.equal(rows[2]?.offered_per_second, Math.round(ceiling / 2))
    t.ok(rows.every(({ failed }) => failed === 0))
    const curves = latencyCurves('latency', rows)
    t.equal(curves.length, 5)
    const offered = rows.slice(1).map((row) => row.offered_per_second)
    for (const { lines } of curves)
      t.same(
        lines.map(({ points }) => points.map(([x]) => x)),
        [offered],
      )
    const medians = rows.slice(1).map((row) => (row.latency_us?.p50.median ?? 0) / 1_000)
    t.same(
      curves[0]?.lines[0]?.points.map(([, ms]) => ms),
      medians,
    )
    t.ok(medians.every((ms) => ms >= 4))
  },
)

t.test('a subject that refuses has failed, and one that ends early too', async (t) => {
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
