import t from 'tap'
import { openKeptCount, readCount } from '../../../../src/server/journal/kept-count.ts'
import { openLender } from '../../../../src/server/store/money/lender.ts'
import { acceptRestore, stepsBehind } from '../../../../src/server/store/money/money-counts.ts'
import { newId } from '../../../../src/server/store/base/ids.ts'
import { keptLog, SILENT } from '../../../support/log.ts'
import { makeOwners, settlement } from '../../../support/money/money.ts'
import { openTestStore } from '../../../support/stores/postgres.ts'
import { temporaryFolder } from '../../../support/temporary-folder.ts'

const DAY = '2026-11-26'

async function stand(t: Parameters<typeof openTestStore>[0]) {
  const store = await openTestStore(t)
  const owners = await makeOwners(store)
  const dataDir = temporaryFolder(t, 'data')
  const clock = { now: 0 }
  const count = openKeptCount(dataDir, 'here', SILENT)
  const lender = openLender(store, { log: SILENT, count, now: () => clock.now })
  const id = newId()
  const open = () => lender.open({ id, node: 'here', bootId: 'b' })
  let offset = 0
  const flush = (entries = [settlement(owners, DAY, 5)]) =>
    lender.flush({ journalId: id, from: offset, to: (offset += entries.length), entries })
  const inPostgres = async (): Promise<number> => {
    const [row] = await store.sql<{ n: string }[]>`SELECT n::text FROM money_counts WHERE node = 'here'`
    return Number(row?.n ?? 0)
  }
  return { store, dataDir, clock, lender, id, open, flush, inPostgres }
}

t.test('the transfer count rises at most once a minute, and is copied to the directory', async (t) => {
  const { dataDir, clock, open, flush, inPostgres } = await stand(t)
  await open()
  t.equal(readCount(dataDir), 0, 'nothing moved')
  await flush([])
  t.same([await inPostgres(), readCount(dataDir)], [0, 0])
  await flush()
  await flush()
  t.same([await inPostgres(), readCount(dataDir)], [1, 1])
  clock.now += 60_000
  await flush()
  t.same([await inPostgres(), readCount(dataDir)], [2, 2])
})

t.test('the last transaction of a drain raises the transfer count, even in the same minute', async (t) => {
  const { dataDir, lender, id, open, flush, inPostgres } = await stand(t)
  await open()
  await flush()
  await lender.close({ journalId: id, rest: null, open: [], isComplete: true })
  t.same([await inPostgres(), readCount(dataDir)], [2, 2])
})

t.test(
  'a Postgres restored from before the drain gives a front no day, so no paid call, until accepted',
  async (t) => {
    const { store, dataDir, open } = await stand(t)
    await openKeptCount(dataDir, 'here', SILENT).keep(9)
    await store.sql`INSERT INTO money_counts (node, n) VALUES ('here', 5)`
    await t.rejects(open(), /lacks 4 of this node's money transfers.* until you run `sluice accept-restore`/)
    t.equal(await stepsBehind(store.sql, { node: 'here', kept: 9 }), 4)
    t.same(await acceptRestore(store.sql, null), [{ node: 'here', behind: 4 }], 'also from another machine')
    t.type(await open(), 'string')
    t.same(await acceptRestore(store.sql, { node: 'here', kept: 9 }), [], 'a second time changes nothing')
  },
)

t.test('the restore of a stopped node is accepted with the count in its directory', async (t) => {
  const { store, dataDir, open } = await stand(t)
  await openKeptCount(dataDir, 'here', SILENT).keep(3)
  t.same(await acceptRestore(store.sql, { node: 'here', kept: readCount(dataDir) }), [
    { node: 'here', behind: 3 },
  ])
  t.type(await open(), 'string')
})

t.test('a directory keeps the highest count, and a failed write to it is logged', async (t) => {
  const dataDir = temporaryFolder(t, 'data')
  const count = openKeptCount(dataDir, 'here', SILENT)
  await count.keep(7)
  await count.keep(4)
  t.equal(count.read(), 7)
  const log = keptLog()
  await openKeptCount(`${dataDir}/none`, 'here', log).keep(1)
  t.match(log.events, [{ event: 'money_count_not_kept' }])
})
