import t, { type Test } from 'tap'
import { REQUESTS_LOOKED_MAX } from '../../../../src/schemas/requests/request-limits.ts'
import type {
  LoggedRequest,
  RequestPlace,
  RequestQuery,
} from '../../../../src/server/ports/requests/request-log.ts'
import { FLAG } from '../../../../src/schemas/requests/request-record.ts'
import type { Store } from '../../../../src/server/store/base/open.ts'
import { insertRequests } from '../../../../src/server/store/requests/request-rows.ts'
import { findRequests } from '../../../../src/server/store/requests/request-search.ts'
import { randomOf } from '../../../support/inference/chat-texts.ts'
import { ORGANIZATION, OTHER_ORGANIZATION, WORKSPACE } from '../../../support/inference/generations.ts'
import { must, present } from '../../../support/must.ts'
import { belowOf } from '../../../support/random/byte-changes.ts'
import { batchOfCalls, KEY_HASH, ownId, type EndedCall } from '../../../support/requests/settled-call.ts'
import { openTestStore, waitLong } from '../../../support/stores/postgres.ts'
import { REQUESTS_GATHERED_MAX } from '../../../../src/server/observe/requests/gathered-calls.ts'
import { REQUESTS_PACKED_MIN } from '../../../../src/server/store/requests/split-batch.ts'

waitLong()

const BATCHES = 6
const CALLS = REQUESTS_PACKED_MIN * 2
const FROM_MS = Date.UTC(2026, 2, 18, 12)

/** All that pages of a search find, one after the other. */
async function allOf(store: Store, query: RequestQuery): Promise<readonly LoggedRequest[]> {
  const found: LoggedRequest[] = []
  let before: RequestPlace | null = null
  do {
    const page: { readonly rows: readonly LoggedRequest[]; readonly next: RequestPlace | null } = must(
      await findRequests(store, { ...query, ...(before !== null && { before }) }),
    )
    found.push(...page.rows)
    before = page.next
  } while (before !== null)
  return found
}

/** The same calls as segments of one organization and as rows of another, by ids that callers have chosen. */
async function openBoth(t: Test): Promise<Store> {
  const store = await openTestStore(t)
  const random = belowOf(randomOf(23))
  const oneOf = <T>(values: readonly T[]): T => values[random(values.length)] as T
  for (let batch = 0; batch < BATCHES; batch++) {
    const calls = Array.from({ length: CALLS }, (_, n): EndedCall & { readonly number: number } => ({
      number: batch * CALLS + n,
      endedMs: FROM_MS + batch * 40 + random(100),
      operation: oneOf(['embeddings.create', 'chat.create', 'models.list']),
      keyHash: oneOf([null, KEY_HASH, 'cd'.repeat(32)]),
      workspaceId: oneOf([null, WORKSPACE]),
      failure: oneOf([null, null, 'busy', 'model_unknown'] as const),
      status: oneOf([200, 404, 429, 503]),
      durationMs: random(1_000) / 7,
      requestBytes: oneOf([null, 100]),
      isClientGone: random(3) === 0,
      notes: {
        ...{ model: oneOf(['a/1', 'b/2']), provider: oneOf(['a', 'b']), costUsd: random(100) / 1e6 },
        ...(random(4) === 0 && { failedAttempts: [{ provider: 'a', status: 500, code: 'busy' }] }),
      },
    }))
    await insertRequests(store, {
      ...batchOfCalls(
        ...calls.map((call) => ({ ...call, organizationId: ORGANIZATION, requestId: ownId(call.number) })),
      ),
      id: String(batch),
    })
    await insertRequests(store, {
      ...batchOfCalls(
        ...calls.map((call) => ({
          ...call,
          organizationId: OTHER_ORGANIZATION,
          requestId: `-${ownId(call.number)}`,
        })),
      ),
      id: String(batch),
    })
  }
  return store
}

const iso = (ms: number): string => new Date(FROM_MS + ms).toISOString()
const QUERIES: readonly Omit<RequestQuery, 'organizationId' | 'limit'>[] = [
  {},
  { key: KEY_HASH },
  { key: 'cdcdcd' },
  { key: 'ef' },
  { operation: 'chat.create' },
  { operation: 'nothing' },
  { model: 'a/1', provider: 'b' },
  { modelPrefix: 'A/' },
  { modelPrefix: '2' },
  { modelPrefix: '/' },
  { keyName: 'no key has it' },
  { error: 'busy' },
  { error: 'chat.create' },
  { isFailed: true },
  { isFailed: false, status: [200, 299] },
  { isLeft: true, key: KEY_HASH },
  { isLeft: false, isFailed: true },
  { status: [404, 404] },
  { minDurationMs: 71.43 },
  { minCostNano: 50_000 },
  { from: iso(50), to: iso(180) },
  { to: iso(1) },
  { from: iso(60), minDurationMs: 100 },
]

