/**
 * Fronts that spend one budget, with the real authority, real journals, and the recovery of a front that
 * died. Design §6.
 */
import t, { type Test } from 'tap'
import { openJournal } from '../../../src/server/journal/journal.ts'
import { openRecovery } from '../../../src/server/journal/recovery.ts'
import { createSpend, type FrontSpend } from '../../../src/server/money/spend.ts'
import type { KeyRecord } from '../../../src/server/ports/keys/keys.ts'
import { openKeyStore } from '../../../src/server/store/keys/api-keys.ts'
import { newId } from '../../../src/server/store/base/ids.ts'
import { journalState } from '../../../src/server/store/nodes/journals.ts'
import type { KeptCount } from '../../../src/server/ports/money/lending.ts'
import { openLender } from '../../../src/server/store/money/lender.ts'
import { acceptRestore } from '../../../src/server/store/money/money-counts.ts'
import type { Store } from '../../../src/server/store/base/open.ts'
import { SILENT } from '../../support/log.ts'
import { imbalances, makeOwners, setLimit, type Owners } from '../../support/money/money.ts'
import { costOf } from '../../support/money/money-front.ts'
import { must } from '../../support/must.ts'
import { openTestStore, waitLong } from '../../support/stores/postgres.ts'
import { randomOf } from '../../support/wire/rate-simulation.ts'
import { storeTime } from '../../support/money/store-time.ts'
import { until } from '../../support/wait.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { MONEY_REFUSED_MS } from '../../../src/server/money/balances.ts'

waitLong()

const CREDIT = 4_000_000
const BUDGET = 1_000_000
const BOUND = 2_000
/** Calls of one caller for which no budget of this test lasts. */
const CALLS_MAX = 100 * (BUDGET / BOUND)
/** Longer than any run. */
const NEVER_MS = 2 ** 30

interface Stand {
  readonly store: Store
  readonly owners: Owners
  readonly key: KeyRecord
  /** @returns the front, and whether it was fenced */
  open(): { readonly id: string; readonly spend: FrontSpend; readonly fenced: () => boolean }
  /** Lets so much time of the fronts pass. */
  pass(ms: number): void
  /** What the supervisor does when it saw a front die. */
  recover(id: string): Promise<void>
  /** Nano-USD that count against an account in its widest window, and those that are lent. */
  standing(accountId: string): Promise<{ readonly spent: number; readonly lent: number }>
}

async function openStand(t: Test, count?: KeptCount): Promise<Stand> {
  const store = await openTestStore(t, 6)
  const owners = await makeOwners(store)
  await setLimit(store.sql, owners.accounts.organization, 'lifetime', CREDIT)
  await setLimit(store.sql, owners.accounts.workspace, 'lifetime', BUDGET)
  const [key] = must(await openKeyStore(store).load([owners.keyHash]))
  if (key === undefined) throw new Error('the key is not there')
  const folder = temporaryFolder(t, 'money')
  const time = storeTime()
  const lender = time.awaited(openLender(store, { log: SILENT, ...(count && { count }) }))
  return {
    store,
    owners,
    key,
    open() {
      let isFenced = false
      const owner = { id: newId(), node: 'n', bootId: 'b' }
      const journal = openJournal({
        folder,
        ...owner,
        holder: { pid: process.pid, startedAt: '' },
        log: SILENT,
      })
      const spend = createSpend({
        lender,
        journal,
        owner,
        fronts: { liveFronts: 2 },
        feed: { subscribe: () => () => undefined },
        timers: time.timers,
        log: SILENT,
        fenced: () => (isFenced = true),
      })
      return { id: owner.id, spend, fenced: () => isFenced }
    },
    pass: (ms) => time.pass(ms),
    async recover(id) {
      const stateOf = (of: string) => journalState(store.sql, of)
      const recovery = openRecovery({
        folder,
        lender,
        stateOf,
        bootId: 'b',
        isRunning: () => false,
        log: SILENT,
      })
      recovery.frontEnded(id)
      await recovery.settled(NEVER_MS)
      await recovery.close()
    },
    async standing(accountId) {
      const [row] = await store.sql<{ spent: string; lent: string }[]>`
        SELECT lifetime_spent_nano AS spent, lifetime_lent_nano AS lent FROM accounts WHERE id = ${accountId}`
      return { spent: Number(row?.spent), lent: Number(row?.lent) }
    },
  }
}

