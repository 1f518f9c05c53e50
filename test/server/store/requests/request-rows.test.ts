import t from 'tap'
import { openStore, StoreSlow, type Store } from '../../../../src/server/store/base/open.ts'
import { isAway } from '../../../../src/server/store/base/translate.ts'
import { REQUESTS_WRITE_MS_MAX, insertRequests } from '../../../../src/server/store/requests/request-rows.ts'
import { findRequests } from '../../../../src/server/store/requests/request-search.ts'
import type { LoggedRequest } from '../../../../src/server/ports/requests/request-log.ts'
import { ORGANIZATION, OTHER_ORGANIZATION, WORKSPACE } from '../../../support/inference/generations.ts'
import { must } from '../../../support/must.ts'
import { batchOfCalls, KEY_HASH } from '../../../support/requests/settled-call.ts'
import { openTestStore } from '../../../support/stores/postgres.ts'

/** Milliseconds in which a write that waits for a lock does not end. */
const SLOW_MS = 50

const rowsOf = async (store: Store, organizationId: string | null): Promise<readonly LoggedRequest[]> =>
  must(await findRequests(store, { organizationId, limit: 100 })).rows

t.test('an unavailable store rejects the write, so that the batch is kept', async (t) => {
  const store = openStore({ url: 'postgres://127.0.0.1:1/none', poolMax: 1, applicationName: 'sluice-test' })
  t.teardown(() => store.close())
  t.ok(isAway(await insertRequests(store, batchOfCalls({})).catch((problem: unknown) => problem)))
})

t.test(
  `a write that takes REQUESTS_WRITE_MS_MAX (${REQUESTS_WRITE_MS_MAX}) counts as an unavailable store`,
  async (t) => {
    const store = await openTestStore(t)
    const beside = openStore({ ...store.options, poolMax: 1 })
    t.teardown(() => beside.close())
    const slow = Object.create(store) as Store
    const asked: number[] = []
    slow.within = (ms, run) => {
      asked.push(ms)
      return store.within(SLOW_MS, run)
    }
    const problem = await beside.sql.begin(async (tx) => {
      await tx`LOCK TABLE requests IN ACCESS EXCLUSIVE MODE`
      return insertRequests(slow, batchOfCalls({})).catch((cause: unknown) => cause)
    })
    t.ok(problem instanceof StoreSlow && isAway(problem))
    t.same(asked, [REQUESTS_WRITE_MS_MAX])
  },
)

t.test('a batch that is written twice is stored once', async (t) => {
  const store = await openTestStore(t)
  const batch = batchOfCalls({ organizationId: ORGANIZATION }, { organizationId: ORGANIZATION })
  t.equal(await insertRequests(store, batch), 2)
  t.equal(await insertRequests(store, batch), 0)
  t.equal((await rowsOf(store, ORGANIZATION)).length, 2)
})

const NOTES = {
  authMs: 0.125,
  limitsMs: 1,
  validateMs: 2,
  holdMs: 3,
  upstreamMs: 4,
  ttftMs: 5,
  model: 'acme/one',
  provider: 'acme',
  promptTokens: 2 ** 33,
  outputTokens: 0,
  cachedTokens: 1,
  costUsd: 9_000_000,
  attempts: 3,
}

t.test('writing a batch reads no rows of earlier ones, even without table statistics', async (t) => {
  const store = await openTestStore(t, 1)
  const paid = { notes: { costUsd: 1, paidMs: Date.now() } }
  for (let batch = 0; batch < 3; batch++)
    await insertRequests(store, batchOfCalls(...Array.from({ length: 500 }, () => paid)))
  await store.sql`SELECT pg_stat_force_next_flush()`
  const [found] = await store.sql`
    SELECT sum(n_tup_ins)::int AS written, sum(seq_tup_read)::int AS read
    FROM pg_stat_user_tables WHERE relname LIKE 'requests\\_%'`
  t.same(found, { written: 1_500, read: 0 })
})

