import t, { type Test } from 'tap'
import { explainFullDisk, watchRoom } from '../../../../src/server/supervisor/data-directory/disk-room.ts'
import { ReadinessWatch } from '../../../../src/server/supervisor/readiness.ts'
import { StartRefused } from '../../../../src/server/supervisor/start-refused.ts'
import { SILENT } from '../../../support/log.ts'
import { NO_MOUNT, tinyDisk } from '../../../support/files/tiny-disk.ts'
import { until } from '../../../support/wait.ts'
import { EmbeddedPostgresError } from '../../../../src/server/supervisor/postgres/postgres-binaries.ts'

t.test('a start that fails on a full disk reports that in one sentence with the place', async (t) => {
  const disks = { dataDir: '/data of a node', objects: null }
  const sentence = 'the disk of /data of a node is full: free space on it and start again'
  const system = Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' })
  for (const problem of [
    system,
    Object.assign(new Error('quota'), { code: 'EDQUOT' }),
    new StartRefused('the data directory cannot be written: set SLUICE_DATA', { cause: system }),
    new EmbeddedPostgresError(
      'initdb failed (could not write to file "pg_wal/xlogtemp.1": No space left on device)',
    ),
  ]) {
    const reported = explainFullDisk(problem, disks)
    t.ok(reported instanceof StartRefused)
    t.equal(reported instanceof Error && reported.message, sentence)
  }
})

t.test('leaves other errors of a start unchanged', async (t) => {
  const problem = new StartRefused('a node runs on /data already')
  t.equal(explainFullDisk(problem, { dataDir: '/data', objects: null }), problem)
})

t.test('the disk is checked every five seconds, however often its state is requested', async (t) => {
  const dataDir = t.testdir({})
  let nowMs = 0
  const room = watchRoom({ dataDir, objects: null }, () => nowMs)
  t.equal(await room(), true)
  const lost = watchRoom({ dataDir: `${dataDir}/gone`, objects: null }, () => nowMs)
  t.equal(await lost(), false)
  const first = room()
  t.equal(room(), first)
  nowMs = 5_000
  t.not(room(), first)
})

t.test('a disk without room for a WAL segment of Postgres counts as full', { skip: NO_MOUNT }, async (t) => {
  await isReportedFull(t, await tinyDisk(t))
})

t.test('a disk without a free byte is full', async (t) => {
  // The kernel's own file system reports no free block to any user.
  await isReportedFull(t, '/proc')
})

async function isReportedFull(t: Test, objects: string): Promise<void> {
  t.equal(await watchRoom({ dataDir: t.testdir({}), objects })(), false)
  t.match(explainFullDisk(new Error('ENOSPC'), { dataDir: t.testdirName, objects }), {
    message: `the disk of ${objects} is full`,
  })
}

t.test('readiness reports a full storage as degraded', async (t) => {
  let isFull = true
  const up = { mode: 'external', isUp: () => Promise.resolve(true) }
  const watch = new ReadinessWatch({
    postgres: up,
    redis: { ...up, onChange: () => () => undefined },
    storage: { mode: 'disk', isUp: () => Promise.resolve(!isFull) },
    log: SILENT,
    keyGraceMs: () => 1_000,
    now: () => 0,
  })
  t.teardown(() => watch.stop())
  const one = { ready: 1, wanted: 1, configured: 1 }
  const read = () => watch.read({ fronts: one, workers: one, runners: one }, { silent: 0, withoutStore: 0 })
  while (read().degraded.length === 0) await new Promise((resolve) => setImmediate(resolve))
  t.match(read(), {
    status: 'degraded',
    degraded: ['storage'],
    reasons: ['storage_down'],
    dependencies: { storage: { effect: /disk is full/ } },
  })
  isFull = false
  await until(() => read().degraded.length === 0)
  t.equal(read().status, 'ready')
})

t.test('readiness names fronts that have no connection to a Postgres that is up', async (t) => {
  const up = { mode: 'external', isUp: () => Promise.resolve(true) }
  const watch = new ReadinessWatch({
    postgres: up,
    redis: { ...up, onChange: () => () => undefined },
    storage: up,
    log: SILENT,
    keyGraceMs: () => 1_000,
    now: () => 0,
  })
  t.teardown(() => watch.stop())
  const two = { ready: 2, wanted: 2, configured: 2 }
  t.match(watch.read({ fronts: two, workers: two, runners: two }, { silent: 0, withoutStore: 1 }), {
    status: 'degraded',
    degraded: ['postgres'],
    reasons: ['fronts_without_postgres'],
  })
})
