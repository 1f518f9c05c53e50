import t from 'tap'
import { insertRequests } from '../../../../src/server/store/requests/request-rows.ts'
import {
  idsOf,
  markAt,
  openLate,
  ownCall,
  PAID_MS,
  recovered,
  recoveredCosts,
} from '../../../support/requests/late-books.ts'
import { batchOfCalls, ownId, segmentOfCalls } from '../../../support/requests/settled-call.ts'
import { waitLong } from '../../../support/stores/postgres.ts'
import { NANO_PER_USD } from '../../../../src/schemas/money/costs.ts'

waitLong()

for (const [form, batchOf] of [
  ['rows', batchOfCalls],
  ['a segment', segmentOfCalls],
] as const)
  t.test(`calls in ${form} are found in the log, and a late call replaces its recovered row`, async (t) => {
    const books = await openLate(t)
    const { store } = books
    const paid = (number: number) => ({ requestId: ownId(number), cost: 7 })
    await books.book(paid(1), paid(1), paid(2), paid(3))
    const call = (number: number) => ownCall(books, ownId(number), 7)
    await insertRequests(store, batchOf(call(1), call(3)))
    t.equal(await recovered(store, 0), 2, 'one of two equal calls, and another')
    t.equal(await recovered(store, 0), 0)
    await insertRequests(store, batchOf(call(2)))
    t.same(await recoveredCosts(books), [7])
    t.equal((await idsOf(books)).length, 4)
  })

t.test('calls of a second whose sums are those of the ledger are not compared one by one', async (t) => {
  const books = await openLate(t)
  const { store } = books
  await books.book({ requestId: 'lost', cost: 7 })
  await store.sql`
    INSERT INTO request_payments VALUES (to_timestamp(${Math.floor(PAID_MS / 1_000)}), 1, 1, 7, ${PAID_MS % 1_000})`
  await markAt(store, Date.now() - PAID_MS + 3_000)
  t.equal(await recovered(store, 0), 0)
  const [left] = await store.sql`SELECT count(*)::int AS rows FROM request_payments`
  t.same(left, { rows: 0 }, 'what was compared is not kept')
})

t.test('sums of the payments in a batch equal those of the ledger', async (t) => {
  const books = await openLate(t)
  const { store } = books
  const costs = [7, 1_000_000_000, 12_000_000_345]
  await books.book(...costs.map((cost, n) => ({ requestId: `r${n}`, cost, atMs: PAID_MS - n })))
  await insertRequests(
    store,
    batchOfCalls(
      ...costs.map((cost, n) =>
        ownCall(books, `r${n}`, cost, { notes: { costUsd: cost / NANO_PER_USD, paidMs: PAID_MS - n } }),
      ),
      ownCall(books, 'free', 0),
      ownCall(books, 'unpaid', 7, { notes: {} }),
    ),
  )
  await store.sql`DELETE FROM requests`
  await markAt(store, Date.now() - PAID_MS + 3_000)
  t.equal(await recovered(store, 0), 0, 'nobody has looked for the rows')
})

for (const [what, change] of [
  ['number', 'calls = calls + 1'],
  ['cost', 'nano = nano + 1'],
  ['instants', 'ms = ms + 1'],
] as const)
  t.test(`compares the calls of a second whose sums differ in ${what}`, async (t) => {
    const books = await openLate(t)
    const { store } = books
    await books.book({ requestId: 'lost', cost: 7 }, { requestId: 'kept', cost: 8 })
    await insertRequests(store, batchOfCalls(ownCall(books, 'kept', 8), ownCall(books, 'more', 7)))
    await markAt(store, Date.now() - PAID_MS + 3_000)
    await store.sql.unsafe(`UPDATE request_payments SET ${change}`)
    t.equal(await recovered(store, 0), 1)
  })