t.test('a row has every figure of its call', async (t) => {
  const store = await openTestStore(t)
  const endedMs = Date.now() - 1_000
  const call = {
    organizationId: ORGANIZATION,
    workspaceId: WORKSPACE,
    keyHash: KEY_HASH,
    endedMs,
    durationMs: 12.345,
    limit: 'key daily',
    failure: 'key_limit_exceeded',
    status: 402,
    weight: 10,
    notes: NOTES,
  } as const
  await insertRequests(store, batchOfCalls(call))
  t.match(await rowsOf(store, ORGANIZATION), [
    {
      requestId: 'r-1',
      endedUs: `${endedMs}000`,
      workspaceId: WORKSPACE,
      keyHash: KEY_HASH,
      error: 'key_limit_exceeded',
      limit: 'key daily',
      status: 402,
      weight: 10,
      authMs: 0.13,
      limitsMs: 1,
      validateMs: 2,
      holdMs: 3,
      upstreamMs: 4,
      firstMs: 5,
      model: 'acme/one',
      provider: 'acme',
      inputTokens: 2 ** 33,
      outputTokens: 0,
      cachedTokens: 1,
      costNano: 9e15,
      requestBytes: 100,
      replyBytes: 2_000,
      attempts: 3,
      failed: [],
      isRecovered: false,
    },
  ])
})

t.test('unknown values of a call are null, and its failed attempts are kept', async (t) => {
  const store = await openTestStore(t)
  const failed = [{ provider: 'acme', status: null, code: 'ECONNRESET' }]
  await insertRequests(
    store,
    batchOfCalls({ organizationId: ORGANIZATION, requestBytes: null, notes: { failedAttempts: failed } }),
  )
  const nothing = ['workspaceId', 'keyHash', 'error', 'limit', 'model', 'authMs', 'costNano', 'requestBytes']
  t.match(await rowsOf(store, ORGANIZATION), [
    { ...Object.fromEntries(nothing.map((name) => [name, null])), provider: 'acme', failed },
  ])
})

t.test('each organization has its own rows; calls without a key belong to none', async (t) => {
  const store = await openTestStore(t)
  await insertRequests(
    store,
    batchOfCalls(
      { requestId: 'own', organizationId: ORGANIZATION },
      { requestId: 'foreign', organizationId: OTHER_ORGANIZATION },
      { requestId: 'nobody', status: 401, failure: 'key_unknown' },
    ),
  )
  const ids = async (id: string | null): Promise<readonly string[]> =>
    (await rowsOf(store, id)).map(({ requestId }) => requestId)
  t.same(await ids(ORGANIZATION), ['own'])
  t.same(await ids(OTHER_ORGANIZATION), ['foreign'])
  t.same(await ids(null), ['nobody'])
})

t.test('calls of days without a partition are written, also of the past', async (t) => {
  const store = await openTestStore(t)
  const days = ['2020-02-29T23:59:59.999Z', '2020-03-01T00:00:00Z', '2031-01-01T00:00:00Z']
  await insertRequests(
    store,
    batchOfCalls(...days.map((day) => ({ organizationId: ORGANIZATION, endedMs: Date.parse(day) }))),
  )
  const rows = await rowsOf(store, ORGANIZATION)
  t.same(
    rows.map(({ endedUs }) => new Date(Number(endedUs) / 1_000).toISOString().slice(0, 10)),
    ['2031-01-01', '2020-03-01', '2020-02-29'],
  )
})

t.test('two runners that write many batches at once write each call once', async (t) => {
  const store = await openTestStore(t)
  const batches = Array.from({ length: 6 }, (_, n) =>
    batchOfCalls(
      ...Array.from({ length: 50 }, (_, m) => ({ organizationId: ORGANIZATION, requestId: `${n}-${m}` })),
    ),
  )
  const written = await Promise.all([...batches, ...batches].map((batch) => insertRequests(store, batch)))
  t.equal(
    written.reduce((sum, rows) => sum + rows),
    300,
  )
  t.equal(await countOf(store), 300)
})

async function countOf({ sql }: Store): Promise<number> {
  const [row] = await sql<{ rows: number }[]>`SELECT count(*)::int AS rows FROM requests`
  return row?.rows ?? -1
}
