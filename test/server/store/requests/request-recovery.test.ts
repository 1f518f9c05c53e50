import t from 'tap'
import {
  REQUESTS_COMPARED_MS_MAX,
  REQUESTS_LATE_MS,
  insertRequests,
  passOverLedger,
  recoverRequests,
} from '../../../../src/server/store/requests/request-rows.ts'
import { findRequests } from '../../../../src/server/store/requests/request-search.ts'
import { JOB_OPERATION } from '../../../../src/server/store/requests/split-batch.ts'
import { openBooks } from '../../../support/money/ledger.ts'
import { must } from '../../../support/must.ts'
import {
  idsOf,
  markAt,
  openLate,
  ownCall,
  PAID_MS,
  recovered,
  recoveredCosts,
  TODAY,
} from '../../../support/requests/late-books.ts'
import { batchOfCalls, KEY_HASH } from '../../../support/requests/settled-call.ts'
import { plantMany, waitLong } from '../../../support/stores/postgres.ts'
import { NANO_PER_USD } from '../../../../src/schemas/money/costs.ts'
import { REQUESTS_GATHERED_MAX } from '../../../../src/server/observe/requests/gathered-calls.ts'

waitLong()

const FOREIGN = '019a5b0c-4e21-7000-8000-0000000000ff'

t.test('a paid call that is missing in the log is recovered from the ledger once', async (t) => {
  const books = await openLate(t)
  const { store, organizationId } = books
  await books.book({ requestId: 'lost', cost: 7 }, { requestId: 'kept', cost: 8 })
  await insertRequests(store, batchOfCalls(ownCall(books, 'kept', 8)))
  t.equal(await recovered(store, 0), 1)
  t.equal(await recovered(store, 0), 0)
  t.same(new Set(await idsOf(books)), new Set(['lost recovered', 'kept']))
  const page = must(await findRequests(store, { organizationId, requestId: 'lost', limit: 1 }))
  t.match(page.rows, [
    {
      operation: 'embeddings.create',
      model: 'm',
      provider: 'p',
      costNano: 7,
      inputTokens: 1,
      keyHash: books.keyHash,
      workspaceId: books.workspaceId,
      status: 0,
      durationMs: null,
      weight: 1,
    },
  ])
})

t.test('free calls are not recovered from the ledger, because the log keeps only some of them', async (t) => {
  const books = await openLate(t)
  const { store } = books
  await books.book({ requestId: 'free', cost: 0 }, { requestId: 'paid', cost: 1 })
  t.equal(await recovered(store, 0), 1)
  t.same(await idsOf(books), ['paid recovered'])
})

t.test("a call's late row replaces its recovered row", async (t) => {
  const books = await openLate(t)
  const { store } = books
  await books.book({ requestId: 'late' }, { requestId: 'lost' })
  t.equal(await recovered(store, 0), 2)
  await insertRequests(store, batchOfCalls(ownCall(books, 'late', 1)))
  t.same(new Set(await idsOf(books)), new Set(['late', 'lost recovered']))
})

t.test('a call of another organization with the same request id does not remove the row', async (t) => {
  const books = await openLate(t)
  const { store } = books
  await books.book({ requestId: 'same' })
  await insertRequests(store, batchOfCalls({ organizationId: FOREIGN, requestId: 'same' }))
  t.equal(await recovered(store, 0), 1)
  await insertRequests(store, batchOfCalls({ organizationId: FOREIGN, requestId: 'same' }))
  t.same(await idsOf(books), ['same recovered'])
})

t.test(
  'a free call of another organization does not remove the row of a call in the same batch',
  async (t) => {
    const books = await openLate(t)
    const { store } = books
    await books.book({ requestId: 'victim-1' })
    t.equal(await recovered(store, 0), 1)
    const foreign = { organizationId: FOREIGN, keyHash: KEY_HASH, requestId: 'victim-1' }
    await insertRequests(store, batchOfCalls(ownCall(books, 'victim-2', 1), { ...foreign, status: 404 }))
    t.same(new Set(await idsOf(books)), new Set(['victim-1 recovered', 'victim-2']))
  },
)

t.test('calls with the same id but another key, cost or time do not remove the row', async (t) => {
  const books = await openLate(t)
  const { store } = books
  await books.book({ requestId: 'same', cost: 7 })
  t.equal(await recovered(store, 0), 1)
  const elsewhen = { costUsd: 7 / NANO_PER_USD, paidMs: PAID_MS + 1 }
  await insertRequests(
    store,
    batchOfCalls(
      ownCall(books, 'same', 7, { keyHash: KEY_HASH }),
      ownCall(books, 'same', 8),
      ownCall(books, 'same', 7, { notes: elsewhen }),
      ownCall(books, 'same', 7, { notes: {} }),
    ),
  )
  t.same(await recoveredCosts(books), [7])
})

