import t from 'tap'
import { checkLedger, DIFFERENCES_MAX } from '../../../../../src/server/store/money/repair/check.ts'
import { SPANS } from '../../../../../src/server/ports/money/money.ts'
import { newId } from '../../../../../src/server/store/base/ids.ts'
import { must } from '../../../../support/must.ts'
import { openBooks, type Books } from '../../../../support/money/ledger.ts'

t.setTimeout(600_000)

/** Something of everything, on days of this week, this month and before. The calendar shows a Wednesday. */
async function filled(books: Books): Promise<void> {
  await books.book(
    { cost: 5 },
    { cost: 7, kind: 'estimated' },
    { cost: 11, isByok: true },
    { cost: 1_000, kind: 'overrun' },
    { cost: 13, day: '2026-03-16' },
    { cost: 17, day: '2026-03-15' },
    { cost: 19, day: '2026-02-28', model: 'n' },
    { cost: 23, kind: 'forfeit' },
    { cost: 29, kind: 'forfeit', accountId: books.accounts.workspace },
  )
}

t.test('books that balance have no differences, and the report has their sums', async (t) => {
  const books = await openBooks(t)
  await filled(books)
  const { sums, differences, count } = must(await checkLedger(books.store))
  t.same([differences, count], [[], 0])
  t.match(sums, { rows: 9, accounts: 3, activityRows: 4, spentNano: 61n, byokNano: 11n, forfeitedNano: 23n })
  t.equal(await books.counter(books.accounts.workspace, 'weekly_spent_nano'), String(5 + 7 + 13 + 23 + 29))
  t.equal(await books.counter(books.accounts.organization, 'lifetime_spent_nano'), '61')
})

t.test('finds each account counter that is off by one', async (t) => {
  const books = await openBooks(t)
  await filled(books)
  const columns = SPANS.flatMap((span) =>
    ['byok', 'lent', 'spent'].map((what) => `${span}_${what}_nano`),
  ).sort()
  const right = await Promise.all(columns.map((column) => books.counter(books.accounts.key, column)))
  await books.store.sql.unsafe(
    `UPDATE accounts SET ${columns.map((column) => `${column} = ${column} + 1`).join(', ')} WHERE id = $1`,
    [books.accounts.key],
  )
  const { differences, count } = must(await checkLedger(books.store))
  t.same(
    differences.toSorted((a, b) => (a.counter < b.counter ? -1 : 1)),
    columns.map((counter, nth) => ({
      subject: books.accounts.key,
      counter,
      expected: right[nth],
      found: String(BigInt(right[nth] ?? '') + 1n),
    })),
  )
  t.equal(count, columns.length)
})

t.test('compares every column of activity and finds values that are too low and too high', async (t) => {
  const books = await openBooks(t)
  await filled(books)
  await books.store.sql`
    UPDATE activity SET requests = 0, tokens = 0, output_tokens = 2, cached_tokens = 4, milliseconds = 1,
      spent_nano = 0, byok_nano = 0, forfeited_nano = 0 WHERE day = '2026-03-18'`
  const { differences } = must(await checkLedger(books.store))
  t.same(
    differences.map(({ counter, expected, found }) => `${counter} ${expected} ${found}`),
    [
      'byok_nano 11 0',
      'cached_tokens 0 4',
      'forfeited_nano 23 0',
      'milliseconds 0 1',
      'output_tokens 0 2',
      'requests 3 0',
      'spent_nano 12 0',
      'tokens 3 0',
    ],
  )
  await books.store.sql`DELETE FROM ledger WHERE day = '2026-03-16'`
  t.ok(
    must(await checkLedger(books.store)).differences.some(({ subject }) =>
      subject.startsWith('activity 2026-03-16'),
    ),
  )
})

t.test(
  'lent money equals the leases of the window, and a lease needs an open journal and an account',
  async (t) => {
    const { store, accounts } = await openBooks(t)
    const journal = newId()
    await store.sql`INSERT INTO journals (id, node, boot_id) VALUES (${journal}, 'n', 'b')`
    await store.sql`INSERT INTO leases VALUES (${journal}, ${accounts.key}, '2026-03-18', 10), (${journal}, ${accounts.key}, '2026-03-02', 5)`
    await store.sql`UPDATE accounts SET daily_lent_nano = 10, weekly_lent_nano = 10, monthly_lent_nano = 15, lifetime_lent_nano = 15 WHERE id = ${accounts.key}`
    t.same(must(await checkLedger(store)).differences, [])
    await store.sql`UPDATE journals SET state = 'closed'`
    await store.sql`INSERT INTO leases VALUES (${journal}, 'kx', '2026-03-18', 1)`
    const { differences } = must(await checkLedger(store))
    t.same(differences.map(({ counter, found }) => `${counter} ${found}`).sort(), [
      'account none',
      'journal closed',
      'journal closed',
      'journal closed',
    ])
  },
)

t.test("an organization's limit equals the sum of its credits", async (t) => {
  const { store, organizationId, accounts } = await openBooks(t)
  const limit = (nano: number) => store.sql`
    INSERT INTO account_limits (account_id, span, id, limit_nano) VALUES (${accounts.organization}, 'lifetime', ${newId()}, ${nano})
    ON CONFLICT (account_id, span) DO UPDATE SET limit_nano = excluded.limit_nano`
  await store.sql`
    INSERT INTO credits (id, organization_id, kind, amount_nano, note, created_by)
    VALUES (${newId()}, ${organizationId}, 'top_up', 50, '', ''), (${newId()}, ${organizationId}, 'correction', -20, '', '')`
  t.match(must(await checkLedger(store)).differences, [
    { subject: accounts.organization, expected: '30', found: null },
  ])
  await limit(30)
  t.same(must(await checkLedger(store)).differences, [])
  await limit(31)
  t.match(must(await checkLedger(store)).differences, [
    { subject: accounts.organization, expected: '30', found: '31' },
  ])
})

t.test('finds rows of unknown keys, workspaces and accounts', async (t) => {
  const books = await openBooks(t)
  await books.book({ cost: 1 }, { cost: 1 }, { cost: 1, kind: 'forfeit', accountId: 'kx' })
  await books.store.sql`UPDATE ledger SET key_hash = 'gone' WHERE request_id = 'r0' AND account_id IS NULL`
  await books.store.sql`UPDATE ledger SET workspace_id = ${newId()} WHERE request_id = 'r1'`
  const orphans = must(await checkLedger(books.store)).differences.filter(
    ({ subject }) => subject === 'ledger',
  )
  t.match(
    orphans.map(({ counter }) => counter),
    ['rows of an unknown account kx', 'rows of an unknown key gone', /^rows of an unknown workspace /],
  )
})

t.test(`lists the first ${DIFFERENCES_MAX} differences of each kind, and counts all`, async (t) => {
  const { store, organizationId } = await openBooks(t)
  await store.sql`
    INSERT INTO accounts (id, owner_kind, organization_id, daily_spent_nano)
    SELECT 'k' || n, 'key', ${organizationId}, 1 FROM generate_series(1, 250) AS n`
  const { differences, count } = must(await checkLedger(store))
  t.same([differences.length, count], [DIFFERENCES_MAX, 250])
})
