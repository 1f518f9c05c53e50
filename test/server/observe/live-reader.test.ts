import t from 'tap'
import type { FailureName } from '../../../src/schemas/failures.ts'
import { createMetrics } from '../../../src/server/observe/metrics.ts'
import { createVideoMeters } from '../../../src/server/observe/runner-metrics.ts'
import { FRONT_LOAD, MONEY } from '../../support/operator/live-readings.ts'
import { pause } from '../../support/wait.ts'

const call = (status: number, failure: FailureName | null = null) => ({
  status,
  failure,
  durationMs: 2,
  overheadMs: 1,
})

t.test('a process reports its calls by operation, and how they ended', (t) => {
  const metrics = createMetrics()
  t.teardown(() => metrics.close())
  for (const status of [200, 206, 404, 429, 500, 503, 0]) metrics.call('a', call(status))
  const {
    calls: [reading],
    cpuS,
    memoryBytes,
  } = metrics.live.read()
  t.match(reading, { operation: 'a', refused: 2, failed: 2 })
  t.equal(
    reading?.counts.reduce((sum, count) => sum + count),
    7,
  )
  t.ok(cpuS > 0 && memoryBytes > 0)
  metrics.call('a', call(200))
  t.equal(
    reading?.counts.reduce((sum, count) => sum + count),
    7,
  )
  t.end()
})

t.test('a process reports the error codes of the calls that it refused, for all operations', (t) => {
  const metrics = createMetrics()
  t.teardown(() => metrics.close())
  metrics.call('a', call(401, 'key_unknown'))
  metrics.call('b', call(401, 'key_unknown'))
  metrics.call('b', call(429, 'rate_limited'))
  metrics.call('b', call(503, 'busy'))
  metrics.call('b', call(200))
  t.same(metrics.live.read().refusals, { key_unknown: 2, rate_limited: 1 })
  t.end()
})

t.test('counts only failures caused by a provider as its failures', (t) => {
  const metrics = createMetrics()
  t.teardown(() => metrics.close())
  metrics.upstream('a', 'ok', 1)
  metrics.upstream('a', 'deadline_exceeded', 1)
  metrics.upstream('a', 'client_gone', 1)
  const videos = createVideoMeters(metrics, ['a', 'b'])
  videos.submitted('b', 'taken')
  videos.submitted('b', 'unsent')
  videos.polled('b', 'failed', 0)
  videos.polled('b', 'unavailable', 0)
  videos.ended('b', 'failed')
  t.same(metrics.live.read().providers, [
    { provider: 'a', attempts: 3, failed: 1 },
    { provider: 'b', attempts: 4, failed: 2 },
  ])
  t.end()
})

t.test('reports parts created later once they exist, and omits parts that a process does not have', (t) => {
  const metrics = createMetrics()
  t.teardown(() => metrics.close())
  t.match(metrics.live.read(), {
    front: null,
    money: null,
    heldVideos: null,
    deliveries: null,
    inFlight: 0,
  })
  metrics.watch({ inFlight: () => 4 })
  metrics.live.add({ front: { slot: 2, load: () => FRONT_LOAD }, money: () => MONEY })
  t.match(metrics.live.read(), { front: { slot: 2, load: FRONT_LOAD }, money: MONEY, inFlight: 4 })
  t.end()
})

t.test('both the live view and the metrics show a blocked loop, whichever reads first', async (t) => {
  const metrics = createMetrics(0)
  t.teardown(() => metrics.close())
  metrics.live.add({ front: { slot: 0, load: () => FRONT_LOAD } })
  t.match(metrics.live.read().front?.delay, { p50Ms: 0, p99Ms: 0, maxMs: 0 })
  await turns()
  for (const end = performance.now() + 60; performance.now() < end;);
  await turns()
  t.ok((metrics.live.read().front?.delay.maxMs ?? 0) > 20)
  const delays =
    (await metrics.snapshot()).find(({ name }) => name === 'sluice_event_loop_delay_seconds')?.values ?? []
  t.ok(Number(delays.find(({ labels }) => labels['percentile'] === '100')?.value) > 0.02)
})

/**
 * Until the samplers have run: what runs due timers in one turn may come to ours before theirs, but not again
 * and again.
 */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 4; turn++) await pause(10)
}
