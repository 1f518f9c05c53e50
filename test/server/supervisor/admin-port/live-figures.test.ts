import t from 'tap'
import { LIVE_LOOKS_KEPT, LIVE_MODELS_MAX } from '../../../../src/schemas/operator/admin-port-limits.ts'
import { LiveView } from '../../../../src/schemas/operator/live-view.ts'
import { Compile } from 'typebox/compile'
import type { ChildLook } from '../../../../src/server/supervisor/fleet/fleet.ts'
import { liveView } from '../../../../src/server/supervisor/admin-port/live-feed.ts'
import type { Advice } from '../../../../src/server/observe/load-advice.ts'
import { READY } from '../../../support/operator/admin-port.ts'
import { callsOf, FRONT_LOAD, MONEY, readingAt } from '../../../support/operator/live-readings.ts'
import type { LiveReading } from '../../../../src/server/observe/live-reader.ts'
import { CALL_BUCKETS, quantileMs } from '../../../../src/server/observe/durations.ts'
import { LiveSpans } from '../../../../src/server/supervisor/admin-port/live-figures.ts'

const OWN = { seconds: 1, cpuShare: 0.01, memoryBytes: 100 }
const CORES = { all: 2, idle: 1 }
const NO_ANSWERS = { open: 0, firstCounts: [], tokens: 0, cuts: {}, models: [], unpricedTiers: [] }
const look = (pid: number, reading: LiveReading | null, role: ChildLook['role'] = 'front'): ChildLook => ({
  id: `c${pid}`,
  role,
  pid,
  reading,
})

/** The view after these looks, a second apart. */
function seen(...looks: readonly (readonly ChildLook[])[]): LiveView {
  return seenWith([], ...looks)
}

function seenWith(advice: readonly Advice[], ...looks: readonly (readonly ChildLook[])[]): LiveView {
  const spans = new LiveSpans()
  const processes = looks.map((one) => spans.take(one)).at(-1) ?? []
  const silent = (looks.at(-1) ?? []).filter(({ reading }) => reading === null)
  return liveView({
    version: '1',
    now: new Date(0),
    readiness: READY,
    processes,
    silent,
    own: OWN,
    cores: CORES,
    advice,
    command: 'npx sluice',
  })
}

t.test('counts calls per second and operation over all processes, the most called first', (t) => {
  const first = (pid: number) =>
    look(pid, readingAt(0, { calls: [callsOf('a', { 0: 100 }), callsOf('b', { 0: 5 })] }))
  const later = (pid: number) =>
    look(
      pid,
      readingAt(2_000, {
        cpuS: 0.5,
        memoryBytes: 1_000,
        inFlight: 3,
        refusals: { key_unknown: 4 },
        calls: [
          callsOf('a', { 0: 110 }),
          callsOf('b', { 0: 5 }),
          callsOf('c', { 0: 36, 3: 4 }, { refused: 4, failed: 2 }),
        ],
      }),
    )
  const view = seen([first(1), first(2)], [later(1), later(2)])
  t.match(view, {
    requests_per_second: 50,
    refused_per_second: 4,
    failed_per_second: 2,
    inflight: 6,
    cpu_share: 0.51,
    memory_bytes: 2_100,
  })
  t.match(view, { seconds: 1, quantile_seconds: 2 })
  t.match(view.operations, [
    { operation: 'c', per_second: 40, refused_per_second: 4, failed_per_second: 2 },
    { operation: 'a', per_second: 10, refused_per_second: 0, failed_per_second: 0 },
  ])
  t.equal(view.operations.length, 2)
  t.ok(Compile(LiveView).Check(view))
  t.end()
})

t.test(
  'rates cover the time since the previous look; quantiles and operations cover the last ten looks',
  (t) => {
    const looks = Array.from({ length: LIVE_LOOKS_KEPT + 2 }, (_, at) => [
      look(1, readingAt(at * 1_000, { calls: [callsOf('a', { 2: at > 0 ? 100 : 0 })] })),
    ])
    const within = seen(...looks.slice(0, -1))
    t.match(within, {
      requests_per_second: 0,
      quantile_seconds: LIVE_LOOKS_KEPT,
      operations: [{ operation: 'a', per_second: 0 }],
    })
    t.same(seen(...looks).operations, [])
    t.end()
  },
)

