import t from 'tap'
import {
  REQUESTS_COMPARED_MS_MAX,
  REQUESTS_LATE_MS,
} from '../../../../src/schemas/requests/request-limits.ts'
import type { Store } from '../../../../src/server/store/base/open.ts'
import { recoverRequests } from '../../../../src/server/store/requests/request-recovery.ts'
import { insertRequests } from '../../../../src/server/store/requests/request-rows.ts'
import { findRequests } from '../../../../src/server/store/requests/request-search.ts'
import { openBooks, type Books } from '../../../support/money/ledger.ts'
import { must } from '../../../support/must.ts'
import { batchOfCalls } from '../../../support/requests/settled-call.ts'

const TODAY = new Date().toISOString().slice(0, 10)

const idsOf = async ({ store, organizationId }: Books): Promise<readonly string[]> =>
  must(await findRequests(store, { organizationId, limit: 100 })).rows.map(
    ({ requestId, isRecovered }) => `${requestId}${isRecovered ? ' recovered' : ''}`,
  )

/** The comparison reads from so long ago on. */
async function markAt(store: Store, agoMs: number): Promise<void> {
  await store.sql`
    UPDATE request_marks SET through = clock_timestamp() - ${agoMs}::float8 * interval '1 ms' WHERE id = 'ledger'`
}

t.test('a paid call that the log has lost is taken from the ledger, once', async (t) => {
  const books = await openBooks(t, TODAY)
  const { store, organizationId } = books
  await markAt(store, 1_000)
  await books.book({ requestId: 'lost', cost: 7 }, { requestId: 'kept', cost: 8 })
  await insertRequests(store, batchOfCalls({ organizationId, requestId: 'kept', notes: { costUsd: 8e-9 } }))
  t.equal(await recoverRequests(store, 0), 1)
  t.equal(await recoverRequests(store, 0), 0)
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

t.test('a call that cost nothing is not taken from the ledger: the log keeps a share of these', async (t) => {
  const books = await openBooks(t, TODAY)
  const { store } = books
  await markAt(store, 1_000)
  await books.book({ requestId: 'free', cost: 0 }, { requestId: 'paid', cost: 1 })
  t.equal(await recoverRequests(store, 0), 1)
  t.same(await idsOf(books), ['paid recovered'])
})

t.test("a call's own row that comes later takes the place of the recovered one", async (t) => {
  const books = await openBooks(t, TODAY)
  const { store, organizationId } = books
  await markAt(store, 1_000)
  await books.book({ requestId: 'late' }, { requestId: 'lost' })
  t.equal(await recoverRequests(store, 0), 2)
  await insertRequests(store, batchOfCalls({ organizationId, requestId: 'late' }))
  t.same(new Set(await idsOf(books)), new Set(['late', 'lost recovered']))
})

t.test('a call of another organization with the same request id takes no row away', async (t) => {
  const books = await openBooks(t, TODAY)
  const { store } = books
  await markAt(store, 1_000)
  await books.book({ requestId: 'same' })
  const foreign = '019a5b0c-4e21-7000-8000-0000000000ff'
  await insertRequests(store, batchOfCalls({ organizationId: foreign, requestId: 'same' }))
  t.equal(await recoverRequests(store, 0), 1)
  await insertRequests(store, batchOfCalls({ organizationId: foreign, requestId: 'same' }))
  t.same(await idsOf(books), ['same recovered'])
})

t.test('a forfeit of a call that died is one row, an overrun beside a call is none', async (t) => {
  const books = await openBooks(t, TODAY)
  const { store } = books
  await markAt(store, 1_000)
  await books.book(
    { requestId: 'died', kind: 'forfeit', cost: 5 },
    { requestId: 'ran', cost: 5 },
    { requestId: 'ran', kind: 'overrun', cost: 1 },
  )
  t.equal(await recoverRequests(store, 0), 2)
})

t.test(
  `calls of the last REQUESTS_LATE_MS (${REQUESTS_LATE_MS}) may still be on their way, and one turn reads ` +
    `REQUESTS_COMPARED_MS_MAX (${REQUESTS_COMPARED_MS_MAX}) of the ledger`,
  async (t) => {
    const books = await openBooks(t, TODAY)
    const { store } = books
    await markAt(store, 1_000)
    await books.book({ requestId: 'a' })
    t.equal(await recoverRequests(store), 0)
    await markAt(store, REQUESTS_COMPARED_MS_MAX + 30_000)
    t.equal(await recoverRequests(store, 0), 0, 'the turn ends half a minute ago')
    t.equal(await recoverRequests(store, 0), 1)
  },
)

t.test('several processes that compare at once write each row once', async (t) => {
  const books = await openBooks(t, TODAY)
  const { store } = books
  await markAt(store, 1_000)
  await books.book(...Array.from({ length: 20 }, (_, n) => ({ requestId: `r${n}` })))
  const rows = await Promise.all([1, 2, 3, 4].map(() => recoverRequests(store, 0)))
  t.equal(
    rows.reduce((sum, count) => sum + count),
    20,
  )
})
