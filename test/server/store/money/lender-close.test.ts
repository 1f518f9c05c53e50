import t from 'tap'
import { openLender } from '../../../../src/server/store/money/lender.ts'
import { ensurePartitions, withPartitions } from '../../../../src/server/store/money/lending/partitions.ts'
import { keptLog, SILENT } from '../../../support/log.ts'
import {
  imbalances,
  makeOwners,
  openJournal,
  openTake,
  setLimit,
  settlement,
  turnTo,
} from '../../../support/money/money.ts'
import { openTestStore, waitLong } from '../../../support/stores/postgres.ts'

type Tap = Parameters<typeof openTestStore>[0]

waitLong()

const DAY = '2026-11-18'

/** A front that was lent 500 nano-USD of each account, whose limits are 1,000. */
async function stand(t: Tap) {
  const store = await openTestStore(t)
  await turnTo(store.sql, DAY)
  const owners = await makeOwners(store)
  const { organization, workspace, key } = owners.accounts
  for (const id of [organization, workspace, key]) await setLimit(store.sql, id, 'monthly', 1_000)
  const front = await openJournal(store)
  await front.lend({ [organization]: 500, [workspace]: 500, [key]: 500 })
  const counters = async () => {
    const rows = await store.sql<{ owner_kind: string; spent: string; lent: string }[]>`
      SELECT owner_kind, monthly_spent_nano AS spent, monthly_lent_nano AS lent FROM accounts ORDER BY id`
    return Object.fromEntries(rows.map((row) => [row.owner_kind, [Number(row.spent), Number(row.lent)]]))
  }
  return { store, owners, front, counters, lender: openLender(store, { log: SILENT }), workspace, key }
}

t.test(
  "a dead front's settled money is spent and its open calls are forfeited, except credit; the rest returns",
  async (t) => {
    const { store, owners, front, counters, lender } = await stand(t)
    const rest = { from: 0, to: 10, entries: [settlement(owners, DAY, 100)] }
    const closing = { journalId: front.id, rest, open: [openTake(owners, DAY, 30)], isComplete: true }
    t.same(await lender.close(closing), {
      isClosed: true,
      entries: 1,
      forfeits: 1,
      forfeitedNano: 30n,
      returnedNano: 1_140n,
    })
    t.same(await counters(), { key: [130, 0], organization: [100, 0], workspace: [130, 0] })
    t.same(await imbalances(store.sql), [])
    t.same(await lender.close(closing), {
      isClosed: false,
      entries: 0,
      forfeits: 0,
      forfeitedNano: 0n,
      returnedNano: 0n,
    })
    t.same(await counters(), { key: [130, 0], organization: [100, 0], workspace: [130, 0] })
  },
)

t.test('lent money without a record is forfeited, except credit', async (t) => {
  const { store, owners, front, counters, lender, workspace, key } = await stand(t)
  const closing = { journalId: front.id, rest: null, open: [openTake(owners, DAY, 30)], isComplete: false }
  t.same(await lender.close(closing), {
    isClosed: true,
    entries: 0,
    forfeits: 3,
    forfeitedNano: 970n,
    returnedNano: 500n,
  })
  t.same(await counters(), { key: [500, 0], organization: [0, 0], workspace: [500, 0] })
  t.same(
    await store.sql`SELECT account_id, request_id, cost_nano::int AS nano FROM ledger WHERE key_hash IS NULL ORDER BY account_id`,
    [
      { account_id: key, request_id: front.id, nano: 470 },
      { account_id: workspace, request_id: front.id, nano: 470 },
    ],
  )
  t.same(await imbalances(store.sql), [])
})

t.test(
  'a call that took different amounts from its accounts forfeits each amount in its account',
  async (t) => {
    const { store, owners, front, counters, lender } = await stand(t)
    const open = [openTake(owners, DAY, 0, { amounts: { organization: 10, workspace: 70, key: 10 } })]
    t.equal(
      (await lender.close({ journalId: front.id, rest: null, open, isComplete: true })).forfeitedNano,
      70n,
    )
    t.same(await counters(), { key: [10, 0], organization: [0, 0], workspace: [70, 0] })
    t.same(await imbalances(store.sql), [])
  },
)

