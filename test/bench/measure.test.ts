import { isDeepStrictEqual } from 'node:util'
import t from 'tap'
import { interleave, rotated, rowsOf, sampleOf, type Repeat } from '../../bench/measure.ts'
import { eachRatio, ratiosOver } from '../../bench/ratios.ts'
import { spread } from '../../bench/statistics.ts'
import type { LoadResult } from '../support/load/load-plan.ts'
import { rowRecord, sampleRecord } from '../support/load/bench-records.ts'
import { foundAtPace } from '../support/load/pace.ts'
import { bytesServer, OK } from '../support/wire/raw-server.ts'

const repeat = (cpuUs: number): Repeat => ({ loaded: sampleRecord(cpuUs), alone: sampleRecord(cpuUs / 2) })

t.test('the median of an even number of values is the mean of the middle two', async (t) => {
  t.same(spread([4, 1, 3, 2]), { median: 2.5, min: 1, max: 4 })
  t.same(spread([3, 1, 2]), { median: 2, min: 1, max: 3 })
})

t.test('ratios are computed within a repeat, so that a slow machine slows both sides', async (t) => {
  const [over, under] = [[10, 100, 20].map(repeat), [5, 50, 10].map(repeat)]
  t.same(
    eachRatio(over, under, (one) => one.loaded.cpu_us_per_request),
    { median: 2, min: 2, max: 2 },
  )
})

t.test('each repeat begins with a different target', async (t) => {
  t.same(
    [0, 1, 2, 3].map((by) => rotated(['a', 'b', 'c'], by).join('')),
    ['abc', 'bca', 'cab', 'abc'],
  )
})

t.test('each target has a row under load and a row alone', async (t) => {
  const rows = rowsOf(
    'a',
    new Map([
      ['x', [repeat(8)]],
      ['y', [repeat(4)]],
    ]),
    { connections: 48, durationMs: 1, warmUpMs: 0, repeats: 1 },
  )
  t.same(
    rows.map((row) => [row.case, row.subject, row.connections, row.cpu_us_per_request.median]),
    [
      ['48 connections', 'x', 48, 8],
      ['48 connections', 'y', 48, 4],
      ['one connection', 'x', 1, 4],
      ['one connection', 'y', 1, 2],
    ],
  )
})

t.test('a row is compared only with other rows of its case, in figures that both have', async (t) => {
  const rows = [rowRecord('x', [4]), rowRecord('y', [2]), rowRecord('y', [1], { head: { case: 'another' } })]
  t.match(ratiosOver(rows, 'x', ['cpu_us_per_request', 'mb_per_second']), [
    { case: 'b', over: 'x', under: 'y', ratio: { median: 2 } },
  ])
  t.equal(ratiosOver(rows, 'x', ['cpu_us_per_request', 'mb_per_second']).length, 1)
})

const loaded = (more: Partial<LoadResult>): LoadResult =>
  ({
    latency: { p50: 1, p90: 2, p99: 3, p99_9: 4, max: 5, mean: 1, byPercent: { 25: 0.5, 100: 5 } },
    generatorCores: 0.5,
    failures: ['closed'],
    sockets: [],
    rows: [],
    answerBytes: 0,
    ...more,
  }) as LoadResult

t.test('CPU includes the warm-up, the rate does not, and an unexpected status is a failure', async (t) => {
  const result = loaded({
    statuses: { 200: 90, 503: 10 },
    requests: 100,
    requestsWithWarmUp: 200,
    measuredMs: 500,
  })
  t.match(sampleOf(result, { cpuS: 0.1, rssBytes: 5e6, successStatus: 200 }), {
    cpu_us_per_request: 500,
    requests_per_second: 200,
    latency_us: { p50: 1_000, p90: 2_000, p99: 3_000, p99_9: 4_000, max: 5_000 },
    latency_by_percent_us: { 25: 500, 100: 5_000 },
    rss_mb: 5,
    failed: 10,
    failures: ['status 503', 'closed'],
  })
})

t.test('counts requests without an answer as failed, not as throughput', async (t) => {
  const result = loaded({
    statuses: { 0: 60, 200: 40 },
    requests: 100,
    requestsWithWarmUp: 40,
    measuredMs: 1_000,
  })
  t.match(sampleOf(result, { cpuS: 1, rssBytes: null, successStatus: 200 }), {
    requests_per_second: 40,
    failed: 60,
  })
})

t.test('a subject that accepts no connection has failed, and is not rated quick and cheap', async (t) => {
  const result = loaded({ statuses: {}, requests: 0, requestsWithWarmUp: 0, measuredMs: 1_000 })
  t.match(sampleOf(result, { cpuS: 0, rssBytes: null, successStatus: 200 }), {
    requests_per_second: 0,
    latency_us: null,
    failed: 1,
    failures: ['nothing was answered'],
  })
})

const plain = {
  name: 'x',
  request: { method: 'GET', path: '/', headers: {}, body: '' },
  note: '',
  stop: () => Promise.resolve(),
}

t.test('each repeat warms a target, then loads it over all connections and over one', async (t) => {
  const run = async (durationMs: number) => {
    const mosts: number[] = []
    let [open, most] = [0, 0]
    const port = await bytesServer(t, (socket) => {
      most = Math.max(most, ++open)
      setTimeout(() => {
        open -= 1
        socket.write(OK)
      }, 5)
    })
    const before = (): Promise<void> => {
      mosts.push(most)
      most = 0
      return Promise.resolve()
    }
    const settings = { connections: 3, durationMs, warmUpMs: durationMs, repeats: 2 }
    const target = { ...plain, pid: process.pid, port, before }
    const found = await interleave([target], settings, () => undefined)
    const failed = found.get('x')?.map(({ loaded: at, alone }) => at.failed + alone.failed)
    return { mosts: [...mosts, most], failed }
  }
  const asked = { mosts: [0, 3, 3, 1, 3, 1], failed: [0, 0] }
  // A generator that stands still for longer than its whole load has sent nothing when that ends.
  t.same(await foundAtPace(500, run, (found) => isDeepStrictEqual(found, asked)), asked)
})
