import t from 'tap'
import { checkLedger } from '../../../../../src/server/store/money/repair/check.ts'
import { pruneLedger } from '../../../../../src/server/store/money/repair/retention.ts'
import { newId } from '../../../../../src/server/store/base/ids.ts'
import { openBooks, type Books } from '../../../../support/money/ledger.ts'
import { must } from '../../../../support/must.ts'
import { turnTo } from '../../../../support/money/accounts.ts'
import { accepted, openVideoStand, videoInput } from '../../../../support/videos/video-jobs.ts'

t.setTimeout(600_000)

async function filled(books: Books): Promise<void> {
  await books.book(
    { cost: 3, day: '2026-01-05' },
    { cost: 5, day: '2026-01-31', isByok: true },
    { cost: 7, kind: 'forfeit', day: '2026-02-01' },
    { cost: 11, kind: 'forfeit', day: '2026-02-02', accountId: books.accounts.key },
    { cost: 13, day: '2026-02-28' },
    { cost: 17 },
  )
}

async function months({ store }: Books): Promise<readonly string[]> {
  return must(await checkLedger(store)).sums.months.map((month) => month.slice(0, 7))
}

t.test('months older than the retention are dropped, and the books still balance', async (t) => {
  const books = await openBooks(t)
  await filled(books)
  await books.turnTo('2026-04-01')
  t.same(await pruneLedger(books.store, 1), { months: 2, rows: 5, held: 0 })
  const { sums, differences } = must(await checkLedger(books.store))
  t.same(differences, [])
  t.match(sums, { rows: 1, prunedNano: 21n })
  t.equal(await books.counter(books.accounts.workspace, 'lifetime_spent_nano'), '40')
  t.equal(await books.counter(books.accounts.key, 'lifetime_byok_nano'), '5')
})

t.test('0 keeps the ledger for ever', async (t) => {
  const books = await openBooks(t)
  await filled(books)
  await books.turnTo('2036-04-01')
  const before = await months(books)
  t.same(await pruneLedger(books.store, 0), { months: 0, rows: 0, held: 0 })
  t.same(await months(books), before)
})

t.test('rolls an unused account over to the current windows', async (t) => {
  const books = await openBooks(t)
  await filled(books)
  await books.turnTo('2026-08-01')
  await pruneLedger(books.store, 1)
  t.equal(await books.counter(books.accounts.key, 'monthly_spent_nano'), '0')
  t.equal(await books.counter(books.accounts.key, 'day'), '2026-08-01')
  t.same(must(await checkLedger(books.store)).differences, [])
})

t.test('entries booked to a dropped month are added to its dropped sums', async (t) => {
  const books = await openBooks(t)
  await filled(books)
  await books.turnTo('2026-08-01')
  await pruneLedger(books.store, 1)
  await books.store.sql`DELETE FROM activity WHERE day < '2026-03-01'`
  await books.book({ cost: 19, day: '2026-01-07' })
  await books.store.sql`DELETE FROM activity WHERE day > '2026-03-01'`
  await pruneLedger(books.store, 1)
  t.match(must(await checkLedger(books.store)), {
    differences: [],
    sums: { prunedNano: 3n + 5n + 13n + 17n + 19n },
  })
})

t.test(
  'keeps a month while its lent money is out, or a dead front from that time has an open journal',
  async (t) => {
    const books = await openBooks(t)
    const { store, accounts } = books
    await filled(books)
    await books.turnTo('2026-03-20')
    const journal = newId()
    await store.sql`INSERT INTO journals (id, node, boot_id, opened_at) VALUES (${journal}, 'n', 'b', '2026-01-20')`
    t.same(await pruneLedger(store, 1), { months: 0, rows: 0, held: 1 })
    await store.sql`INSERT INTO fronts (id, node, connections, epoch, heartbeat_at) VALUES (${journal}, 'n', 1, 0, now())`
    await store.sql`INSERT INTO leases VALUES (${journal}, ${accounts.key}, '2026-01-20', 1)`
    t.match(await pruneLedger(store, 1), { held: 1 })
    await store.sql`DELETE FROM leases`
    t.match(await pruneLedger(store, 1), { months: 1, held: 0 })
  },
)

t.test('keeps a month while a video job accepted in it is open, even if it holds no money', async (t) => {
  const { store, jobs, owners } = await openVideoStand(t)
  await turnTo(store, '2026-01-20')
  await store.sql`SELECT ledger_partition('2026-01-20')`
  await accepted(jobs, videoInput(owners))
  await turnTo(store, '2026-03-20')
  t.match(await pruneLedger(store, 1), { months: 0, held: 1 })
  await store.sql`UPDATE video_jobs SET state = 'failed'`
  t.match(await pruneLedger(store, 1), { months: 1, held: 0 })
})

t.test('keeps a month whose last week has not ended', async (t) => {
  const books = await openBooks(t, '2026-03-31')
  await books.book({ cost: 3 }, { cost: 5, day: '2026-02-27' })
  // The Wednesday of the same week, in the next month.
  await books.turnTo('2026-04-01')
  t.same(await pruneLedger(books.store, 1), { months: 1, rows: 1, held: 0 })
  t.ok((await months(books)).includes('2026-03'))
})

t.test('two processes that drop months at once drop each month once', async (t) => {
  const books = await openBooks(t)
  await filled(books)
  await books.turnTo('2026-08-01')
  const both = await Promise.all(
    [pruneLedger(books.store, 1), pruneLedger(books.store, 1)].map((one) => one.catch(() => ({ months: 0 }))),
  )
  t.ok(both.reduce((sum, { months }) => sum + months, 0) >= 1)
  t.same(must(await checkLedger(books.store)).differences, [])
})