t.test('a front whose journal has ended gets no money, books nothing, and is not opened again', async (t) => {
  const { owners, front, lender, key } = await stand(t)
  await lender.close({ journalId: front.id, rest: null, open: [], isComplete: true })
  await front.open()
  t.equal(await lender.lend(front.ask({ [key]: 1 })), null)
  t.equal(await front.flush(settlement(owners, DAY, 1)), 'fenced')
})

t.test(
  'a loan requested while the journal ends is either granted before the end and returned, or refused',
  async (t) => {
    const { store, owners, lender, key } = await stand(t)
    for (let round = 0; round < 10; round++) {
      const front = await openJournal(store)
      await Promise.all([
        lender.lend(front.ask({ [key]: 50, [owners.accounts.workspace]: 50 })),
        lender.close({ journalId: front.id, rest: null, open: [], isComplete: true }),
      ])
      t.same(await store.sql`SELECT 1 FROM leases WHERE journal_id = ${front.id}`, [])
    }
    t.same(await imbalances(store.sql), [])
  },
)

t.test('late records turn forfeits into usage, once, and only credit grows', async (t) => {
  const { store, owners, front, counters, lender } = await stand(t)
  const known = openTake(owners, DAY, 30)
  await lender.close({ journalId: front.id, rest: null, open: [known], isComplete: false })
  const entries = [settlement(owners, DAY, 20, { requestId: known.requestId }), settlement(owners, DAY, 100)]
  const late = { journalId: front.id, rest: { from: 0, to: 77, entries }, open: [], isComplete: true }
  t.same([(await lender.close(late)).entries, (await lender.close(late)).entries], [2, 0])
  t.same(await counters(), { key: [500, 0], organization: [120, 0], workspace: [500, 0] })
  t.same(
    await store.sql`SELECT request_id = ${known.requestId} AS known, released_nano::int AS released FROM ledger WHERE kind = 'forfeit' ORDER BY 1, 2`,
    [
      { known: false, released: 100 },
      { known: false, released: 100 },
      { known: true, released: 20 },
    ],
  )
  t.same(await imbalances(store.sql), [])
})

t.test('a late record releases no forfeit of another caller with the same request id', async (t) => {
  const { store, owners, lender } = await stand(t)
  const neighbour = await makeOwners(store, 'p')
  const front = await openJournal(store)
  const unpaid = { requestId: 'mine', paid: { organization: false, workspace: false, key: false } }
  const open = [openTake(owners, DAY, 100, unpaid), openTake(neighbour, DAY, 100, unpaid)]
  await lender.close({ journalId: front.id, rest: null, open, isComplete: true })
  const entries = [settlement(neighbour, DAY, 80, { requestId: 'mine' })]
  await lender.close({
    journalId: front.id,
    rest: { from: 0, to: 10, entries },
    open: [],
    isComplete: true,
  })
  const held =
    await store.sql`SELECT key_hash, released_nano::int AS released FROM ledger WHERE kind = 'forfeit' AND released_nano > 0`
  t.same(held, [{ key_hash: neighbour.keyHash, released: 80 }])
  t.same(await imbalances(store.sql), [])
})

t.test('late give-back records return the money to its account', async (t) => {
  const { store, front, counters, lender, key } = await stand(t)
  await lender.close({ journalId: front.id, rest: null, open: [], isComplete: false })
  const entries = [{ kind: 'give_back', day: DAY, accountId: key, amountNano: 200 } as const]
  await lender.close({ journalId: front.id, rest: { from: 0, to: 5, entries }, open: [], isComplete: true })
  t.same(await counters(), { key: [300, 0], organization: [0, 0], workspace: [500, 0] })
  t.same(await imbalances(store.sql), [])
})

