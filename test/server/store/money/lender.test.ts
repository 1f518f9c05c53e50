import t from 'tap'
import { WANTED_MS, openLender } from '../../../../src/server/store/money/lender.ts'
import { SILENT } from '../../../support/log.ts'
import {
  imbalances,
  makeOwners,
  openJournal,
  setLimit,
  settlement,
  turnTo,
} from '../../../support/money/money.ts'
import { openTestStore, waitLong } from '../../../support/stores/postgres.ts'

type Tap = Parameters<typeof openTestStore>[0]

waitLong()

async function stand(t: Tap, day = '2026-11-18') {
  const store = await openTestStore(t, 8)
  await turnTo(store.sql, day)
  const owners = await makeOwners(store)
  return { store, owners, lender: openLender(store, { log: SILENT }), ...owners.accounts }
}

t.test('all fronts together are lent at most what the tightest limit has left', async (t) => {
  const { store, workspace, organization } = await stand(t)
  await setLimit(store.sql, workspace, 'daily', 1_000)
  await setLimit(store.sql, workspace, 'monthly', 700)
  const fronts = await Promise.all(Array.from({ length: 8 }, () => openJournal(store)))
  const replies = await Promise.all(
    fronts.map((front) => front.lend({ [workspace]: 100, [organization]: 50 })),
  )
  const lent = replies.map(({ accounts }) => accounts[0]?.lentNano ?? 0)
  t.equal(
    lent.reduce((sum, nano) => sum + nano),
    700,
  )
  t.same(new Set(lent), new Set([0, 100]))
  t.ok(replies.every(({ accounts }) => accounts[1]?.isUnlimited === true && accounts[1].lentNano === 0))
  t.same(await imbalances(store.sql), [])
})

t.test('a reply has the limits after the grant, and the instants at which they reset', async (t) => {
  const { store, workspace } = await stand(t, '2026-12-31')
  for (const [span, nano] of [
    ['daily', 100],
    ['weekly', 200],
    ['monthly', 300],
    ['lifetime', 400],
  ] as const) {
    await setLimit(store.sql, workspace, span, nano)
  }
  const front = await openJournal(store)
  const {
    day,
    accounts: [grant],
  } = await front.lend({ [workspace]: 40 })
  t.equal(day, '2026-12-31')
  t.same(
    grant?.limits.map(({ span, restNano, resetsAtMs }) => [
      span,
      restNano,
      resetsAtMs === null ? null : new Date(resetsAtMs).toISOString(),
    ]),
    [
      ['daily', 60, '2027-01-01T00:00:00.000Z'],
      ['weekly', 160, '2027-01-04T00:00:00.000Z'],
      ['monthly', 260, '2027-01-01T00:00:00.000Z'],
      ['lifetime', 360, null],
    ],
  )
})

t.test('a repeated request gets the same answer, and its money is lent once', async (t) => {
  const { store, lender, key } = await stand(t)
  await setLimit(store.sql, key, 'lifetime', 1_000)
  const front = await openJournal(store)
  const ask = front.ask({ [key]: 300 })
  const first = await lender.lend(ask)
  t.same(await lender.lend(ask), first)
  t.equal((await front.lend({ [key]: 300 })).accounts[0]?.limits[0]?.restNano, 400)
})

t.test('a front is lent all that is left if that is enough for one call, else nothing', async (t) => {
  const { store, lender, key } = await stand(t)
  await setLimit(store.sql, key, 'lifetime', 100)
  const front = await openJournal(store)
  const input = { accountId: key, needNano: 250, leastNano: 101, useNano: 0 }
  t.equal((await lender.lend(front.ask({}, { accounts: [input] })))?.accounts[0]?.lentNano, 0)
  t.equal(
    (await lender.lend(front.ask({}, { accounts: [{ ...input, leastNano: 100 }] })))?.accounts[0]?.lentNano,
    100,
  )
})

