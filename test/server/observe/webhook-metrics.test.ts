import t from 'tap'
import { aggregate, createMetrics } from '../../../src/server/observe/metrics.ts'
import { createWebhookMeters } from '../../../src/server/observe/runner-metrics.ts'

t.test('attempts are summed over runners; deliveries are not, as every runner counts all', async (t) => {
  const runners = [
    { waiting: 3, dead: 1 },
    { waiting: 2, dead: 2 },
  ].map((counts) => {
    const metrics = createMetrics()
    t.teardown(() => metrics.close())
    const meters = createWebhookMeters(metrics.registry, () => counts)
    meters.attempt('delivered')
    meters.attempt('timeout')
    return metrics
  })
  const text = await aggregate(await Promise.all(runners.map((metrics) => metrics.snapshot())))
  t.match(text, /sluice_webhook_attempts_total\{outcome="delivered"\} 2\n/)
  t.match(text, /sluice_webhook_deliveries\{state="waiting"\} 3\n/)
  t.match(text, /sluice_webhook_deliveries\{state="dead"\} 2\n/)
})

t.test('no figure is shown before the first count', async (t) => {
  const metrics = createMetrics()
  t.teardown(() => metrics.close())
  createWebhookMeters(metrics.registry, () => null)
  t.notMatch(await aggregate([await metrics.snapshot()]), /sluice_webhook_deliveries\{/)
})