t.test('late usage that no forfeit covers is counted, so that the books balance', async (t) => {
  const { store, owners, front, counters, lender } = await stand(t)
  await lender.close({ journalId: front.id, rest: null, open: [], isComplete: true })
  await lender.close({
    journalId: front.id,
    rest: { from: 0, to: 5, entries: [settlement(owners, DAY, 40)] },
    open: [],
    isComplete: true,
  })
  t.same(await counters(), { key: [40, 0], organization: [40, 0], workspace: [40, 0] })
  t.same(await imbalances(store.sql), [])
})

t.test('a flush or closing is refused when its batch does not start where the books end', async (t) => {
  const { owners, front, lender } = await stand(t)
  const part = { from: 3, to: 9, entries: [settlement(owners, DAY, 1)] }
  await t.rejects(lender.flush({ journalId: front.id, ...part }), /applied up to 0, got a batch from 3 to 9/)
  await t.rejects(
    lender.close({ journalId: front.id, rest: part, open: [], isComplete: true }),
    /applied up to 0, got entries from 3 to 9/,
  )
})

t.test('spend above a lease counts as spent, uses up only the lease, and is logged', async (t) => {
  const { store, owners, counters, key } = await stand(t)
  const log = keptLog()
  const front = await openJournal(store, log)
  await front.lend({ [key]: 100 })
  await front.flush(
    settlement(owners, DAY, 300, { paid: { organization: false, workspace: false, key: true } }),
  )
  t.same((await counters())['key'], [300, 500])
  t.same(
    log.events.map(({ event, fields }) => [event, fields['fromLease'], fields['lentNano']]),
    [['lease.exceeded', 300n, 100n]],
  )
  t.same(await imbalances(store.sql), [])
})

t.test(
  'writing to a month without a partition creates it, and the next two months have one in advance',
  async (t) => {
    const { store, owners, front, lender } = await stand(t)
    await front.flush(settlement(owners, '2027-03-05', 1))
    await lender.close({
      journalId: front.id,
      rest: null,
      open: [openTake(owners, '2025-01-31', 1)],
      isComplete: true,
    })
    t.same(await store.sql`SELECT DISTINCT day::text FROM ledger ORDER BY 1`, [
      { day: '2025-01-31' },
      { day: '2027-03-05' },
    ])
    await turnTo(store.sql, '2028-12-31')
    t.same(
      [await ensurePartitions(store), await ensurePartitions(store)],
      [{ partitions: 3 }, { partitions: 0 }],
    )
    await store.sql`SELECT 1 FROM ledger_2029_02`
  },
)

t.test('many writers that need the same missing month create it once', async (t) => {
  const store = await openTestStore(t, 8)
  const owners = await makeOwners(store)
  const fronts = await Promise.all(Array.from({ length: 8 }, () => openJournal(store)))
  const results = await Promise.all(fronts.map((front) => front.flush(settlement(owners, '2031-05-05', 1))))
  t.ok(results.every((result) => result === 'applied'))
  t.same(await imbalances(store.sql), [])
})

t.test(
  'recognizes a missing partition in any language of the server, and passes on any other failed check',
  async (t) => {
    const store = await openTestStore(t)
    const raise = (more: string) =>
      store.sql.unsafe(`
    DO $$ BEGIN RAISE EXCEPTION 'keine Partition von Relation »ledger« für die Zeile gefunden' USING ERRCODE = '23514', TABLE = 'ledger'${more}; END $$`)
    let tries = 0
    const write = async (more: string) => {
      if (++tries % 2 === 1) await raise(more)
      return tries
    }
    t.equal(
      await withPartitions(
        store,
        () => ['2001-02-03'],
        () => write(''),
      ),
      2,
    )
    t.ok((await store.sql`SELECT to_regclass('ledger_2001_02') IS NOT NULL AS "isThere"`)[0]?.['isThere'])
    await t.rejects(
      withPartitions(
        store,
        () => [],
        () => write(", CONSTRAINT = 'ledger_check'"),
      ),
      /keine Partition/,
    )
  },
)