t.test('a row with another time or without its job does not stop the recovery of a call', async (t) => {
  const books = await openLate(t)
  const { store } = books
  const row = (requestId: string, paidMs: number) =>
    ownCall(books, requestId, 7, { notes: { costUsd: 7 / NANO_PER_USD, paidMs } })
  await insertRequests(store, batchOfCalls(row('once', PAID_MS - 1), row('twice', PAID_MS)))
  await books.book(...['once', 'twice', 'twice', 'job'].map((requestId) => ({ requestId, cost: 7 })))
  await store.sql`UPDATE ledger SET operation = ${JOB_OPERATION} WHERE request_id = 'job'`
  await insertRequests(store, batchOfCalls(row('job', PAID_MS)))
  t.equal(await recovered(store, 0), 3)
  const page = must(await findRequests(store, { organizationId: books.organizationId, limit: 100 }))
  t.same(page.rows.flatMap(({ requestId, isRecovered }) => (isRecovered ? requestId : [])).sort(), [
    'job',
    'once',
    'twice',
  ])
})

t.test('each lost call of one request id gets its row, whatever free call has that id', async (t) => {
  const books = await openLate(t)
  const { store } = books
  await books.book({ requestId: 'same', cost: 70_000 }, { requestId: 'same', cost: 9 })
  await insertRequests(store, batchOfCalls(ownCall(books, 'same', 0, { status: 404, notes: {} })))
  t.equal(await recovered(store, 0), 2)
  t.same(await recoveredCosts(books), [9, 70_000])
})

t.test(
  'equal calls of one request id get as many rows as were lost; a late one replaces one of them',
  async (t) => {
    const books = await openLate(t)
    const { store } = books
    const paid = { requestId: 'same', cost: 7 }
    await books.book(paid, paid)
    await insertRequests(store, batchOfCalls(ownCall(books, 'same', 7)))
    await books.book(paid, paid)
    t.equal(await recovered(store, 0), 3)
    t.equal(await recovered(store, 0), 0)
    await insertRequests(store, batchOfCalls(ownCall(books, 'same', 7)))
    t.same(await recoveredCosts(books), [7, 7])
  },
)

t.test('each of several equal late calls in one batch replaces one recovered row', async (t) => {
  const books = await openLate(t)
  const { store } = books
  const paid = { requestId: 'same', cost: 7 }
  await books.book(paid, paid, paid)
  t.equal(await recovered(store, 0), 3)
  await insertRequests(store, batchOfCalls(ownCall(books, 'same', 7), ownCall(books, 'same', 7)))
  t.same(await recoveredCosts(books), [7])
})

t.test('a job that is paid long after its call has only the row of its call', async (t) => {
  const books = await openLate(t)
  const { store } = books
  const call = (requestId: string) =>
    ownCall(books, requestId, 0, {
      ...{ operation: JOB_OPERATION, endedMs: Date.now() - 600_000, durationMs: 10, notes: {} },
    })
  await insertRequests(store, batchOfCalls(call('early')))
  await books.book({ requestId: 'early', cost: 7 }, { requestId: 'late', cost: 8 })
  await store.sql`UPDATE ledger SET operation = ${JOB_OPERATION}`
  t.equal(await recovered(store, 0), 1)
  t.same(await recoveredCosts(books), [8])
  await insertRequests(store, batchOfCalls(call('late')))
  t.same(await recoveredCosts(books), [])
})

t.test('a call whose answer continued for minutes after its payment is not recovered', async (t) => {
  const books = await openBooks(t, TODAY)
  const { store } = books
  await markAt(store, 700_000)
  const atMs = Date.now() - 600_000
  await books.book({ requestId: 'slow', atMs }, { requestId: 'lost', atMs })
  const notes = { costUsd: 1 / NANO_PER_USD, paidMs: atMs }
  await insertRequests(
    store,
    batchOfCalls(ownCall(books, 'slow', 1, { endedMs: Date.now() - 450_000, notes })),
  )
  t.equal(await recovered(store, 0), 1)
  t.same(new Set(await idsOf(books)), new Set(['slow', 'lost recovered']))
})

