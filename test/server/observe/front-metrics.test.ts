import { Registry } from 'prom-client'
import t from 'tap'
import { frontLoads, type FrontReading, type PoolReading } from '../../../src/server/observe/front-metrics.ts'
import { aggregate, createMetrics } from '../../../src/server/observe/metrics.ts'
import { watchMetrics } from '../../../src/server/observe/read-metrics.ts'
import { FRONT_LOAD } from '../../../src/server/observe/read-table.ts'

const IDLE: PoolReading = { threads: 1, begun: 0, waitS: 0, busyS: 0 }
const START: FrontReading = {
  loop: { active: 500, idle: 500 },
  shortJobs: IDLE,
  sessions: { ...IDLE, threads: 2 },
  nowMs: 1_000,
}

t.test(
  'the load of a front and the wait times of its pools cover the time since the last scrape',
  async (t) => {
    const registry = new Registry()
    let reading = START
    watchMetrics(
      registry,
      FRONT_LOAD,
      frontLoads(3, () => reading),
    )
    reading = {
      loop: { active: 1_300, idle: 700 },
      nowMs: 2_000,
      shortJobs: { threads: 1, begun: 4, waitS: 0.2, busyS: 0.5 },
      sessions: { threads: 2, begun: 2, waitS: 0.5, busyS: 1 },
    }
    const text = await registry.metrics()
    for (const line of [
      'event_loop_utilization{front="3"} 0.8',
      'pool_wait_seconds{front="3",pool="short_jobs"} 0.05',
      'pool_wait_seconds{front="3",pool="sessions"} 0.25',
      'pool_utilization{front="3",pool="short_jobs"} 0.5',
      'pool_utilization{front="3",pool="sessions"} 0.5',
    ])
      t.match(text, `sluice_front_${line}\n`)
    reading = { ...reading, nowMs: 3_000, loop: { active: 1_300, idle: 1_700 } }
    const later = await registry.metrics()
    t.match(later, 'sluice_front_event_loop_utilization{front="3"} 0\n')
    t.match(later, 'sluice_front_pool_wait_seconds{front="3",pool="sessions"} 0\n')
  },
)

t.test(
  'two readings in one instant, or a job longer than many readings, give shares from 0 to 1',
  async (t) => {
    const registry = new Registry()
    let reading = START
    watchMetrics(
      registry,
      FRONT_LOAD,
      frontLoads(0, () => reading),
    )
    t.match(await registry.metrics(), 'sluice_front_pool_utilization{front="0",pool="short_jobs"} 0\n')
    reading = { ...START, nowMs: 1_100, shortJobs: { ...IDLE, busyS: 9 } }
    t.match(await registry.metrics(), 'sluice_front_pool_utilization{front="0",pool="short_jobs"} 1\n')
  },
)

t.test('the wait and the duration of short jobs are counted over all processes', async (t) => {
  const registry = new Registry()
  watchMetrics(
    registry,
    FRONT_LOAD,
    frontLoads(0, () => ({
      ...START,
      shortJobs: { threads: 1, begun: 7, waitS: 1.5, busyS: 2.5 },
    })),
  )
  await registry.metrics()
  const text = await registry.metrics()
  for (const line of ['jobs_total 7', 'job_wait_seconds_total 1.5', 'job_busy_seconds_total 2.5'])
    t.match(text, `sluice_short_${line}\n`)
})

t.test('each front has one delay: during a replacement, the larger of its two processes', async (t) => {
  const fronts = [createMetrics(0), createMetrics(0), createMetrics(1)]
  t.teardown(() => fronts.forEach((front) => front.close()))
  const text = await aggregate(await Promise.all(fronts.map((front) => front.snapshot())))
  for (const front of ['0', '1']) {
    for (const percentile of ['50', '99', '100'])
      t.match(text, `sluice_front_event_loop_delay_seconds{front="${front}",percentile="${percentile}"} `)
  }
  t.equal(text.match(/sluice_front_event_loop_delay_seconds\{/g)?.length, 6)
})
