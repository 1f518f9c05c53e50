import t from 'tap'
import { FRONT_LIVE_MS } from '../../../../src/schemas/limits/limits.ts'
import { pruneRunners, startRunnerHeartbeat } from '../../../../src/server/store/nodes/runners.ts'
import { SILENT } from '../../../support/log.ts'
import { until } from '../../../support/nodes/node.ts'
import { openTestStore } from '../../../support/stores/postgres.ts'

t.test('live runners count each other, and stop counting a runner that ends', async (t) => {
  const store = await openTestStore(t)
  const open = (runnerId: string) => startRunnerHeartbeat({ runnerId, store, log: SILENT, everyMs: 50 })
  const one = open('00000000-0000-4000-8000-000000000001')
  const other = open('00000000-0000-4000-8000-000000000002')
  t.teardown(() => one.close())
  await until('they see each other', () => one.liveRunners === 2 && other.liveRunners === 2)
  await other.close()
  await until('the other one is gone', () => one.liveRunners === 1)
})

t.test('a runner that died without leaving is not counted, and its row is removed', async (t) => {
  const store = await openTestStore(t)
  await store.sql`INSERT INTO runners VALUES
    ('00000000-0000-4000-8000-000000000003', clock_timestamp() - ${FRONT_LIVE_MS + 1_000} * interval '1 ms')`
  t.equal(await pruneRunners(store.sql), 1)
})
