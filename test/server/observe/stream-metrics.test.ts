import { Registry } from 'prom-client'
import t from 'tap'
import { createStreamMeters } from '../../../src/server/observe/stream-metrics.ts'

t.test('streams are counted by provider, open ones and what ended them', async (t) => {
  const registry = new Registry()
  const meters = createStreamMeters(registry)
  meters.committed('acme', 30, 0)
  meters.committed('acme', 700, 2)
  meters.committed('other', 1, 0)
  meters.ended('acme', 'upstream_failed', true)
  await registry.metrics()
  const text = await registry.metrics()
  for (const line of [
    'sluice_stream_commits_total{provider="acme"} 2',
    'sluice_stream_commits_total{provider="other"} 1',
    'sluice_stream_fallbacks_total{provider="acme"} 2',
    'sluice_streams_cut_total{provider="acme",cause="upstream_failed"} 1',
    'sluice_estimated_usage_total{provider="acme"} 1',
    'sluice_streams_open{provider="acme"} 1',
    'sluice_streams_open{provider="other"} 1',
    'sluice_stream_first_output_seconds_count{provider="acme"} 2',
    'sluice_stream_first_output_seconds_sum{provider="acme"} 0.73',
  ])
    t.ok(text.includes(line), line)
  meters.ended('acme', null, false)
  t.match(await registry.metrics(), 'sluice_streams_open{provider="acme"} 0')
  t.notMatch(await registry.metrics(), 'cause=""')
})