t.test('the known cost of a call that died, and its forfeit, are one row', async (t) => {
  const books = await openLate(t)
  const died = { requestId: 'died' }
  await books.book({ ...died, kind: 'forfeit', cost: 5 }, { ...died, kind: 'estimated', cost: 3 })
  t.equal(await recovered(books.store, 0), 1)
  t.same(await recoveredCosts(books), [3])
})

t.test('a forfeit of a call that died is one row, and an overrun next to a call adds none', async (t) => {
  const books = await openLate(t)
  const { store } = books
  await books.book(
    { requestId: 'died', kind: 'forfeit', cost: 5 },
    { requestId: 'ran', cost: 5 },
    { requestId: 'ran', kind: 'overrun', cost: 1 },
  )
  t.equal(await recovered(store, 0), 2)
})

t.test(
  `calls of the last REQUESTS_LATE_MS (${REQUESTS_LATE_MS}) may still arrive, and one turn reads ` +
    `REQUESTS_COMPARED_MS_MAX (${REQUESTS_COMPARED_MS_MAX}) of the ledger`,
  async (t) => {
    const books = await openLate(t)
    const { store } = books
    await books.book({ requestId: 'a' })
    t.equal(await recovered(store), 0)
    await markAt(store, REQUESTS_COMPARED_MS_MAX + 30_000)
    t.equal(await recovered(store, 0), 0, 'the turn ends half a minute ago')
    t.equal(await recovered(store, 0), 1)
  },
)

t.test(
  'skips a part of the ledger without payments at once, and compares one with payments in its turn',
  async (t) => {
    const books = await openBooks(t, TODAY)
    const { store } = books
    await markAt(store, 2.5 * REQUESTS_COMPARED_MS_MAX)
    t.same(await recoverRequests(store, 0), { recovered: 0, isBehind: true })
    await books.book({ requestId: 'a' })
    await store.sql`UPDATE ledger SET at = at - interval '150 s'`
    t.same(await recoverRequests(store, 0), { recovered: 1, isBehind: false })
    t.same(await recoverRequests(store, 0), { recovered: 0, isBehind: false }, 'all is compared')
  },
)

t.test('payments made while the log is off get no row later', async (t) => {
  const books = await openBooks(t, TODAY)
  const { store } = books
  await markAt(store, 600_000)
  await books.book({ requestId: 'off' })
  await store.sql`UPDATE ledger SET at = at - interval '300 s'`
  await passOverLedger(store)
  await books.book({ requestId: 'on' })
  t.equal(await recovered(store, 0), 1)
  t.same(await idsOf(books), ['on recovered'])
})

t.test('a node with its log off leaves the mark to another node that can bring it up to date', async (t) => {
  const books = await openBooks(t, TODAY)
  const { store } = books
  await markAt(store, REQUESTS_LATE_MS + REQUESTS_COMPARED_MS_MAX - 30_000)
  await books.book({ requestId: 'lost' })
  await store.sql`UPDATE ledger SET at = at - interval '90 s'`
  await passOverLedger(store)
  t.equal(await recovered(store, 0), 1)
})

t.test('several processes that compare at once write each row once', async (t) => {
  const books = await openLate(t)
  const { store } = books
  await books.book(...Array.from({ length: 20 }, (_, n) => ({ requestId: `r${n}` })))
  const rows = await Promise.all([1, 2, 3, 4].map(() => recovered(store, 0)))
  t.equal(
    rows.reduce((sum, count) => sum + count),
    20,
  )
})

t.test('a batch of one request id is written next to thousands of recovered rows of that id', async (t) => {
  const books = await openBooks(t, TODAY)
  const { store, organizationId, keyHash } = books
  await plantMany(
    store,
    (tx) => tx`
    INSERT INTO requests (organization_id, ended_at, batch, n, request_id, key_hash, operation, status, cost_nano, weight, flags,
      is_recovered, paid_at)
    SELECT ${organizationId}::uuid, to_timestamp(${PAID_MS}::float8 / 1000), 1, n, 'same', ${keyHash}, 'embeddings.create', 0, 5, 1, 0,
      true, to_timestamp(${PAID_MS}::float8 / 1000) FROM generate_series(1, 10000) AS n`,
  )
  const calls = Array.from({ length: REQUESTS_GATHERED_MAX }, () => ownCall(books, 'same', 5))
  t.equal(await insertRequests(store, batchOfCalls(...calls)), REQUESTS_GATHERED_MAX)
  const [left] = await store.sql<
    { rows: number }[]
  >`SELECT count(*)::int AS rows FROM requests WHERE is_recovered`
  t.equal(left?.rows, 10_000 - REQUESTS_GATHERED_MAX)
})