/** Calls of random cost, one after the other, until one is refused. @returns by what */
async function callUntilRefused(spend: FrontSpend, key: KeyRecord, random: () => number): Promise<string> {
  for (let calls = 0; calls < CALLS_MAX; calls++) {
    const held = await spend.hold(askOf(key))
    if (!held.ok) return held.failure.name
    await new Promise(setImmediate)
    if (random() < 0.1) held.value.release()
    else held.value.settle(costOf(Math.ceil(random() * BOUND)))
  }
  throw new Error(`none of ${CALLS_MAX} calls was refused`)
}

async function heldBy(spend: FrontSpend, key: KeyRecord) {
  return must(await spend.hold(askOf(key)))
}

function askOf(key: KeyRecord) {
  const facts = { requestId: newId(), operation: 'embeddings.create', model: 'acme/m' }
  return { key, bound: { paidNano: BOUND, anyNano: BOUND }, facts, deadlineAt: Infinity }
}

t.test('two fronts together spend a budget completely, but never more', async (t) => {
  const { store, owners, key, open, pass, standing } = await openStand(t)
  const [one, other] = [open(), open()]
  const random = randomOf(5)
  const callers = [one, other].flatMap(({ spend }) =>
    Array.from({ length: 20 }, () => callUntilRefused(spend, key, random)),
  )
  const refusals = new Set(await Promise.all(callers))
  // Money on its way from one to the other is neither used nor to be had.
  refusals.delete('store_unavailable')
  t.same(refusals, new Set(['budget_exceeded']))
  await other.spend.close()
  // What it gave back is there for single calls, to which the front no longer repeats its last refusal.
  pass(MONEY_REFUSED_MS)
  t.equal(await callUntilRefused(one.spend, key, random), 'budget_exceeded')
  await one.spend.close()
  const { spent, lent } = await standing(owners.accounts.workspace)
  t.ok(spent <= BUDGET && spent > BUDGET - BOUND, `${spent} are spent`)
  t.equal(lent, 0)
  t.same(await store.sql`SELECT 1 FROM leases`, [])
  t.same(await imbalances(store.sql), [])
})

t.test(
  'the calls of a dead front forfeit their bounds, its other money is returned, and it can take no more',
  async (t) => {
    const { store, owners, key, open, recover, standing } = await openStand(t)
    const front = open()
    for (let call = 0; call < 3; call++) await heldBy(front.spend, key)
    const settled = await heldBy(front.spend, key)
    settled.settle(costOf(500))
    await until('the settled call is in the books', () => front.spend.reading.flushedEntries > 0)
    await recover(front.id)
    t.same(await standing(owners.accounts.workspace), { spent: 3 * BOUND + 500, lent: 0 })
    t.same(await standing(owners.accounts.organization), { spent: 500, lent: 0 })
    t.same(await imbalances(store.sql), [])
    // More than it holds: it asks for money.
    const more = { ...askOf(key), bound: { paidNano: BUDGET, anyNano: BUDGET } }
    t.match(await front.spend.hold(more), { ok: false, failure: { name: 'store_unavailable' } })
    t.ok(front.fenced())
    t.match(await front.spend.hold(askOf(key)), { ok: false, failure: { name: 'store_unavailable' } })
  },
)

t.test('a front on a Postgres older than its data takes no money until this is accepted', async (t) => {
  const kept = { node: 'n', read: () => 2, keep: () => Promise.resolve() }
  const { store, key, open } = await openStand(t, kept)
  const front = open()
  await front.spend.dayAsked
  t.match(await front.spend.hold(askOf(key)), { ok: false, failure: { name: 'store_unavailable' } })
  await acceptRestore(store.sql, null)
  const held = await heldBy(front.spend, key)
  held.release()
  await front.spend.close()
})

t.test('a front that ends normally leaves nothing to recover', async (t) => {
  const { store, key, open, recover } = await openStand(t)
  const front = open()
  const held = await heldBy(front.spend, key)
  held.release()
  await front.spend.close()
  await recover(front.id)
  t.match(await store.sql`SELECT state FROM journals`, [{ state: 'closed' }])
  t.same(await store.sql`SELECT 1 FROM ledger`, [])
  t.same(await imbalances(store.sql), [])
})
