import t from 'tap'
import { checkLedger } from '../../../../../src/server/store/money/repair/check.ts'
import {
  ACCOUNTS_TURNED_AT_ONCE,
  LEDGER_BLOCKS_AT_ONCE,
  beginClosing,
  type Closing,
  drop,
  ledgerMonths,
  pruneLedger,
  sumSome,
} from '../../../../../src/server/store/money/repair/retention.ts'
import { auditOf } from '../../../../support/audit/audit.ts'
import { gate } from '../../../../support/gate.ts'
import { openBooks, type Books } from '../../../../support/money/ledger.ts'
import { SILENT } from '../../../../support/log.ts'
import { must } from '../../../../support/must.ts'
import { runStep } from '../../../../support/operator/retention.ts'
import { lockWaiters } from '../../../../support/stores/lock-waiters.ts'

t.setTimeout(600_000)

const MONTH = { partition: 'ledger_2026_01', first: '2026-01-01' }

/**
 * A month of as many pieces, none of which is whole; in each row a text that fills a block with few of them.
 */
async function months(books: Books, pieces: number): Promise<Closing> {
  const { store, organizationId, workspaceId, keyHash, accounts } = books
  const rows = Math.round((pieces - 0.5) * LEDGER_BLOCKS_AT_ONCE) * 4
  await store.sql`SELECT ledger_partition('2026-01-05')`
  await store.sql`
    INSERT INTO ledger (day, at, request_id, kind, organization_id, workspace_id, key_hash, model, tokens, cost_nano)
    SELECT '2026-01-05', now(), repeat('x', 1500) || nth, 'usage', ${organizationId}, ${workspaceId}, ${keyHash}, 'm', 1, nth
    FROM generate_series(1, ${rows}::int) AS nth`
  await store.sql`
    INSERT INTO activity SELECT organization_id, day, workspace_id, key_hash, model, count(*), sum(tokens), 0, sum(cost_nano), 0, 0
    FROM ledger GROUP BY 1, 2, 3, 4, 5`
  const [sum] = await store.sql<{ nano: string }[]>`SELECT sum(cost_nano)::text AS nano FROM ledger`
  await store.sql`
    UPDATE accounts SET day = '2026-01-05', daily_spent_nano = ${sum?.nano ?? ''}, weekly_spent_nano = ${sum?.nano ?? ''},
      monthly_spent_nano = ${sum?.nano ?? ''}, lifetime_spent_nano = ${sum?.nano ?? ''}
    WHERE id IN (${accounts.organization}, ${accounts.workspace}, ${accounts.key})`
  return { store, month: MONTH, hold: () => Promise.resolve(true) }
}

async function differences({ store }: Books): Promise<readonly unknown[]> {
  return must(await checkLedger(store)).differences
}

t.test(
  'a large month is summed in pieces, the books balance after each, and its lifetime sums stay',
  async (t) => {
    const books = await openBooks(t)
    const closing = await months(books, 3)
    t.same(await differences(books), [])
    const before = await books.counter(books.accounts.key, 'lifetime_spent_nano')
    await books.turnTo('2026-04-01')
    t.ok(await beginClosing(closing))
    t.equal(await sumSome(closing), 'more')
    t.same(await differences(books), [])
    const step = ledgerMonths({ store: books.store, keptMonths: 1, log: SILENT })
    const due = await step.due()
    const ran = await runStep(books.store, step)
    t.match(ran, { rows: due, end: 'done' })
    t.ok(ran.batches >= 4, `${ran.batches} batches`)
    t.same(await differences(books), [])
    t.equal(await books.counter(books.accounts.key, 'lifetime_spent_nano'), before)
    t.same(await books.store.sql`SELECT * FROM ledger_closing`, [])
  },
)

t.test(
  'a row that is written while a month is summed restarts the sum: no row is lost or counted twice',
  async (t) => {
    const books = await openBooks(t)
    const closing = await months(books, 2)
    await books.book({ cost: 7, kind: 'forfeit', day: '2026-01-06', journalId: null })
    await books.turnTo('2026-04-01')
    await beginClosing(closing)
    while ((await sumSome(closing)) === 'more');
    await books.book({ cost: 11, day: '2026-01-07' })
    // No account is of a window of the month any more: nothing else keeps it.
    await books.store
      .sql`UPDATE accounts SET day = '2026-04-01', daily_spent_nano = 0, weekly_spent_nano = 0, monthly_spent_nano = 0`
    t.equal(await drop(closing), null, 'what was added since is not among the sums')
    while ((await sumSome(closing)) === 'more');
    await books.store.sql`UPDATE ledger SET released_nano = 3 WHERE kind = 'forfeit'`
    await books.store.sql`UPDATE activity SET forfeited_nano = 4 WHERE day = '2026-01-06'`
    await books.store
      .sql`UPDATE accounts SET lifetime_spent_nano = lifetime_spent_nano - 3 WHERE id IN (${books.accounts.workspace}, ${books.accounts.key})`
    t.match(await pruneLedger(books.store, 1), { months: 1, held: 0 })
    t.same(await differences(books), [])
  },
)