t.test('a process that starts or ends does not change the rates of the others', (t) => {
  const one = (atMs: number, count: number) =>
    look(1, readingAt(atMs, { calls: [callsOf('a', { 0: count })] }))
  const other = look(2, readingAt(500, { calls: [callsOf('a', { 0: 10_000 })] }))
  t.equal(seen([one(0, 0)], [one(1_000, 10), other]).requests_per_second, 10)
  t.equal(seen([one(0, 0), other], [one(1_000, 10)]).requests_per_second, 10)
  t.end()
})

t.test('a provider with an open breaker shows since when and until when, even without calls', (t) => {
  const reading = (atMs: number, openForMs: number, probeInMs: number) =>
    readingAt(atMs, {
      providers: [{ provider: 'acme', attempts: 10, failed: 10 }],
      breakers: [
        { provider: 'acme', openings: 1, open: [{ endpoint: 'acme/embed-1', openForMs, probeInMs }] },
      ],
    })
  const begun = [look(1, reading(0, 0, 1_000)), look(2, reading(0, 0, 1_000))]
  const view = seen(begun, [look(1, reading(1_000, 5_000, 3_000)), look(2, reading(1_000, 7_000, 4_000))])
  t.match(view.providers, [
    {
      provider: 'acme',
      per_second: 0,
      state: 'open',
      breaker: {
        endpoints: ['acme/embed-1'],
        since: '1969-12-31T23:59:53.000Z',
        next_probe_at: '1970-01-01T00:00:03.000Z',
      },
    },
  ])
  t.match(view.findings, [
    {
      severity: 'warn',
      text: /^the circuit breaker of acme \(acme\/embed-1\) has been open since 1969-12-31T23:59:53.000Z/,
      page: 'models',
    },
  ])
  const due = seen([look(1, reading(0, 0, 0))], [look(1, reading(1_000, 0, 0))])
  t.equal(due.providers[0]?.breaker?.next_probe_at, null)
  t.ok(Compile(LiveView).Check(view))
  t.end()
})

t.test('a process that did not answer is a finding, and its next rates cover the whole gap', (t) => {
  const one = (atMs: number, count: number) =>
    look(7, readingAt(atMs, { calls: [callsOf('a', { 0: count })] }))
  const silent = seen([one(0, 0)], [look(7, null)])
  t.match(silent.findings, [{ severity: 'bad', text: 'the front with pid 7 does not respond' }])
  t.equal(seen([one(0, 0)], [look(7, null)], [one(2_000, 20)]).requests_per_second, 10)
  t.end()
})

t.test('many refused calls are a finding, with the most frequent error code over all processes', (t) => {
  const answer = (pid: number, atMs: number, refused: number, refusals: Record<string, number>) =>
    look(pid, readingAt(atMs, { calls: [callsOf('a', { 0: refused * 2 }, { refused })], refusals }))
  const before = { key_unknown: 1_000, body_invalid: 0 }
  const view = seen(
    [answer(1, 0, 1_000, before), answer(2, 0, 0, {})],
    [answer(1, 1_000, 1_030, { ...before, body_invalid: 30 }), answer(2, 1_000, 20, { body_invalid: 20 })],
  )
  t.equal(view.refused_per_second, 50)
  t.match(view.findings, [
    { severity: 'warn', text: '50 % of calls are refused (4xx), most of them with body_invalid' },
  ])
  t.end()
})

t.test('advice shows the program under the name that it was started with', (t) => {
  const view = seenWith(
    [{ detail: 'no backup', fix: 'run `sluice backup FOLDER`', page: 'keys' }],
    [look(1, readingAt(0))],
    [look(1, readingAt(1_000))],
  )
  t.same(view.findings, [
    { severity: 'warn', text: 'no backup', fix: 'run `npx sluice backup FOLDER`', page: 'keys' },
  ])
  t.end()
})

