import t, { type Test } from 'tap'
import { COST_NANO_MAX } from '../../../../../src/schemas/money/money-limits.ts'
import { checkLedger } from '../../../../../src/server/store/money/repair/check.ts'
import { closeNode, journalsOf } from '../../../../../src/server/store/money/repair/close-node.ts'
import { forgive, listForfeits } from '../../../../../src/server/store/money/repair/forgive.ts'
import { pruneLedger } from '../../../../../src/server/store/money/repair/retention.ts'
import { sumActivity } from '../../../../../src/server/store/money/activity.ts'
import { openLender } from '../../../../../src/server/store/money/lender.ts'
import { auditOf, CLI } from '../../../../support/audit/audit.ts'
import { SILENT } from '../../../../support/log.ts'
import {
  makeOwners,
  openJournal,
  openTake,
  setLimit,
  settlement,
  turnTo,
} from '../../../../support/money/money.ts'
import { must } from '../../../../support/must.ts'
import { openTestStore, waitLong } from '../../../../support/stores/postgres.ts'
import { COUNTER_USD_MAX } from '../../../../../src/server/store/money/lending/counters.ts'

t.setTimeout(600_000)
waitLong()

const DAY = '2026-11-18'

async function stand(t: Test) {
  const store = await openTestStore(t, 8)
  await turnTo(store.sql, DAY)
  const owners = await makeOwners(store)
  for (const kind of ['workspace', 'key'] as const)
    await setLimit(store.sql, owners.accounts[kind], 'daily', 1_000_000)
  return { store, owners, lender: openLender(store, { log: SILENT }), ...owners.accounts }
}

const OF_TWO = { organization: false, workspace: true, key: true }
const NONE = { organization: false, workspace: false, key: false }

t.test(
  'a check finds no differences while fronts borrow and settle, and forfeits are forgiven',
  async (t) => {
    const { store, owners, lender, workspace, key } = await stand(t)
    let isEnding = false
    const fronts = Array.from({ length: 3 }, async (_, n) => {
      for (let round = 0; !isEnding; round++) {
        const front = await openJournal(store)
        const { day } = await front.lend({ [workspace]: 100, [key]: 100 })
        await front.flush(
          settlement(owners, day, 1 + n, { paid: OF_TWO, overrunNano: 9 }),
          settlement(owners, day, 3 + n, { paid: NONE, isByok: true }),
        )
        await front.flush({ kind: 'give_back', day, accountId: key, amountNano: 50 })
        const open = [
          openTake(owners, day, 5, { paid: OF_TWO, amounts: { organization: 0, workspace: 5, key: 3 } }),
        ]
        await lender.close({ journalId: front.id, rest: null, open, isComplete: round % 2 === 0 })
      }
    })
    const forgiving = (async () => {
      while (!isEnding) must(await forgive(store, { before: '2026-12-01', note: '' }, CLI))
    })()
    const under = Promise.all([...fronts, forgiving]).finally(() => (isEnding = true))
    for (let checks = 0; checks < 6 && !isEnding; checks++)
      t.same(must(await checkLedger(store)).differences, [])
    isEnding = true
    await under
    const { sums, differences } = must(await checkLedger(store))
    t.same(differences, [])
    t.ok(sums.rows > 10 && sums.spentNano > 0n && sums.byokNano > 0n)
  },
)

