import t from 'tap'
import { guardedRows } from '../../../../src/server/store/base/guarded-row.ts'
import type { Store } from '../../../../src/server/store/base/open.ts'
import { present } from '../../../support/must.ts'
import { openTestStore } from '../../../support/stores/postgres.ts'

type Tap = Parameters<typeof openTestStore>[0]
type State = 'queued' | 'running' | 'done'

const LONG_MS = 3_600_000
/** A lease that has already run out. */
const SPENT_MS = -1

const rows = guardedRows<State>({ table: 'chores', claimable: ['queued', 'running'] })

async function chores(t: Tap, ...ids: readonly string[]): Promise<Store> {
  const store = await openTestStore(t, 8)
  await store.sql`CREATE TABLE chores (id text PRIMARY KEY, state text NOT NULL DEFAULT 'queued',
    attempt int NOT NULL DEFAULT 0, lease_until timestamptz NOT NULL DEFAULT '-infinity', note text)`
  for (const id of ids) await store.sql`INSERT INTO chores (id) VALUES (${id})`
  return store
}

t.test('only one of many claimers gets the row', async (t) => {
  const { sql } = await chores(t, 'a')
  const claims = await Promise.all(Array.from({ length: 20 }, () => rows.claim(sql, 'a', LONG_MS)))
  t.same(
    claims.filter((claim) => claim !== null),
    [{ id: 'a', attempt: 1, state: 'queued' }],
  )
})

t.test('a claimer whose lease expired and was taken over can no longer write', async (t) => {
  const { sql } = await chores(t, 'a')
  const stale = present(await rows.claim(sql, 'a', SPENT_MS))
  const fresh = present(await rows.claim(sql, 'a', LONG_MS))
  t.equal(await rows.advance(sql, stale, 'done', { note: 'stale' }), null)
  t.equal(await rows.renew(sql, stale, LONG_MS), false)
  t.equal(await rows.release(sql, stale, 0), false)
  t.same(await rows.advance(sql, fresh, 'done', { note: 'fresh' }), { id: 'a', attempt: 2, state: 'done' })
  t.same(await sql`SELECT state, note FROM chores`, [{ state: 'done', note: 'fresh' }])
})

t.test('a claimer whose lease expired can continue until another one takes over', async (t) => {
  const { sql } = await chores(t, 'a')
  const claim = present(await rows.claim(sql, 'a', SPENT_MS))
  t.equal(await rows.renew(sql, claim, LONG_MS), true)
  t.equal(await rows.claim(sql, 'a', LONG_MS), null)
})

t.test('a row advances only from the state that its claimer expects', async (t) => {
  const { sql } = await chores(t, 'a')
  const claim = present(await rows.claim(sql, 'a', LONG_MS))
  const running = await rows.advance(sql, claim, 'running')
  t.same(running, { id: 'a', attempt: 1, state: 'running' })
  t.equal(await rows.advance(sql, claim, 'done'), null)
})

t.test('a finished row is neither due nor claimed', async (t) => {
  const { sql } = await chores(t, 'a')
  await sql`UPDATE chores SET state = 'done'`
  t.same(await rows.due(sql, 10), [])
  t.equal(await rows.claim(sql, 'a', LONG_MS), null)
})

t.test('a released row is due again at its time, and its former claimer can no longer write', async (t) => {
  const { sql } = await chores(t, 'now', 'later')
  for (const [id, dueInMs] of [
    ['now', SPENT_MS],
    ['later', LONG_MS],
  ] as const) {
    const claim = present(await rows.claim(sql, id, LONG_MS))
    t.equal(await rows.release(sql, claim, dueInMs), true)
    t.equal(await rows.advance(sql, claim, 'done'), null)
  }
  t.same(await rows.due(sql, 10), ['now'])
})

t.test('an advance is rolled back with its transaction', async (t) => {
  const { sql } = await chores(t, 'a')
  const claim = present(await rows.claim(sql, 'a', LONG_MS))
  await t.rejects(
    sql.begin(async (tx) => {
      await rows.advance(tx, claim, 'done')
      throw new Error('undo')
    }),
    /undo/,
  )
  t.ok(await rows.advance(sql, claim, 'running'))
})

t.test('claims that are renewed together keep their counts, where the table has such a column', async (t) => {
  const { sql } = await chores(t, 'a', 'b', 'c')
  await sql`ALTER TABLE chores ADD COLUMN looks integer NOT NULL DEFAULT 9`
  const counted = guardedRows<State>({ table: 'chores', claimable: ['queued', 'running'], kept: 'looks' })
  const [a, b, c] = await Promise.all(
    ['a', 'b', 'c'].map(async (id) => present(await counted.claim(sql, id, LONG_MS))),
  )
  const claims = [{ ...present(a), kept: 4 }, present(b), { ...present(c), attempt: 7, kept: 5 }]
  t.same(await counted.renewAll(sql, claims, LONG_MS), ['c'])
  t.same(
    (await sql`SELECT looks FROM chores ORDER BY id`).map(({ looks }) => looks as number),
    [4, 9, 9],
  )
  t.same(await rows.renewAll(sql, claims, LONG_MS), ['c'], 'and not where it does not')
})

t.test('the lease counts from the claim, not from the start of its transaction', async (t) => {
  const { sql } = await chores(t, 'a')
  const [row] = await sql.begin(async (tx) => {
    await tx`SELECT pg_sleep(0.05)`
    await rows.claim(tx, 'a', LONG_MS)
    return tx<
      { isLate: boolean }[]
    >`SELECT lease_until >= now() + interval '1 hour 50 ms' AS "isLate" FROM chores`
  })
  t.equal(row?.isLate, true)
})