t.test('calls of segments are found as if each had a row, page by page', async (t) => {
  const store = await openBoth(t)
  const [kinds] = await store.sql`
    SELECT (SELECT count(*)::int FROM request_segments) AS segments, (SELECT count(*)::int FROM requests) AS rows`
  t.same(kinds, { segments: BATCHES, rows: BATCHES * CALLS })
  for (const query of QUERIES)
    for (const limit of [7, 500]) {
      const packed = await allOf(store, { ...query, organizationId: ORGANIZATION, limit })
      const rows = await allOf(store, { ...query, organizationId: OTHER_ORGANIZATION, limit })
      t.same(
        packed,
        rows.map((row) => ({ ...row, requestId: row.requestId.slice(1) })),
        `${JSON.stringify(query)} in pages of ${limit}: ${packed.length}`,
      )
      const { isLeft } = query
      if (isLeft === undefined) continue
      t.ok(packed.length > 0 && packed.every(({ flags }) => ((flags & FLAG.clientGone) !== 0) === isLeft))
    }
})

t.test('a call of a segment is found by its request id, within its organization only', async (t) => {
  const store = await openBoth(t)
  for (const number of [0, CALLS - 1, CALLS, BATCHES * CALLS - 1]) {
    const query = { requestId: ownId(number), limit: 10 }
    t.match(await allOf(store, { ...query, organizationId: ORGANIZATION }), [{ requestId: ownId(number) }])
    t.same(await allOf(store, { ...query, organizationId: OTHER_ORGANIZATION }), [])
  }
  t.same(
    await allOf(store, { requestId: ownId(BATCHES * CALLS), organizationId: ORGANIZATION, limit: 10 }),
    [],
  )
})

t.test('calls from segments and rows of one organization are listed in one order', async (t) => {
  const store = await openTestStore(t)
  const of = { organizationId: ORGANIZATION }
  const many = Array.from({ length: CALLS }, (_, n) => ({
    ...{ ...of, requestId: ownId(n), endedMs: FROM_MS + 2 * n },
  }))
  const single = many.map((call, n) => ({ ...call, requestId: `r${n}`, endedMs: call.endedMs + 1 }))
  await insertRequests(store, batchOfCalls(...many, ...single))
  const found = await allOf(store, { ...of, limit: 9 })
  t.same(
    found.map(({ requestId }) => requestId),
    many.flatMap(({ requestId }, n) => [requestId, `r${n}`]).reverse(),
  )
})

t.test(
  `a search without a match in REQUESTS_LOOKED_MAX (${REQUESTS_LOOKED_MAX}) calls returns where the next search continues`,
  async (t) => {
    const store = await openTestStore(t)
    const of = { organizationId: ORGANIZATION }
    const calls = (more: Partial<EndedCall>) =>
      batchOfCalls(
        ...Array.from({ length: REQUESTS_GATHERED_MAX }, (_, n) => ({ ...of, requestId: ownId(n), ...more })),
      )
    await insertRequests(store, calls({ endedMs: FROM_MS, notes: { provider: 'rare' } }))
    const segments = Math.ceil(REQUESTS_LOOKED_MAX / REQUESTS_GATHERED_MAX)
    for (let nth = 1; nth <= segments; nth++)
      await insertRequests(store, calls({ endedMs: FROM_MS + 1_000 * nth }))
    const search = { ...of, provider: 'rare', limit: 2 }
    const { rows, next } = must(await findRequests(store, search))
    t.same([rows, next?.endedUs], [[], `${FROM_MS}001`], 'before the first segment that it has not looked at')
    const further = must(await findRequests(store, { ...search, before: present(next) }))
    t.same(
      further.rows.map(({ n }) => n),
      [REQUESTS_GATHERED_MAX, REQUESTS_GATHERED_MAX - 1],
    )
  },
)

t.test('a segment that is written twice is stored once', async (t) => {
  const store = await openTestStore(t)
  const batch = batchOfCalls(
    ...Array.from({ length: CALLS }, (_, n) => ({
      ...{ organizationId: ORGANIZATION, requestId: ownId(n), notes: { costUsd: 1, paidMs: FROM_MS } },
    })),
    { organizationId: ORGANIZATION, requestId: 'a row' },
  )
  t.equal(await insertRequests(store, batch), CALLS + 1)
  t.equal(await insertRequests(store, batch), 0)
  t.equal((await allOf(store, { organizationId: ORGANIZATION, limit: 500 })).length, CALLS + 1)
  t.match(await store.sql`SELECT calls FROM request_payments`, [{ calls: CALLS }])
})
