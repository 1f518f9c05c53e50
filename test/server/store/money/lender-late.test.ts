import t from 'tap'
import { lockAccounts } from '../../../../src/server/store/money/accounts.ts'
import { FLUSH_MS_MAX, LEND_MS_MAX, openLender } from '../../../../src/server/store/money/lender.ts'
import { openStore, StoreSlow, type Store } from '../../../../src/server/store/base/open.ts'
import { gate } from '../../../support/gate.ts'
import { SILENT } from '../../../support/log.ts'
import { makeOwners, openJournal, openTake, setLimit, settlement } from '../../../support/money/money.ts'
import { openTestStore, waitLong } from '../../../support/stores/postgres.ts'
import { untilWaiting } from '../../../support/stores/lock-waiters.ts'

t.test('a request that timed out is executed once when it is repeated', async (t) => {
  const store = await openTestStore(t, 8)
  const owners = await makeOwners(store)
  const [lender, { key }] = [openLender(store, { log: SILENT }), owners.accounts]
  await setLimit(store.sql, key, 'lifetime', 1_000)
  const [front, other] = [await openJournal(store), await openJournal(store)]
  const { day } = await other.lend({ [key]: 100 })
  const unblock = await block(t, store, key)
  const ask = front.ask({ [key]: 300 })
  const batch = { journalId: other.id, from: 0, to: 9, entries: [settlement(owners, day, 100)] }
  const beganAt = performance.now()
  const late = await Promise.allSettled([
    lender.lend(ask).finally(() => t.ok(performance.now() - beganAt >= LEND_MS_MAX - 5)),
    lender.flush(batch).finally(() => t.ok(performance.now() - beganAt >= FLUSH_MS_MAX - 5)),
  ])
  t.ok(late.every((one) => one.status === 'rejected' && one.reason instanceof StoreSlow))
  await unblock()
  t.teardown(waitLong())
  const [reply, result] = await Promise.all([lender.lend(ask), lender.flush(batch)])
  t.same([reply?.accounts[0]?.lentNano, result], [300, 'applied'])
  t.same(
    await store.sql`SELECT lifetime_spent_nano AS spent, lifetime_lent_nano AS lent FROM accounts WHERE id = ${key}`,
    [{ spent: '100', lent: '300' }],
  )
})

t.test(
  'late records lock no forfeit while they wait for an account, because the lock holder may forgive that forfeit',
  async (t) => {
    const store = await openTestStore(t)
    const owners = await makeOwners(store)
    const lender = openLender(store, { log: SILENT })
    const { id, day } = await openJournal(store)
    const known = openTake(owners, day, 30)
    await lender.close({ journalId: id, rest: null, open: [known], isComplete: true })
    const unblock = await block(t, store, owners.accounts.key)
    const entries = [settlement(owners, day, 20, { requestId: known.requestId })]
    const late = lender.close({
      journalId: id,
      rest: { from: 0, to: 9, entries },
      open: [],
      isComplete: true,
    })
    await untilWaiting(store.sql)
    t.equal((await store.sql`SELECT 1 FROM ledger WHERE kind = 'forfeit' FOR UPDATE SKIP LOCKED`).length, 1)
    await unblock()
    t.equal((await late).entries, 1)
  },
)

/**
 * Locks an account from a separate client: one that gets no answer for that long replaces its connections.
 */
async function block(
  t: Parameters<typeof openTestStore>[0],
  store: Store,
  accountId: string,
): Promise<() => Promise<void>> {
  const other = openStore({ ...store.options, poolMax: 1 })
  t.teardown(() => other.close())
  const locked = gate()
  const unlock = gate()
  const held = other.sql.begin(async (tx) => {
    await lockAccounts(tx, [accountId])
    locked.open()
    await unlock.opened
  })
  await locked.opened
  return async () => {
    unlock.open()
    await held
  }
}