t.test('a quantile lies within its bucket', (t) => {
  const [first = 0, second = 0] = CALL_BUCKETS
  t.equal(quantileMs([100], 0.5), first * 500)
  t.equal(quantileMs([50, 50], 0.75), (first + (second - first) / 2) * 1_000)
  t.equal(quantileMs([99, 0, 1], 0.99), first * 1_000)
  t.equal(quantileMs([], 0.5), null)
  t.equal(
    quantileMs(
      CALL_BUCKETS.map(() => 0),
      0.5,
    ),
    null,
  )
  t.equal(quantileMs([...CALL_BUCKETS.map(() => 0), 5], 0.5), (CALL_BUCKETS.at(-1) ?? 0) * 1_000)
  t.end()
})

t.test('the view of a front has its event loop and its pools', (t) => {
  const delay = { p50Ms: 0.1, p99Ms: 2, maxMs: 9 }
  const load = {
    loop: { active: 800, idle: 200 },
    nowMs: 1_000,
    shortJobs: { threads: 1, begun: 4, waitS: 0.2, busyS: 0.5 },
    sessions: { threads: 2, begun: 0, waitS: 0, busyS: 1 },
  }
  const reported = (atMs: number, front: typeof load) => [
    look(9, readingAt(atMs, { front: { slot: 3, delay, load: front } })),
  ]
  const view = seen(reported(0, FRONT_LOAD), reported(1_000, load))
  t.same(view.fronts, [
    {
      front: 3,
      pid: 9,
      loop_p50_ms: 0.1,
      loop_p99_ms: 2,
      loop_max_ms: 9,
      utilization: 0.8,
      pools: [
        { pool: 'short_jobs', threads: 1, wait_ms: 50, utilization: 0.5 },
        { pool: 'sessions', threads: 2, wait_ms: 0, utilization: 0.5 },
      ],
    },
  ])
  t.end()
})

t.test('a provider is failing when at least half of its attempts fail, and idle without attempts', (t) => {
  const providers = (attempts: number, failed: number) => [
    { provider: 'a', attempts, failed },
    { provider: 'b', attempts: 5, failed: 5 },
    { provider: 'c', attempts, failed: 0 },
  ]
  const view = seen(
    [look(1, readingAt(0, { providers: providers(0, 0) }))],
    [look(1, readingAt(1_000, { providers: providers(10, 5) }))],
  )
  t.same(view.providers, [
    { provider: 'a', per_second: 10, failed_per_second: 5, state: 'failing', breaker: null },
    { provider: 'b', per_second: 0, failed_per_second: 0, state: 'idle', breaker: null },
    { provider: 'c', per_second: 10, failed_per_second: 0, state: 'ok', breaker: null },
  ])
  t.match(view.findings, [{ severity: 'warn', text: /^at least half of the calls to a fail/ }])
  t.end()
})

t.test('figures of videos, webhooks and money cover all processes', (t) => {
  const front = (atMs: number, refused: number) =>
    readingAt(atMs, {
      money: {
        ...MONEY,
        open: 2,
        waiting: 1,
        heldNano: 1_500_000_000,
        flushLagS: atMs / 1_000,
        refusals: { ...MONEY.refusals, credit: refused },
      },
    })
  const heldVideos = { accepted: 1, submitting: 0, running: 2, storing: 0 }
  const runner = (atMs: number, dead: number) =>
    readingAt(atMs, { heldVideos, deliveries: { waiting: 4, dead } })
  const view = seen(
    [look(1, front(0, 0)), look(2, runner(0, 0), 'runner'), look(3, runner(0, 0), 'runner')],
    [look(1, front(1_000, 3)), look(2, runner(1_000, 1), 'runner'), look(3, runner(1_000, 0), 'runner')],
  )
  t.same(view.money, {
    calls_open: 2,
    calls_waiting: 1,
    refused_per_second: 3,
    spent_usd_per_minute: 0,
    held_usd: 1.5,
    journal_lag_ms: 1_000,
    is_journal_broken: false,
  })
  t.same(
    [view.videos.held, view.webhooks],
    [
      { accepted: 2, submitting: 0, running: 4, storing: 0 },
      { waiting: 4, dead: 1 },
    ],
  )
  t.equal(seen([look(1, front(0, 0))], [look(1, front(1_000, 0))]).webhooks, null)
  t.end()
})

