import t from 'tap'
import { JSON_BODY_BYTES_MAX, INLINE_JSON_BYTES_MAX } from '../../../src/schemas/limits/limits.ts'
import { frontsFindings, lastThatBrought, ratioOf, workersFindings } from '../../../bench/scaling/findings.ts'
import { heavyRequest } from '../../../bench/scaling/fronts.ts'
import { readScalingOptions } from '../../../bench/scaling/options.ts'
import type { WorkersSample } from '../../../bench/scaling/workers.ts'
import type { Ceiling } from '../../../bench/sweep/measure.ts'

const latency = { p50: 1, p90: 2, p99: 3, p99_9: 4, max: 5, mean: 1, byPercent: {} }
const front = { slot: 0, loopShare: 0.97, loopDelayMs: 1, sessionWaitMs: 0, sessionShare: 0, shortWaitMs: 0 }
const ceiling = (ratePerS: number, more: Partial<Ceiling> = {}): Ceiling => ({
  ratePerS,
  latency,
  requests: 100,
  failed: 0,
  failures: [],
  generatorCores: 0.2,
  cpuUs: 900,
  serverCores: 1,
  mockCores: 0.1,
  rssMb: 300,
  ownMb: 200,
  cores: { all: 2, idle: 0.6 },
  load: { fronts: 1, workers: 1, runners: 1, each: [front] },
  ...more,
})
const upload = (mbPerS: number, idle: number, failed = 0): WorkersSample => ({
  mbPerS,
  filesPerS: mbPerS / 10,
  latencyMs: { p50: 1, p90: 2, p99: 3, p99_9: 4, max: 5 },
  mainPerGb: 1,
  threadsPerGb: 2,
  restPerGb: 0.5,
  serverCores: 1.5,
  generatorCores: 0.2,
  idle: {},
  peak: { front: 200e6 },
  sharedOnceGrowth: 0,
  loopP99Ms: null,
  failed,
  failures: [],
  alive: 0,
  cores: { all: 2, idle },
})

t.test('the ratio of two fronts to one pairs adjacent repeats, and a failure makes it invalid', async (t) => {
  const found = new Map([
    [1, [ceiling(100), ceiling(50)]],
    [2, [ceiling(170), ceiling(90)]],
  ])
  t.same(
    ratioOf(found, (one) => one.ratePerS),
    { median: 1.75, min: 1.7, max: 1.8 },
  )
  t.match(frontsFindings(found, { connections: 16 }).checks, [{ is_met: true, at_least: 1.6 }])
  const failed = new Map([
    [1, [ceiling(100, { failed: 1 })]],
    [2, [ceiling(200)]],
  ])
  t.match(frontsFindings(failed, { connections: 16 }).checks, [{ is_met: false, failed: 1 }])
  t.same(
    frontsFindings(new Map([[1, [ceiling(100)]]]), { connections: 16 }).checks,
    [],
    'one count alone is compared with nothing',
  )
})

t.test('reports for each number of fronts whether the handlers are the limit', async (t) => {
  const idle = ceiling(100, {
    load: { fronts: 1, workers: 1, runners: 1, each: [{ ...front, loopShare: 0.4 }] },
    generatorCores: 0.95,
  })
  const { notes } = frontsFindings(
    new Map([
      [1, [ceiling(100)]],
      [2, [idle]],
    ]),
    { connections: 16 },
  )
  t.match(
    notes[1],
    /^1 front: the idlest event loop is busy 97 % \(their handlers are the bound\); cores: node 1\.00, provider 0\.10, generator 0\.20$/,
  )
  t.match(
    notes[2],
    /busy 40 % \(their handlers are not what bounds them here\).*generator or provider was the limit$/,
  )
})

t.test('finds the number of fronts from which more fronts no longer raise the rate', async (t) => {
  const at = (...rates: readonly number[]): ReturnType<typeof lastThatBrought> =>
    lastThatBrought(rates.map((rate, index) => ({ count: 2 ** index, rate })))
  t.same(at(100, 180, 183), { count: 2, isEnd: false })
  t.same(at(100, 180, 260), { count: 4, isEnd: true })
  t.same(at(100, 99, 101), { count: 1, isEnd: false })
  t.same(at(100, 99, 150), { count: 4, isEnd: true }, 'a dip between is noise')
  t.equal(at(), null)
})

t.test('workers scale until the cores are used up, and the record says at which number', async (t) => {
  const used = new Map([
    [1, [upload(100, 0.9)]],
    [2, [upload(180, 0.1)]],
    [4, [upload(182, 0)]],
  ])
  const { checks, notes, rows } = workersFindings(used, { connections: 16, payloadBytes: 1e7 })
  t.match(checks, [{ is_met: true, found: { median: 0.1 } }])
  t.equal(
    notes.at(-1),
    'sealed uploads grow up to 2 workers, with 1.9 of 2 cores used; more bring less than 5 %',
  )
  t.match(rows[0], {
    case: 'sealed uploads, 1 worker',
    latency_us: { p99: { median: 3_000 } },
    rss_mb: { median: 200 },
    cpu_s_per_gb: { median: 3.5 },
  })
  const early = new Map([
    [1, [upload(100, 1.2)]],
    [2, [upload(101, 1.2)]],
  ])
  t.match(workersFindings(early, { connections: 16, payloadBytes: 1e7 }).checks, [
    { is_met: false, found: { median: 1.2 } },
  ])
  const open = new Map([
    [1, [upload(100, 5)]],
    [2, [upload(200, 4)]],
  ])
  t.match(
    workersFindings(open, { connections: 16, payloadBytes: 1e7 }).checks,
    [{ is_met: true }],
    'nothing says that they stopped',
  )
})

t.test('the heavy call is small enough to be parsed on the loop and to be accepted', async (t) => {
  const { body } = heavyRequest({ method: 'POST', path: '/', headers: {}, body: '' })
  t.ok(
    body.length > INLINE_JSON_BYTES_MAX / 2 &&
      body.length < INLINE_JSON_BYTES_MAX &&
      body.length < JSON_BODY_BYTES_MAX,
    String(body.length),
  )
})

t.test('scaling accepts lists of counts and a size', async (t) => {
  t.match(readScalingOptions(['--fronts', '1,2', '--payload', '2MB']), {
    fronts: [1, 2],
    workers: [1, 2, 4],
    payloadBytes: 2e6,
  })
  t.type(readScalingOptions(['--sections', 'runners']), 'string')
})
