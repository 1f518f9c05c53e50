import t, { type Test } from 'tap'
import { REQUESTS_LOOKED_MAX } from '../../../../src/schemas/requests/request-limits.ts'
import { CallEnded } from '../../../../src/schemas/values/call-ended.ts'
import { CONTROL_DEADLINE_MS } from '../../../../src/schemas/limits/limits.ts'
import { openStore } from '../../../../src/server/store/base/open.ts'
import { insertRequests } from '../../../../src/server/store/requests/request-rows.ts'
import { findRequests, openRequestLog } from '../../../../src/server/store/requests/request-search.ts'
import type { RequestPage, RequestPlace } from '../../../../src/server/ports/requests/request-log.ts'
import { FRONT_POOL_MAX } from '../../../../src/server/supervisor/fleet/shares.ts'
import { gate } from '../../../support/gate.ts'
import { ORGANIZATION, OTHER_ORGANIZATION, WORKSPACE } from '../../../support/inference/generations.ts'
import { must, present } from '../../../support/must.ts'
import { batchOfCalls } from '../../../support/requests/settled-call.ts'
import { openTestStore, plantMany, waitLong } from '../../../support/stores/postgres.ts'
import { lockWaiters, untilWaiting } from '../../../support/stores/lock-waiters.ts'
import {
  LONG_READ_WAIT_MS,
  LONG_READS_WAITING_MAX,
  LONG_READS_WAITING_OF_ONE_MAX,
} from '../../../../src/server/store/base/long-reads.ts'

waitLong()

const UNENDED = new AbortController().signal
const BUSY = { ok: false, failure: { name: 'busy', retryAfterS: 1 } }

/** The log on the connections of a front, while something holds its rows. */
async function openHeldLog(t: Test) {
  const store = await openTestStore(t, FRONT_POOL_MAX)
  const beside = openStore({ ...store.options, poolMax: 2 })
  t.teardown(() => beside.close())
  const log = openRequestLog(store)
  const find = (organizationId: string, signal = UNENDED) => log.find({ organizationId, limit: 1 }, signal)
  const [held, over] = [gate(), gate()]
  const holding = beside.sql.begin(async (tx) => {
    await tx`LOCK TABLE requests IN ACCESS EXCLUSIVE MODE`
    held.open()
    await over.opened
  })
  await held.opened
  const letGo = async (): Promise<void> => {
    over.open()
    await holding
  }
  return {
    store,
    find,
    letGo,
    untilSearching: (count: number) => untilWaiting(beside.sql, count),
    searching: () => lockWaiters(beside.sql),
  }
}

t.test(
  'each organization runs one search at a time, and all searches together leave a connection to calls',
  async (t) => {
    const { store, find, letGo, searching, untilSearching } = await openHeldLog(t)
    const own = Array.from({ length: 8 }, () => find(ORGANIZATION))
    await untilSearching(1)
    const others = [OTHER_ORGANIZATION, WORKSPACE].map((organizationId) => find(organizationId))
    await untilSearching(2)
    t.equal((await store.sql`SELECT 1`).length, 1)
    t.equal(await searching(), 2)
    await letGo()
    for (const page of await Promise.all([...own, ...others])) t.same(must(page), { rows: [], next: null })
  },
)

t.test('a search by an unknown key name returns no rows at once, without reading the calls', async (t) => {
  const { store, letGo, searching } = await openHeldLog(t)
  const search = { organizationId: ORGANIZATION, keyName: 'of no key', limit: 1 }
  t.same(must(await findRequests(store, search)), { rows: [], next: null })
  t.equal(await searching(), 0)
  await letGo()
})

t.test('searches above the limit of an organization are busy, and those of others can wait', async (t) => {
  const { find, letGo } = await openHeldLog(t)
  const own = Array.from({ length: 1 + LONG_READS_WAITING_OF_ONE_MAX }, () => find(ORGANIZATION))
  t.match(await find(ORGANIZATION), BUSY)
  const other = find(OTHER_ORGANIZATION)
  await letGo()
  for (const page of await Promise.all([...own, other])) must(page)
  t.ok(LONG_READS_WAITING_MAX > LONG_READS_WAITING_OF_ONE_MAX)
  t.ok(LONG_READ_WAIT_MS < CONTROL_DEADLINE_MS, 'a call learns of it before its deadline')
})

t.test('a search whose caller disconnects passes its turn on, and runs no more queries', async (t) => {
  const { store, find, letGo, searching, untilSearching } = await openHeldLog(t)
  const left = new AbortController()
  const first = find(ORGANIZATION, left.signal)
  await untilSearching(1)
  const waiting = find(ORGANIZATION, left.signal)
  left.abort(new CallEnded('client_gone'))
  const ended = { ok: false, failure: { name: 'client_gone' } }
  t.match(await waiting, ended, 'while the rows are still held')
  t.match(await find(ORGANIZATION, left.signal), ended)
  t.equal(await searching(), 1)
  await letGo()
  t.match(await first, ended)
  must(await find(ORGANIZATION))
  t.equal((await store.sql`SELECT 1`).length, 1)
})

t.test(
  `a search without a match in REQUESTS_LOOKED_MAX (${REQUESTS_LOOKED_MAX}) rows returns where the next search continues`,
  async (t) => {
    const store = await openTestStore(t)
    const of = { organizationId: ORGANIZATION }
    const old = { ...of, requestId: 'old', notes: { provider: 'rare' } }
    const endedMs = Date.now()
    await insertRequests(store, batchOfCalls({ ...of, endedMs }))
    // As many rows as one search looks at, all newer than the one that it is for.
    await plantMany(
      store,
      (tx) => tx`
      INSERT INTO requests (organization_id, ended_at, batch, n, request_id, operation, status, weight, flags)
      SELECT organization_id, ended_at, batch, nth, request_id, operation, status, weight, flags
      FROM requests, generate_series(2, ${REQUESTS_LOOKED_MAX}::int) nth`,
    )
    await insertRequests(store, batchOfCalls({ ...old, endedMs: endedMs - 1_000 }))
    const search = { ...of, provider: 'rare', limit: 2 }
    const { rows, next } = must(await findRequests(store, search))
    t.same([rows, next?.n], [[], 1], 'behind the last row that it has looked at')
    const further = must(await findRequests(store, { ...search, before: present(next) }))
    t.same(
      further.rows.map(({ requestId }) => requestId),
      ['old'],
    )
    t.equal(further.next, null)
  },
)

t.test('pages continue correctly within calls of one millisecond from several batches', async (t) => {
  const store = await openTestStore(t)
  const endedMs = Date.now()
  // As texts these numbers have another order than as numbers.
  for (const id of ['9', '10', '100'])
    await insertRequests(store, {
      ...batchOfCalls({ organizationId: ORGANIZATION, endedMs, requestId: id }),
      id,
    })
  const found: string[] = []
  let before: RequestPlace | null = null
  do {
    const page: RequestPage = must(
      await findRequests(store, {
        organizationId: ORGANIZATION,
        limit: 1,
        ...(before !== null && { before }),
      }),
    )
    found.push(...page.rows.map(({ requestId }) => requestId))
    before = page.next
  } while (before !== null)
  t.same(found, ['100', '10', '9'])
})