t.test(
  'a sum that restarts includes the row of a writer who began while the old sum was stale',
  async (t) => {
    const books = await openBooks(t)
    const { store, organizationId, workspaceId, keyHash } = books
    const closing = await months(books, 1)
    await books.turnTo('2026-04-01')
    await beginClosing(closing)
    await sumSome(closing)
    await books.book({ cost: 11, day: '2026-01-07' })
    const [written, done] = [gate(), gate()]
    const writing = store.sql.begin(async (tx) => {
      await tx`
      INSERT INTO ledger (day, at, request_id, kind, organization_id, workspace_id, key_hash, model, cost_nano)
      VALUES ('2026-01-08', now(), 'late', 'usage', ${organizationId}, ${workspaceId}, ${keyHash}, 'm', 5)`
      await tx`UPDATE accounts SET lifetime_spent_nano = lifetime_spent_nano + 5`
      written.open()
      await done.opened
    })
    await written.opened
    // It waits for the writer, or gives up for this time.
    let isOver = false
    const sumAll = async () => {
      while ((await sumSome(closing)) === 'more') continue
    }
    const anew = sumAll()
      .catch(() => undefined)
      .finally(() => (isOver = true))
    while (!isOver && (await lockWaiters(store.sql)) === 0) continue
    done.open()
    await Promise.all([writing, anew])
    await sumAll()
    await store.sql`UPDATE accounts SET day = '2026-04-01', daily_spent_nano = 0, weekly_spent_nano = 0, monthly_spent_nano = 0`
    t.type(await drop(closing), 'number')
    t.same(await differences(books), [])
  },
)

t.test(
  'the sums of a month that was dropped by hand are not used for a new month of the same name',
  async (t) => {
    const books = await openBooks(t)
    const closing = await months(books, 1)
    await books.turnTo('2026-04-01')
    await beginClosing(closing)
    await sumSome(closing)
    await books.store.sql`DROP TABLE ledger_2026_01`
    await books.store.sql`DELETE FROM activity`
    await books.store.sql`UPDATE accounts SET lifetime_spent_nano = 0`
    await books.book({ cost: 5, day: '2026-01-09' })
    t.match(await pruneLedger(books.store, 1), { months: 1, rows: 1 })
    t.match(must(await checkLedger(books.store)), { differences: [], sums: { prunedNano: 5n } })
  },
)

t.test('each organization with rows in a dropped month gets an audit event about it', async (t) => {
  const books = await openBooks(t)
  await books.book({ cost: 3, day: '2026-01-05' }, { cost: 5, day: '2026-01-31', isByok: true })
  await books.turnTo('2026-04-01')
  await pruneLedger(books.store, 1)
  t.match((await auditOf(books.store)).at(-1), {
    operation: 'system.ledger-prune',
    object_kind: 'ledger_month',
    object_id: '2026-01',
    actor: { kind: 'system', id: null },
    before: { rows: '2', spent_nano: '3', byok_nano: '5' },
    after: null,
  })
})

t.test('rolls over each account once when there are more than fit in one transaction', async (t) => {
  const books = await openBooks(t)
  await books.book({ cost: 3, day: '2026-01-05' })
  await books.store.sql`
    INSERT INTO accounts (id, owner_kind, organization_id, day)
    SELECT 'k' || nth, 'key', ${books.organizationId}, '2026-01-05' FROM generate_series(1, ${ACCOUNTS_TURNED_AT_ONCE + 10}::int) AS nth`
  await books.turnTo('2026-04-01')
  t.match(await pruneLedger(books.store, 1), { months: 1, held: 0 })
  t.same(await books.store.sql`SELECT FROM accounts WHERE day < '2026-03-01'`, [])
})

t.test('a process that lost its turn does not drop a month that another process sums', async (t) => {
  const books = await openBooks(t)
  const closing = await months(books, 1)
  await books.turnTo('2026-04-01')
  const lost = { ...closing, hold: () => Promise.resolve(false) }
  t.notOk(await beginClosing(lost))
  await beginClosing(closing)
  t.equal(await sumSome(lost), 'gone')
  await sumSome(closing)
  t.equal(await drop(lost), null)
  t.match(await pruneLedger(books.store, 1), { months: 1 })
})
