import { Registry } from 'prom-client'
import t from 'tap'
import { watchMetrics } from '../../../src/server/observe/read-metrics.ts'
import { SESSIONS } from '../../../src/server/observe/read-table.ts'

t.test('the figures of session threads are read at every scrape, and counted once', async (t) => {
  const registry = new Registry()
  watchMetrics(registry, SESSIONS, () => ({
    threads: 2,
    intakes: 3,
    unsealings: 4,
    waiting: 1,
    waitS: 0.5,
    begun: 9,
    busyS: 7.5,
    silentThreads: 1,
    waitingBytes: 65_536,
  }))
  await registry.metrics()
  const text = await registry.metrics()
  t.match(text, 'sluice_session_threads 2')
  t.match(text, 'sluice_intakes 3')
  t.match(text, 'sluice_unsealings 4')
  t.match(text, 'sluice_sessions_waiting 1')
  t.match(text, 'sluice_upload_bytes_waiting 65536')
  t.match(text, 'sluice_sessions_total 9')
  t.match(text, 'sluice_session_wait_seconds_total 0.5')
  t.match(text, 'sluice_session_busy_seconds_total 7.5')
  t.match(text, 'sluice_session_threads_ended_total 1')
})