t.test(
  'a busy front is lent what it used in a second, but at most half of its share of the rest',
  async (t) => {
    const { store, lender, key } = await stand(t)
    await setLimit(store.sql, key, 'lifetime', 10_000)
    const front = await openJournal(store)
    const lent = async (useNano: number) =>
      (
        await lender.lend(
          front.ask(
            {},
            { liveFronts: 5, accounts: [{ accountId: key, needNano: 10, leastNano: 10, useNano }] },
          ),
        )
      )?.accounts[0]?.lentNano
    t.same([await lent(400), await lent(50_000)], [400, 960])
  },
)

t.test('a grant fits in a JavaScript number, whatever the limit', async (t) => {
  const { store, lender, key } = await stand(t)
  await store.sql`INSERT INTO account_limits (account_id, span, id, limit_nano) VALUES (${key}, 'lifetime', gen_random_uuid(), 1000000000000000000)`
  const front = await openJournal(store)
  const input = {
    accountId: key,
    needNano: Number.MAX_SAFE_INTEGER,
    leastNano: 1,
    useNano: Number.MAX_SAFE_INTEGER,
  }
  t.equal(
    (await lender.lend(front.ask({}, { accounts: [input] })))?.accounts[0]?.lentNano,
    Number.MAX_SAFE_INTEGER,
  )
})

t.test('a grant too large for an exact double equals its lease, and is returned in full', async (t) => {
  const { store, lender, key } = await stand(t)
  // As a double this is the next even one: the lease would be of more than the account has lent.
  await store.sql`INSERT INTO account_limits (account_id, span, id, limit_nano) VALUES (${key}, 'lifetime', gen_random_uuid(), 27021597764222975)`
  const front = await openJournal(store)
  const input = {
    accountId: key,
    needNano: 4 * Number.MAX_SAFE_INTEGER,
    leastNano: Number.MAX_SAFE_INTEGER,
    useNano: 4 * Number.MAX_SAFE_INTEGER,
  }
  const reply = await lender.lend(front.ask({}, { accounts: [input] }))
  const amountNano = reply?.accounts[0]?.lentNano ?? 0
  t.equal(amountNano, Number.MAX_SAFE_INTEGER)
  t.same(await imbalances(store.sql), [])
  t.equal(
    await front.flush({ kind: 'give_back', day: reply?.day ?? '', accountId: key, amountNano }),
    'applied',
  )
  t.same(await imbalances(store.sql), [])
})

t.test('calls in money of other fronts for a refused one, but only for a while', async (t) => {
  const { store, lender, key, workspace } = await stand(t)
  await setLimit(store.sql, key, 'lifetime', 100)
  await setLimit(store.sql, workspace, 'lifetime', 100)
  const [holder, other] = [await openJournal(store), await openJournal(store)]
  await holder.lend({ [key]: 80, [workspace]: 50 })
  t.same((await lender.pulse([key, workspace])).wanted, [])
  const { accounts } = await other.lend({ [key]: 30, [workspace]: 50 })
  t.same(
    accounts.map(({ lentNano, isLentElsewhere }) => [lentNano, isLentElsewhere]),
    [
      [0, true],
      [50, true],
    ],
  )
  t.same((await lender.pulse([key, workspace])).wanted, [key])
  for (const ms of [-WANTED_MS, WANTED_MS]) {
    await store.sql`UPDATE accounts SET wanted_at = clock_timestamp() - ${ms + Math.sign(ms) * 1_000} * interval '1 ms' WHERE id = ${key}`
    t.same((await lender.pulse([key, workspace])).wanted, [])
  }
})

t.test('does not wait for money that would return to a window that has ended', async (t) => {
  const { store, lender, key } = await stand(t)
  await setLimit(store.sql, key, 'daily', 100)
  const [holder, other] = [await openJournal(store), await openJournal(store)]
  await holder.lend({ [key]: 80 })
  await turnTo(store.sql, '2026-11-19')
  t.same(
    (await other.lend({ [key]: 150 })).accounts.map(({ isLentElsewhere }) => isLentElsewhere),
    [false],
  )
  t.same((await lender.pulse([key])).wanted, [])
})

