import { Registry } from 'prom-client'
import t from 'tap'
import { watchMetrics } from '../../../src/server/observe/read-metrics.ts'
import { HELD_VIDEOS } from '../../../src/server/observe/read-table.ts'
import { createVideoMeters } from '../../../src/server/observe/runner-metrics.ts'

t.test('figures of the engine are shown by provider, and unknown providers share one label', async (t) => {
  const registry = new Registry()
  const meters = createVideoMeters({ registry }, ['veo'])
  watchMetrics(registry, HELD_VIDEOS, () => ({ accepted: 1, submitting: 0, running: 7, storing: 0 }))
  meters.claimed('veo', 3)
  meters.submitted('veo', 'taken')
  meters.looked('gone-1', 'adopted')
  meters.looked('gone-2', 'adopted')
  meters.polled('veo', 'running', 250)
  meters.stored('veo', 'stored')
  meters.ended('veo', 'completed')
  meters.lost(2)
  const text = await registry.metrics()
  for (const line of [
    'sluice_video_claims_total{provider="veo"} 3',
    'sluice_video_submissions_total{provider="veo",result="taken"} 1',
    'sluice_video_lookups_total{provider="other",result="adopted"} 2',
    'sluice_video_polls_total{provider="veo",result="running"} 1',
    'sluice_video_poll_lag_seconds_sum{provider="veo"} 0.25',
    'sluice_video_stores_total{provider="veo",result="stored"} 1',
    'sluice_video_ends_total{provider="veo",status="completed"} 1',
    'sluice_video_leases_lost_total 2',
    'sluice_video_jobs_held{state="running"} 7',
  ])
    t.ok(text.includes(`${line}\n`), line)
})
