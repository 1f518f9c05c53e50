import t from 'tap'
import {
  PRUNE_LEASE_MS,
  renewLease,
  openRetentionLeases,
} from '../../../../../src/server/store/base/retention-lease.ts'
import { openTestStore } from '../../../../support/stores/postgres.ts'
import { PRUNE_EVERY_MS } from '../../../../../src/server/runner/retention.ts'

t.test('of many processes that look at once, one gets the turn, and no other until it ends', async (t) => {
  const turns = openRetentionLeases(await openTestStore(t))
  const begun = (await Promise.all(Array.from({ length: 8 }, () => turns.begin()))).filter(
    (turn) => turn !== null,
  )
  t.equal(begun.length, 1)
  t.equal(await turns.begin(), null)
  for (const turn of begun) await turns.end(turn, 0)
  t.not(await turns.begin(), null)
})

t.test('the next turn is due after its interval, or at once when it is hastened between turns', async (t) => {
  const turns = openRetentionLeases(await openTestStore(t))
  const turn = await turns.begin()
  if (turn === null) throw new Error('it is due')
  await turns.hasten()
  t.equal(await turns.begin(), null, 'what runs is not hastened')
  await turns.end(turn, PRUNE_EVERY_MS)
  t.equal(await turns.begin(), null)
  await turns.hasten()
  t.not(await turns.begin(), null)
})

t.test(
  'a killed process loses its turn PRUNE_LEASE_MS after its last batch, and can do nothing more in it',
  async (t) => {
    const store = await openTestStore(t)
    const turns = openRetentionLeases(store)
    const killed = await turns.begin()
    if (killed === null) throw new Error('it is due')
    t.ok(await store.sql.begin((tx) => renewLease(tx, killed)))
    const pass = (ms: number) =>
      store.sql`UPDATE retention SET lease_until = lease_until - ${ms} * interval '1 ms'`
    await pass(PRUNE_LEASE_MS - 30_000)
    t.equal(await turns.begin(), null)
    await pass(30_001)
    const next = await turns.begin()
    if (next === null) throw new Error('the lease is over')
    t.notOk(await store.sql.begin((tx) => renewLease(tx, killed)))
    await turns.end(killed, 0)
    t.equal(await turns.begin(), null, 'who lost it ends it for nobody')
    t.ok(await store.sql.begin((tx) => renewLease(tx, next)))
  },
)