t.test(
  'all accounts of a request use one day, the newest day of any of them, and the day never goes back',
  async (t) => {
    const { store, lender, key, workspace } = await stand(t)
    await setLimit(store.sql, key, 'daily', 100)
    await setLimit(store.sql, workspace, 'daily', 100)
    const front = await openJournal(store)
    await turnTo(store.sql, '2026-11-20')
    t.equal((await front.lend({ [key]: 60 })).day, '2026-11-20')
    await turnTo(store.sql, '2026-11-19')
    t.equal((await front.lend({ [workspace]: 60 })).day, '2026-11-19')
    const { day, accounts } = await front.lend({ [workspace]: 60, [key]: 40 })
    t.same([day, accounts.map(({ lentNano }) => lentNano)], ['2026-11-20', [60, 40]])
    t.equal((await front.lend({ [workspace]: 1 }, { day: '2026-11-21' })).day, '2026-11-21')
    t.equal((await lender.pulse([])).day, '2026-11-19')
    t.equal((await lender.pulse([key, workspace])).day, '2026-11-21')
    t.same(await imbalances(store.sql), [])
  },
)

t.test('a batch counts once in all three accounts, limited or not, and reduces the lease', async (t) => {
  const { store, owners, lender, key } = await stand(t)
  await setLimit(store.sql, key, 'lifetime', 1_000)
  const front = await openJournal(store)
  const { day } = await front.lend({ [key]: 500 })
  const paid = { organization: false, workspace: false, key: true }
  const entries = [
    settlement(owners, day, 120, { paid }),
    settlement(owners, day, 30, { paid, isEstimated: true, overrunNano: 7 }),
  ]
  const batch = {
    journalId: front.id,
    from: 0,
    to: 64,
    entries: [...entries, { kind: 'give_back', day, accountId: key, amountNano: 50 } as const],
  }
  t.same([await lender.flush(batch), await lender.flush(batch)], ['applied', 'applied'])
  const larger = { ...batch, to: 96, entries: [...batch.entries, ...entries] }
  t.same(await lender.flush(larger), { standsAt: 64 }, 'a late one from the same place books nothing')
  const rows =
    await store.sql`SELECT lifetime_spent_nano AS spent, lifetime_lent_nano AS lent FROM accounts ORDER BY owner_kind`
  t.same(rows, [
    { spent: '150', lent: '300' },
    { spent: '150', lent: '0' },
    { spent: '150', lent: '0' },
  ])
  t.same(await store.sql`SELECT kind, cost_nano::int AS nano FROM ledger ORDER BY nano`, [
    { kind: 'overrun', nano: 7 },
    { kind: 'estimated', nano: 30 },
    { kind: 'usage', nano: 120 },
  ])
  t.same(await imbalances(store.sql), [])
})

t.test('spend under own credentials is separate, and limited only if the account counts BYOK', async (t) => {
  const { store, owners, key, workspace } = await stand(t)
  for (const id of [key, workspace]) await setLimit(store.sql, id, 'daily', 100)
  await store.sql`UPDATE accounts SET counts_byok = true WHERE id = ${key}`
  const front = await openJournal(store)
  const { day } = await front.lend({ [key]: 40, [workspace]: 40 })
  await front.flush(
    settlement(owners, day, 30, { isByok: true, paid: { organization: false, workspace: false, key: true } }),
  )
  const { accounts } = await front.lend({ [key]: 1, [workspace]: 1 })
  t.same(
    accounts.map(({ limits }) => limits.map(({ spentNano, restNano }) => [spentNano, restNano])),
    [[[30, 59]], [[0, 59]]],
  )
  t.same(await imbalances(store.sql), [])
})

t.test('the row of a lease is deleted when the lease is used up', async (t) => {
  const { store, owners, key } = await stand(t)
  await setLimit(store.sql, key, 'daily', 100)
  const front = await openJournal(store)
  const { day } = await front.lend({ [key]: 40 })
  await front.flush(settlement(owners, day, 40))
  t.same(await store.sql`SELECT * FROM leases`, [])
})
