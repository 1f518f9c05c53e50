import t from 'tap'
import { delayOf } from '../../../src/server/observe/process-metrics.ts'
import { aggregate, createMetrics, type Metrics } from '../../../src/server/observe/metrics.ts'
import { pause } from '../../support/wait.ts'

t.test('calls are counted by operation, status and failure, and timed', async (t) => {
  const metrics = open(t)
  metrics.call('embeddings.create', { status: 200, failure: null, durationMs: 30, overheadMs: 0.3 })
  metrics.call('embeddings.create', { status: 200, failure: null, durationMs: 40, overheadMs: 0.3 })
  metrics.call('embeddings.create', {
    status: 429,
    failure: 'rate_limited',
    durationMs: 0.1,
    overheadMs: 0.1,
  })
  const text = await metrics.registry.metrics()
  t.match(text, 'sluice_requests_total{operation="embeddings.create",status="200",failure=""} 2')
  t.match(text, 'sluice_requests_total{operation="embeddings.create",status="429",failure="rate_limited"} 1')
  t.match(text, 'sluice_request_seconds_bucket{le="0.05",operation="embeddings.create"} 3')
  t.match(text, 'sluice_overhead_seconds_bucket{le="0.0005",operation="embeddings.create"} 3')
})

t.test('a count does not grow when it is read twice', async (t) => {
  const metrics = open(t)
  metrics.rateDecision('refused', 'purse')
  await metrics.registry.metrics()
  metrics.rateDecision('refused', 'purse')
  t.match(
    await metrics.registry.metrics(),
    'sluice_rate_decisions_total{decision="refused",source="purse"} 2',
  )
})

t.test('counts key lookups, provider calls and traces, by their outcome', async (t) => {
  const metrics = open(t)
  metrics.keyLookup('cache')
  metrics.upstream('openai', 'ok', 12)
  metrics.upstream('openai', 'upstream_slow', 30_000)
  metrics.broadcast('dropped', 7)
  const text = await metrics.registry.metrics()
  t.match(text, 'sluice_key_lookups_total{source="cache"} 1')
  t.match(text, 'sluice_upstream_calls_total{provider="openai",outcome="upstream_slow"} 1')
  t.match(text, 'sluice_upstream_seconds_count{provider="openai"} 2')
  t.match(text, 'sluice_broadcast_traces_total{outcome="dropped"} 7')
})

t.test('gauges are read at every scrape', async (t) => {
  const metrics = open(t)
  let inFlight = 3
  metrics.watch({ inFlight: () => inFlight, degraded: () => ({ redis: true, postgres: false }) })
  metrics.watch({
    shortJobsWaiting: () => 2,
    unreadBytes: () => 65_536,
    held: () => ({ calls: 4, turns: 9 }),
    redisRefusals: () => new Map([['READONLY', 3]]),
  })
  inFlight = 5
  const text = await metrics.registry.metrics()
  t.match(text, 'sluice_redis_refusals_total{code="READONLY"} 3')
  t.match(text, 'sluice_requests_in_flight 5')
  t.match(text, 'sluice_short_jobs_waiting 2')
  t.match(text, 'sluice_unread_answer_bytes 65536')
  t.match(text, 'sluice_model_calls_held_total 4')
  t.match(text, 'sluice_model_turns_held_total 9')
  t.match(text, /sluice_degraded\{mode="redis"\} 1\nsluice_degraded\{mode="postgres"\} 0/)
})

t.test(
  'snapshots of several processes are merged from JSON: sums, the largest delays, and facts of the node',
  async (t) => {
    const [one, other] = [open(t), open(t)]
    one.call('model.read', { status: 200, failure: null, durationMs: 1, overheadMs: 1 })
    other.call('model.read', { status: 200, failure: null, durationMs: 1, overheadMs: 1 })
    one.watch({ degraded: () => ({ redis: true }) })
    other.watch({ degraded: () => ({ redis: false }) })
    const snapshots = JSON.parse(JSON.stringify([await one.snapshot(), await other.snapshot()]))
    const text = await aggregate(snapshots, { sluice_fronts_ready: { help: 'Fronts.', value: 2 } })
    t.match(text, 'sluice_requests_total{operation="model.read",status="200",failure=""} 2')
    t.match(text, 'sluice_request_seconds_count{operation="model.read"} 2')
    t.match(text, 'sluice_degraded{mode="redis"} 1')
    t.match(text, 'sluice_fronts_ready 2')
    t.equal(text.match(/sluice_event_loop_delay_seconds\{percentile="99"\}/g)?.length, 1)
  },
)

t.test('event-loop delay is reported minus the sampling interval, an empty sample as zero', async (t) => {
  t.same(
    [5e6, 0.4e6, 505e6, NaN].map((nanoseconds) => delayOf(nanoseconds, 5)),
    [0, 0, 0.5, 0],
  )
  t.equal(delayOf(520e6, 20), 0.5)
})

t.test('reports CPU time of the process by mode', async (t) => {
  t.match(await open(t).registry.metrics(), /process_cpu_seconds_total\{mode="user"\} \d/)
})

t.test('the event-loop delay shows a blocked loop', async (t) => {
  const metrics = open(t, 0)
  await turns()
  const until = performance.now() + 80
  while (performance.now() < until);
  await turns()
  const [, largest] =
    /sluice_event_loop_delay_seconds\{percentile="100"\} (\S+)/.exec(await metrics.registry.metrics()) ?? []
  t.ok(Number(largest) > 0.05, `largest ${largest} s`)
})

/**
 * Until the sampler has run: what runs due timers in one turn may come to ours before its, but not again and
 * again.
 */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 4; turn++) await pause(10)
}

function open(t: { teardown(done: () => void): unknown }, front: number | null = null): Metrics {
  const metrics = createMetrics(front)
  t.teardown(() => metrics.close())
  return metrics
}