t.test('sums streams over all fronts, and shows the cost rate over the longer interval', (t) => {
  const at = (atMs: number, streams: LiveReading['streams'], spentNano: number) =>
    readingAt(atMs, { streams, money: { ...MONEY, spentNano } })
  const firstCounts = (count: number) => [0, 0, 0, 0, count]
  const before = { ...NO_ANSWERS, open: 9, firstCounts: firstCounts(1), tokens: 50 }
  const now = { ...NO_ANSWERS, open: 2, firstCounts: firstCounts(5), tokens: 250 }
  const looks = (pid: number) => [look(pid, at(0, before, 1e9)), look(pid, at(2_000, now, 1.5e9))] as const
  const [[one, oneLater], [other, otherLater]] = [looks(1), looks(2)]
  const idle = (atMs: number) => look(3, readingAt(atMs), 'runner')
  const view = seen([one, other, idle(0)], [oneLater, otherLater, idle(2_000)])
  t.match(view.streams, { open: 4, ttft_p50_ms: 175, ttft_p99_ms: 248.5, tokens_per_second: 200 })
  t.equal(view.money.spent_usd_per_minute, 30)
  t.same(seen([], []).streams, {
    ...{ open: 0, ttft_p50_ms: null, ttft_p99_ms: null, tokens_per_second: 0 },
    ...{ cut: [], models: [] },
  })
  t.end()
})

t.test('sums answers by model over all fronts since their start, the most input first', (t) => {
  const model = (name: string, inputTokens: number, dropped: Readonly<Record<string, number>> = {}) => ({
    ...{ model: name, inputTokens, cachedTokens: inputTokens / 4, dropped },
  })
  const one = {
    ...NO_ANSWERS,
    cuts: { client_gone: 1, upstream_slow: 2 },
    models: [model('a', 4, { seed: 1, top_k: 2 }), model('b', 100), model('c', 0, { seed: 1 })],
  }
  const other = { ...NO_ANSWERS, cuts: { client_gone: 4 }, models: [model('a', 400, { seed: 4 })] }
  const looks = (atMs: number) => [
    look(1, readingAt(atMs, { streams: one })),
    look(2, readingAt(atMs, { streams: other })),
    look(3, readingAt(atMs), 'runner'),
  ]
  const { cut, models } = seen(looks(0), looks(1_000)).streams
  t.same(cut, [
    { cause: 'client_gone', streams: 5 },
    { cause: 'upstream_slow', streams: 2 },
  ])
  const dropped = [
    { field: 'seed', calls: 5 },
    { field: 'top_k', calls: 2 },
  ]
  t.same(models, [
    { model: 'a', input_tokens: 404, cached_share: 0.25, dropped },
    { model: 'b', input_tokens: 100, cached_share: 0.25, dropped: [] },
    { model: 'c', input_tokens: 0, cached_share: null, dropped: [{ field: 'seed', calls: 1 }] },
  ])
  const many = Array.from({ length: LIVE_MODELS_MAX + 5 }, (_, nth) => model(`m${nth}`, nth))
  const busy = [look(1, readingAt(0, { streams: { ...NO_ANSWERS, models: many } }))]
  const shown = seen(busy, busy).streams.models
  t.same([shown.length, shown[0]?.model], [LIVE_MODELS_MAX, many.at(-1)?.model])
  t.end()
})

t.test('tiers without a price are a finding, over all fronts since they started', (t) => {
  const tier = (calls: number, model: string) => ({
    ...({ provider: 'acme', model, member: 'service_tier', tier: 'priority', calls } as const),
  })
  const streams = [
    { ...NO_ANSWERS, unpricedTiers: [tier(1, 'acme/a'), tier(1, 'acme/b')] },
    { ...NO_ANSWERS, unpricedTiers: [tier(4, 'acme/b'), tier(1, 'acme/c'), tier(1, 'acme/d')] },
  ]
  const looks = streams.map((one, nth) => look(nth, readingAt(0, { streams: one })))
  const name = (model: string): string => `acme/${model} at acme: \`service_tier: priority\``
  t.match(seen(looks, looks).findings, [
    {
      severity: 'warn',
      text: `8 answers since the node started reported a tier without a price (${name('b')}, ${name('a')}, ${name('c')} and 1 more): charged at the base price`,
      page: 'models',
    },
  ])
  t.end()
})
