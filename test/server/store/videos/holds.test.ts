import t from 'tap'
import { checkLedger } from '../../../../src/server/store/money/repair/check.ts'
import { must } from '../../../support/must.ts'
import { imbalances, limitCredit, openJournal, setLimit, turnTo } from '../../../support/money/money.ts'
import {
  accepted,
  nameOf,
  openVideoStand,
  OWN,
  videoKey,
  videoInput,
  type VideoStand,
} from '../../../support/videos/video-jobs.ts'

/** The amount that an account has lent in its lifetime window. */
async function lentOf({ store }: VideoStand, id: string): Promise<number> {
  const [row] = await store.sql<
    { lent: number }[]
  >`SELECT lifetime_lent_nano::int AS lent FROM accounts WHERE id = ${id}`
  return row?.lent ?? -1
}

t.test(
  'a job holds its cost of each account that has a limit, and the books balance while it does',
  async (t) => {
    const stand = await openVideoStand(t)
    const {
      store,
      jobs,
      owners: { accounts, organizationId },
    } = stand
    await limitCredit(store.sql, organizationId, 1_000)
    await setLimit(store.sql, accounts.key, 'daily', 500)
    await accepted(jobs, videoInput(stand.owners))
    t.same(
      await Promise.all(
        [accounts.organization, accounts.key, accounts.workspace].map((id) => lentOf(stand, id)),
      ),
      [100, 100, 0],
    )
    t.same(await imbalances(store.sql), [])
    const { differences, sums } = must(await checkLedger(store))
    t.same([differences, sums.heldNano, sums.lentNano, sums.leases], [[], 200n, 0n, 2])
  },
)

t.test('the ledger check finds a hold without an open job', async (t) => {
  const { store, jobs, owners } = await openVideoStand(t)
  await setLimit(store.sql, owners.accounts.key, 'daily', 500)
  await accepted(jobs, videoInput(owners))
  await store.sql`UPDATE video_jobs SET state = 'failed'`
  t.match(must(await checkLedger(store)).differences, [
    { counter: 'job', expected: 'an open job', found: 'failed' },
  ])
  await store.sql`DELETE FROM video_jobs`
  t.match(must(await checkLedger(store)).differences, [
    { counter: 'job', expected: 'an open job', found: 'none' },
  ])
})

t.test('any number of fronts together accept jobs up to exactly the limit', async (t) => {
  const stand = await openVideoStand(t)
  await setLimit(stand.store.sql, stand.owners.accounts.workspace, 'monthly', 5_000)
  const fronts = Array.from({ length: 3 }, () => stand.open())
  const input = () => videoInput(stand.owners, { limits: { isWorkspaceLimited: true } })
  const outcomes = await Promise.all(
    Array.from({ length: 120 }, (_, nth) => fronts[nth % 3]?.accept(input())),
  )
  t.equal(outcomes.filter((outcome) => outcome?.ok === true).length, 50)
  t.equal(await lentOf(stand, stand.owners.accounts.workspace), 5_000)
  t.same(must(await checkLedger(stand.store)).differences, [])
})

t.test(
  'a refusal names credit first, then the key, then the broadest budget, and holds nothing',
  async (t) => {
    const stand = await openVideoStand(t)
    const { store, jobs, owners } = stand
    const { organization, workspace, key } = owners.accounts
    await setLimit(store.sql, workspace, 'daily', 99)
    await setLimit(store.sql, workspace, 'monthly', 99)
    t.match(await jobs.accept(videoInput(owners)), {
      failure: { name: 'budget_exceeded', metadata: { interval: 'monthly', limit: 99e-9, spend: 0 } },
    })
    await setLimit(store.sql, key, 'lifetime', 99)
    t.equal(nameOf(await jobs.accept(videoInput(owners))), 'key_limit_exceeded')
    await limitCredit(store.sql, owners.organizationId, 50)
    t.match(await jobs.accept(videoInput(owners)), {
      failure: { name: 'credit_exhausted', metadata: { limit_source: 'credit' } },
    })
    t.same(await Promise.all([organization, workspace, key].map((id) => lentOf(stand, id))), [0, 0, 0])
    t.equal(await stand.count(), 0)
  },
)

t.test('a refusal by one account leaves the others as they were', async (t) => {
  const stand = await openVideoStand(t)
  const { store, jobs, owners } = stand
  await setLimit(store.sql, owners.accounts.workspace, 'daily', 1_000)
  await setLimit(store.sql, owners.accounts.key, 'daily', 10)
  const [refused, taken] = await Promise.all([
    jobs.accept(videoInput(owners)),
    jobs.accept(videoInput(owners, { costNano: 10 })),
  ])
  t.same([nameOf(refused), nameOf(taken)], ['key_limit_exceeded', 'ok'])
  t.equal(await lentOf(stand, owners.accounts.workspace), 10)
})

t.test('a job under own credentials holds money only in accounts that count BYOK', async (t) => {
  const stand = await openVideoStand(t)
  const { store, jobs, owners } = stand
  await limitCredit(store.sql, owners.organizationId, 1)
  await setLimit(store.sql, owners.accounts.workspace, 'daily', 1)
  await setLimit(store.sql, owners.accounts.key, 'daily', 100)
  await accepted(jobs, videoInput(owners, { target: OWN }))
  t.equal(await lentOf(stand, owners.accounts.key), 0)
  await store.sql`UPDATE accounts SET counts_byok = true WHERE id = ${owners.accounts.key}`
  await accepted(jobs, videoInput(owners, { target: OWN }))
  t.equal(await lentOf(stand, owners.accounts.key), 100)
  t.equal(nameOf(await jobs.accept(videoInput(owners, { target: OWN }))), 'key_limit_exceeded')
})

