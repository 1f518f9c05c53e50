import { Registry } from 'prom-client'
import t from 'tap'
import { createRetentionMeters } from '../../../src/server/observe/runner-metrics.ts'

t.test('counts pruned rows by kind, and reports the age of the oldest remaining row', async (t) => {
  const registry = new Registry()
  let now = Date.parse('2026-03-18T12:00:00Z')
  const meters = createRetentionMeters(registry, () => now)
  meters.pruned('jobs', 5)
  meters.pruned('jobs', 7)
  meters.pruned('clips', 1)
  meters.oldest('jobs', new Date('2026-03-18T11:00:00Z'))
  meters.oldest('audit', null)
  now += 60_000
  const text = await registry.metrics()
  t.match(text, /^sluice_pruned_rows_total\{kind="jobs"\} 12$/m)
  t.match(text, /^sluice_pruned_rows_total\{kind="clips"\} 1$/m)
  t.match(text, /^sluice_oldest_kept_seconds\{kind="jobs"\} 3660$/m)
  t.match(text, /^sluice_oldest_kept_seconds\{kind="audit"\} 0$/m)
})