t.test(
  "a dead node is closed once: its money is forfeited or returns to credit, and its organization's audit log has it",
  async (t) => {
    const { store, owners, lender, workspace, organization } = await stand(t)
    await setLimit(store.sql, organization, 'lifetime', 1_000)
    await store.sql`
    INSERT INTO credits (id, organization_id, kind, amount_nano, note, created_by)
    VALUES (gen_random_uuid(), ${owners.organizationId}, 'top_up', 1000, '', '')`
    const front = await openJournal(store)
    await front.lend({ [workspace]: 70, [organization]: 30 })
    t.match(must(await journalsOf(store, 'here')), { open: [front.id], liveFronts: 0, silentFronts: 0 })
    t.same(must(await closeNode({ store, lender }, 'here', CLI)), {
      journals: 1,
      forfeits: 1,
      forfeitedNano: 70n,
      returnedNano: 30n,
    })
    t.same(must(await closeNode({ store, lender }, 'here', CLI)), {
      journals: 0,
      forfeits: 0,
      forfeitedNano: 0n,
      returnedNano: 0n,
    })
    t.match(
      (await auditOf(store)).filter(
        (event) => (event as { operation: string }).operation === 'cli.ledger-close-node',
      ),
      [{ object_kind: 'node', object_id: 'here', after: { forfeits: 1, amount_nano: '70' } }],
    )
    t.same(must(await checkLedger(store)).differences, [])
    t.equal(must(await forgive(store, { journalId: front.id, note: '' }, CLI)).amountNano, 70n)
    t.same(must(await listForfeits(store, {}, 10)), [])
    t.same(must(await checkLedger(store)).differences, [])
  },
)

t.test('old months are dropped while calls of today are booked', async (t) => {
  const { store, owners, workspace, key } = await stand(t)
  const old = await openJournal(store)
  await old.lend({ [workspace]: 100, [key]: 100 })
  await old.flush(settlement(owners, DAY, 40, { paid: OF_TWO }))
  await openLender(store, { log: SILENT }).close({
    journalId: old.id,
    rest: null,
    open: [],
    isComplete: true,
  })
  await turnTo(store.sql, '2027-03-10')
  const front = await openJournal(store)
  const { day } = await front.lend({ [workspace]: 100, [key]: 100 })
  // The calendar of the test is not that of the instants.
  await store.sql`UPDATE journals SET opened_at = '2027-03-10' WHERE id = ${front.id}`
  const [pruned] = await Promise.all([
    pruneLedger(store, 2),
    front.flush(settlement(owners, day, 7, { paid: OF_TWO })),
  ])
  t.match(pruned, { rows: 1 })
  t.match(must(await checkLedger(store)), { differences: [], sums: { rows: 1, prunedNano: 40n } })
})

t.test(
  'absurd costs do not stop calls: counters stop above every limit, and the books still balance',
  async (t) => {
    const { store, owners, lender, workspace } = await stand(t)
    const neighbour = await makeOwners(store, 'p')
    const front = await openJournal(store)
    const most = BigInt(COUNTER_USD_MAX) * 1_000_000_000n
    const dearest = Array.from({ length: 600 }, () =>
      settlement(owners, DAY, COST_NANO_MAX, { isByok: true, paid: NONE, overrunNano: COST_NANO_MAX }),
    )
    for (const _ of [1, 2])
      t.equal(await front.flush(...dearest, settlement(neighbour, DAY, 7, { paid: NONE })), 'applied')
    const reported = await store.sql`
    SELECT a.lifetime_byok_nano AS counter, r.byok_nano AS rolled FROM accounts a, activity r WHERE a.id = ${workspace} AND r.key_hash = ${owners.keyHash}`
    t.same(reported, [{ counter: String(most), rolled: String(most) }])
    t.same(
      await store.sql`SELECT lifetime_spent_nano AS spent FROM accounts WHERE id = ${neighbour.accounts.key}`,
      [{ spent: '14' }],
    )
    t.match(must(await checkLedger(store)), {
      differences: [],
      sums: { byokNano: 1_200n * BigInt(COST_NANO_MAX) },
    })
    const report = must(
      await sumActivity(store, { organizationId: owners.organizationId, by: 'day', from: DAY, to: DAY }),
    )
    t.equal(report.total.byokNano, most)
    await turnTo(store.sql, '2027-03-01')
    await front.flush(settlement(owners, '2027-03-01', COST_NANO_MAX, { isByok: true, paid: NONE }))
    await lender.close({
      journalId: front.id,
      rest: { from: front.offset, to: front.offset, entries: [] },
      open: [],
      isComplete: true,
    })
    t.match(await pruneLedger(store, 1), { rows: 2_402, held: 0 })
    t.match(must(await checkLedger(store)), { differences: [] })
  },
)