t.test(
  'a job of unknown cost is refused by every finite limit that counts it, however much is left',
  async (t) => {
    const stand = await openVideoStand(t)
    const { store, jobs, owners } = stand
    const unpriced = (more: object = {}) =>
      jobs.accept(videoInput(owners, { costNano: 0, isUnpriced: true, ...more }))
    t.equal(nameOf(await unpriced()), 'ok', 'without a limit')
    await limitCredit(store.sql, owners.organizationId, 1_000_000)
    const refused = await unpriced()
    t.match(refused, {
      ok: false,
      failure: { name: 'cost_unbounded', metadata: { scope: 'organization', limit_source: 'credit' } },
    })
    t.match(await unpriced({ key: videoKey(owners, { isCreditLimited: true }) }), {
      ok: false,
      failure: { name: 'cost_unbounded' },
    })
    t.equal(nameOf(await unpriced({ target: OWN })), 'ok', 'credit does not count own credentials')
    await setLimit(store.sql, owners.accounts.key, 'daily', 500)
    t.equal(nameOf(await unpriced({ target: OWN })), 'ok', 'nor does a key whose limit leaves them out')
    await store.sql`UPDATE accounts SET counts_byok = true WHERE id = ${owners.accounts.key}`
    t.equal(nameOf(await unpriced({ target: OWN })), 'cost_unbounded')
    t.same(await imbalances(store.sql), [])
  },
)

t.test('a free job is accepted however little is left', async (t) => {
  const { store, jobs, owners } = await openVideoStand(t)
  await limitCredit(store.sql, owners.organizationId, 0)
  t.equal(nameOf(await jobs.accept(videoInput(owners, { costNano: 0 }))), 'ok')
})

t.test('a hold belongs to the window of its acceptance, the newest day of the account', async (t) => {
  const stand = await openVideoStand(t)
  const { store, jobs, owners } = stand
  await turnTo(store.sql, '2026-12-31')
  await setLimit(store.sql, owners.accounts.key, 'daily', 100)
  await accepted(jobs, videoInput(owners))
  t.equal(nameOf(await jobs.accept(videoInput(owners))), 'key_limit_exceeded')
  await turnTo(store.sql, '2027-01-01')
  await accepted(jobs, videoInput(owners))
  await turnTo(store.sql, '2026-12-31')
  t.equal(nameOf(await jobs.accept(videoInput(owners))), 'key_limit_exceeded')
  const rows = await store.sql<{ hold_day: string; day: string }[]>`
    SELECT hold_day::text, l.day::text FROM video_jobs j JOIN leases l ON l.journal_id = j.hold_id ORDER BY j.id`
  t.same(
    rows.map(({ hold_day: holdDay, day }) => [holdDay, day]),
    [
      ['2026-12-31', '2026-12-31'],
      ['2027-01-01', '2027-01-01'],
    ],
  )
  t.same(must(await checkLedger(store)).differences, [])
})

t.test('without any limit no account is locked, nor waited for', async (t) => {
  const { store, jobs, owners } = await openVideoStand(t)
  await store.sql.begin(async (tx) => {
    await tx`SELECT FROM accounts FOR UPDATE`
    await accepted(jobs, videoInput(owners))
  })
  t.pass('it was accepted')
})

t.test('a job waits for money that a front returns after it was called in', async (t) => {
  const { store, open, owners } = await openVideoStand(t)
  await setLimit(store.sql, owners.accounts.key, 'lifetime', 150)
  const front = await openJournal(store)
  await front.lend({ [owners.accounts.key]: 60 })
  let tries = 0
  const jobs = open({
    after: (_ms, run) => {
      tries += 1
      void front
        .flush({ kind: 'give_back', day: front.day, accountId: owners.accounts.key, amountNano: 60 })
        .then(run)
    },
  })
  t.equal(nameOf(await jobs.accept(videoInput(owners))), 'ok')
  t.equal(tries, 1)
  const [row] =
    await store.sql`SELECT wanted_at IS NOT NULL AS is_wanted FROM accounts WHERE id = ${owners.accounts.key}`
  t.equal(row?.['is_wanted'], true)
})

t.test('a job is refused when money held by fronts does not return in time', async (t) => {
  const { store, open, owners } = await openVideoStand(t)
  await setLimit(store.sql, owners.accounts.key, 'lifetime', 150)
  await (await openJournal(store)).lend({ [owners.accounts.key]: 60 })
  let now = 0
  const jobs = open({
    now: () => now,
    after: (ms, run) => {
      now += ms
      setImmediate(run)
    },
  })
  t.match(await jobs.accept(videoInput(owners)), {
    failure: { name: 'key_limit_exceeded', detail: /0\.00000006 is reserved/ },
  })
  t.equal(now, 525)
})

t.test('neither jobs nor fronts wait for money that other jobs hold', async (t) => {
  const { store, jobs, open, owners } = await openVideoStand(t)
  await setLimit(store.sql, owners.accounts.key, 'lifetime', 150)
  await accepted(jobs, videoInput(owners))
  t.equal(
    nameOf(await open({ after: () => t.fail('it waits') }).accept(videoInput(owners))),
    'key_limit_exceeded',
  )
  const front = await openJournal(store)
  t.match((await front.lend({ [owners.accounts.key]: 60 })).accounts, [
    { lentNano: 0, isLentElsewhere: false },
  ])
})
