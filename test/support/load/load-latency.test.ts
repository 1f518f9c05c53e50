import t from 'tap'
import { latencies, latenessOf, latencyOf, noteMs } from './load-latency.ts'

t.test('each percentile has its own value in milliseconds, and none exceeds the maximum seen', async (t) => {
  const histogram = latencies()
  for (let us = 1; us <= 10_000; us++) noteMs(histogram, us / 1_000)
  const { p50, p90, p99, p99_9, max, mean } = latencyOf(histogram)
  const near = (found: number, wanted: number): boolean => Math.abs(found - wanted) <= wanted / 1_000
  t.same(
    [near(p50, 5), near(p90, 9), near(p99, 9.9), near(p99_9, 9.99), near(max, 10), near(mean, 5)],
    Array.from({ length: 6 }, () => true),
  )
  const { byPercent } = latencyOf(histogram)
  t.same([byPercent['50'], byPercent['99.9'], byPercent['100']], [p50, p99_9, max])
  t.ok(near(byPercent['1'] ?? 0, 0.1))
  t.same(latenessOf(histogram), { p50, p99, max })
})

t.test('counts latencies of zero and of infinity', async (t) => {
  const histogram = latencies()
  for (const ms of [0, -1, 1e9]) noteMs(histogram, ms)
  t.equal(histogram.totalCount, 3)
  t.match(latencyOf(histogram), { p50: 0.001 })
})
