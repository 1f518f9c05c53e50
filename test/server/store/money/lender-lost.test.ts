import t from 'tap'
import { BOOKS_FLUSH_ENTRIES_MIN, FlushBatches } from '../../../../src/server/money/journal-flush.ts'
import type { Flush } from '../../../../src/server/ports/money/lending.ts'
import { openLender } from '../../../../src/server/store/money/lender.ts'
import { openStore } from '../../../../src/server/store/base/open.ts'
import { isAway } from '../../../../src/server/store/base/translate.ts'
import { SILENT } from '../../../support/log.ts'
import {
  imbalances,
  makeOwners,
  openJournal,
  openTake,
  setLimit,
  settlement,
} from '../../../support/money/money.ts'
import { openTestStore, waitLong } from '../../../support/stores/postgres.ts'
import { openRelay } from '../../../support/wire/relay.ts'

waitLong()

type Tap = Parameters<typeof openTestStore>[0]

/** A lender whose relay loses the answer to the next commit. */
async function stand(t: Tap) {
  const store = await openTestStore(t)
  const owners = await makeOwners(store)
  const { key } = owners.accounts
  await setLimit(store.sql, key, 'lifetime', 1_000)
  const front = await openJournal(store)
  const at = new URL(store.options.url)
  const relay = await openRelay(t, { host: at.hostname, port: Number(at.port) })
  at.port = String(relay.port)
  const relayed = openStore({ ...store.options, url: at.href })
  t.teardown(() => relayed.close())
  const lender = openLender(relayed, { log: SILENT })
  const losing = async <T>(work: () => Promise<T>): Promise<T> => {
    relay.loseAnswer('COMMIT')
    const problem = await work().then(
      () => null,
      (reason: unknown) => reason,
    )
    if (!isAway(problem)) throw new Error('the answer was not lost', { cause: problem })
    return work()
  }
  return { store, owners, key, front, lender, losing }
}

t.test('a grant whose answer was lost is answered again, and its money is lent once', async (t) => {
  const { store, key, front, lender, losing } = await stand(t)
  const ask = front.ask({ [key]: 300 })
  const reply = await losing(() => lender.lend(ask))
  t.equal(reply?.accounts[0]?.lentNano, 300)
  t.same(await store.sql`SELECT lifetime_lent_nano AS lent FROM accounts WHERE id = ${key}`, [
    { lent: '300' },
  ])
  t.same(await imbalances(store.sql), [])
})

t.test('a flush whose answer was lost is booked once', async (t) => {
  const { store, owners, key, front, lender, losing } = await stand(t)
  const { day } = await front.lend({ [key]: 300 })
  const paid = { organization: false, workspace: false, key: true }
  const batch = { journalId: front.id, from: 0, to: 40, entries: [settlement(owners, day, 120, { paid })] }
  t.equal(await losing(() => lender.flush(batch)), 'applied')
  t.same(
    await store.sql`SELECT lifetime_spent_nano AS spent, lifetime_lent_nano AS lent FROM accounts WHERE id = ${key}`,
    [{ spent: '120', lent: '180' }],
  )
  t.same(await imbalances(store.sql), [])
})

t.test('a large flush with a lost answer is booked once, even if a smaller one is sent next', async (t) => {
  const { store, owners, key, front, lender, losing } = await stand(t)
  const { day } = await front.lend({ [key]: 900 })
  const paid = { organization: false, workspace: false, key: true }
  const entries = Array.from({ length: 2 * BOOKS_FLUSH_ENTRIES_MIN }, () =>
    settlement(owners, day, 1, { paid }),
  )
  const next = (max: number): Flush => {
    const part = entries.slice(0, max)
    return { journalId: front.id, from: 0, to: part.length, entries: part }
  }
  const batches = new FlushBatches({ journal: { next }, lender })
  const sizes: number[] = []
  const sent = await losing(async () => {
    const flush = batches.next() ?? next(0)
    sizes.push(flush.entries.length)
    return batches.send(flush)
  })
  t.same(sizes, [entries.length, BOOKS_FLUSH_ENTRIES_MIN])
  t.equal(sent?.batch.to, entries.length)
  t.same(
    await store.sql`SELECT lifetime_spent_nano AS spent, lifetime_lent_nano AS lent FROM accounts WHERE id = ${key}`,
    [{ spent: '200', lent: '700' }],
  )
  t.same(await imbalances(store.sql), [])
})

t.test('a closing whose answer was lost is done once', async (t) => {
  const { store, owners, key, front, lender, losing } = await stand(t)
  const { day } = await front.lend({ [key]: 300 })
  const rest = { from: 0, to: 9, entries: [settlement(owners, day, 50)] }
  const closing = { journalId: front.id, rest, open: [openTake(owners, day, 20)], isComplete: true }
  t.equal((await losing(() => lender.close(closing))).isClosed, false)
  t.same(
    await store.sql`SELECT lifetime_spent_nano AS spent, lifetime_lent_nano AS lent FROM accounts WHERE id = ${key}`,
    [{ spent: '70', lent: '0' }],
  )
  t.same(await imbalances(store.sql), [])
})
