import t from 'tap'
import { ALL_KINDS, mixedRows } from '../../../bench/mixed/rows.ts'
import { MIXED_KINDS } from '../../../bench/mixed/mix.ts'
import { readMixedOptions } from '../../../bench/mixed/options.ts'
import {
  coresByRole,
  peakBytes,
  processCurves,
  watchProcesses,
  type WatchedLook,
} from '../../../bench/mixed/watch.ts'
import type { MixedResult } from '../../../bench/mixed/load.ts'
import type { LoadResult } from '../../support/load/load-plan.ts'

const latency = { p50: 1, p90: 2, p99: 3, p99_9: 4, max: 5, mean: 1, byPercent: {} }
const one: LoadResult = {
  statuses: { 200: 90 },
  requests: 90,
  requestsWithWarmUp: 100,
  measuredMs: 1_000,
  latency,
  latencyFromSent: latency,
  generatorLate: { p50: 0, p99: 0, max: 0 },
  unsent: 0,
  generatorCores: 0.1,
  failures: [],
  sockets: [],
  rows: [],
  answerBytes: 1,
  sentBytes: 2e6,
}
const result: MixedResult = {
  kinds: { embeddings: one, reads: one, uploads: one, videos: { ...one, statuses: { 202: 88, 429: 2 } } },
  failed: 2,
  failures: ['videos: 429 × 2'],
}

t.test('has one row for the whole mix and one for each kind, the latter without CPU', async (t) => {
  const rows = mixedRows('mixed', [{ result, cpuS: 0.4, peakBytes: 5e8 }], { ratePerS: 200, connections: 48 })
  t.same(
    rows.map((row) => row.case),
    [ALL_KINDS, ...MIXED_KINDS],
  )
  const [whole, embeddings, , uploads, videos] = rows
  t.equal(whole?.cpu_us_per_request.median, 1_000)
  t.equal(whole?.requests_per_second.median, 360)
  t.equal(whole?.rss_mb?.median, 500)
  t.same([whole?.failed, whole?.failures], [2, ['videos: 429 × 2']])
  t.ok(Number.isNaN(embeddings?.cpu_us_per_request.median))
  t.equal(embeddings?.offered_per_second, 180)
  t.equal(embeddings?.latency_us?.p99_9.median, 4_000)
  t.equal(uploads?.mb_per_second?.median, 2)
  t.equal(videos?.failed, 2)
})

const look = (atS: number, front: number, postgres: number): WatchedLook => ({
  atS,
  memory: new Map([
    ['sluice front', front * 1e6],
    ['postgres', postgres * 1e6],
  ]),
  cpu: new Map([
    ['sluice front', atS / 2],
    ['postgres', atS / 4],
  ]),
})

t.test('has a curve of memory and cores over time for each kind of process', async (t) => {
  const looks = [look(0, 100, 50), look(2, 120, 60), look(4, 110, 70)]
  t.equal(peakBytes(looks), 180e6)
  t.same(
    [...coresByRole(looks)],
    [
      ['sluice front', 0.5],
      ['postgres', 0.25],
    ],
  )
  const [memory, cpu] = processCurves('mixed', looks)
  t.same(
    memory?.lines.map(({ name, points }) => [name, points.at(-1)]),
    [
      ['all', [4, 180]],
      ['sluice front', [4, 110]],
      ['postgres', [4, 70]],
    ],
  )
  t.same(cpu?.lines[0]?.points, [
    [2, 0.5],
    [4, 0.5],
  ])
})

t.test('an ended process does not count as negative cores; no samples give no figures', async (t) => {
  const looks = [look(0, 1, 1), { ...look(2, 1, 1), cpu: new Map() }]
  t.same(processCurves('mixed', looks)[1]?.lines[0]?.points, [[2, 0]])
  t.equal(coresByRole([]).size, 0)
  const watching = watchProcesses(process.pid, 1_000)
  t.ok(peakBytes(watching.stop()) > 1e6)
})

t.test('refuses contradictory options in one line', async (t) => {
  t.match(readMixedOptions(['--share', '0']), /--share takes a whole number from 1 to 100/)
  t.match(readMixedOptions(['--rate', '-1']), /rate/)
  t.match(readMixedOptions([]), { ratePerS: 0, share: 50, fronts: 1 })
})
