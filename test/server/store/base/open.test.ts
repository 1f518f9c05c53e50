import t, { type Test } from 'tap'
import {
  openStore,
  StoreSlow,
  type Sql,
  type Store,
  type StoreOptions,
} from '../../../../src/server/store/base/open.ts'
import { LOCK_WAIT_MS_MAX } from '../../../../src/schemas/limits/limits.ts'
import { isAway, isLockSlow } from '../../../../src/server/store/base/translate.ts'
import { gate } from '../../../support/gate.ts'
import { openFarStore } from '../../../support/stores/away.ts'
import { openTestDatabase, openTestStore } from '../../../support/stores/postgres.ts'
import { pause, until } from '../../../support/wait.ts'

async function problemOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => null,
    (problem: unknown) => problem,
  )
}

/** The library's own: another one after the connections were replaced. */
async function clientOf(store: Store): Promise<Sql> {
  return new Promise((resolve) => {
    // No answer: that would be a sign of life.
    store.within(1, (sql) => new Promise(() => resolve(sql))).catch(() => {})
  })
}

t.test('the next of several hosts is tried when one does not answer', async (t) => {
  const { url } = await openTestDatabase(t)
  const store = openStore({
    url: url.replace('@', '@127.0.0.1:1,'),
    poolMax: 1,
    applicationName: 'sluice-test',
  })
  t.teardown(() => store.close())
  t.same(await store.sql`SELECT 1 AS one`, [{ one: 1 }])
})

t.test('waiting statements fail as unavailable when all hosts refuse connections', async (t) => {
  const store = openStore({
    url: 'postgres://u:p@127.0.0.1:1,127.0.0.1:2/d',
    poolMax: 2,
    applicationName: 'sluice-test',
    silenceMsMax: 1,
  })
  t.teardown(() => store.close())
  const works = [() => store.sql`SELECT 1`.execute(), () => store.sql.begin((tx) => tx`SELECT 1`)]
  for (const work of works) t.ok(isAway(await problemOf(work())))
})

t.test('waiting statements fail as unavailable when one of several hosts stops answering', async (t) => {
  const far = await openFarStore(t)
  const url = far.store.options.url.replace('@', '@127.0.0.1:1,')
  const store = openStore({ ...far.store.options, url, silenceMsMax: 1 })
  t.teardown(() => store.close())
  await store.sql`SELECT 1`
  await far.relay.freeze()
  t.ok(isAway(await problemOf(store.sql`SELECT 1`)))
})

t.test('waiting for an answer ends at its time limit', async (t) => {
  const store = await openTestStore(t)
  await store.warm()
  const holder = await store.sql.reserve()
  await holder`SELECT pg_advisory_lock(1)`
  const problem = await problemOf(store.within(20, (sql) => sql`SELECT pg_advisory_xact_lock(1)`))
  t.ok(problem instanceof StoreSlow && isAway(problem))
  await holder`SELECT pg_advisory_unlock(1)`
  holder.release()
})

t.test('work that fails to start is reported as failed, and causes no later error', async (t) => {
  const store = await openTestStore(t)
  const late: unknown[] = []
  const note = (problem: unknown): void => void late.push(problem)
  process.on('unhandledRejection', note)
  t.teardown(() => process.off('unhandledRejection', note))
  const bug = new Error('a bug')
  t.equal(
    await problemOf(
      store.within(10, () => {
        throw bug
      }),
    ),
    bug,
  )
  await pause(50)
  t.same(late, [])
})

t.test('a disconnected store is unavailable, and answers again as soon as it is reachable', async (t) => {
  const { store, relay } = await openFarStore(t)
  await store.sql`SELECT 1`
  await relay.cut()
  t.ok(isAway(await problemOf(store.within(2_000, (sql) => sql`SELECT 1`))))
  await relay.restore()
  while ((await problemOf(store.within(2_000, (sql) => sql`SELECT 1`))) !== null) continue
  t.pass('it is back')
})

t.test('connections that no longer answer are replaced', async (t) => {
  const { store, relay } = await openFarStore(t)
  const kept = store.sql
  await kept`SELECT 1`
  const hung = await clientOf(store)
  relay.freeze()
  while ((await clientOf(store)) === hung)
    t.ok(isAway(await problemOf(store.within(200, (sql) => sql`SELECT 1`))))
  await relay.restore()
  while ((await problemOf(store.within(2_000, (sql) => sql`SELECT 1`))) !== null) continue
  t.ok(isAway(await problemOf(hung`SELECT 1`)), 'the old client is closed')
  t.equal(
    await problemOf(kept`SELECT 1`.execute()),
    null,
    'whoever kept the client of the store has the new connections',
  )
  t.equal(await problemOf(kept.begin((tx) => tx`SELECT 1`)), null)
})

t.test('a transaction whose connection stops answering fails because the store is unavailable', async (t) => {
  const { store, relay } = await openFarStore(t)
  const hung = await clientOf(store)
  const frozen = gate()
  const transaction = problemOf(
    store.sql.begin(async (tx) => {
      await tx`SELECT 1`
      relay.freeze()
      frozen.open()
      await tx`SELECT 2`
    }),
  )
  await frozen.opened
  while ((await clientOf(store)) === hung) await problemOf(store.within(200, (sql) => sql`SELECT 1`))
  t.ok(isAway(await transaction), 'while nothing of the connection comes back')
  await relay.restore()
})

t.test('connections that all wait for a lock are not treated as dead', async (t) => {
  const { options } = await openTestStore(t)
  let cuts = 0
  // A defect shows each time. A machine that stalls for the time by which the silence exceeds a lock wait
  // shows it now and then.
  for (let tried = 0; tried < 3 && cuts === tried; tried++) if (await isCutByLock(t, options)) cuts += 1
  t.ok(cuts < 3, 'nobody was cut')
})

/**
 * @returns whether connections were replaced that all waited for a lock until Postgres ended each by its lock
 * time-out
 */
async function isCutByLock(t: Test, patient: StoreOptions): Promise<boolean> {
  const options = { ...patient, lockMsMax: LOCK_WAIT_MS_MAX }
  const [store, holder] = [openStore({ ...options, poolMax: 2 }), openStore({ ...options, poolMax: 1 })]
  t.teardown(() => Promise.all([store.close(), holder.close()]))
  await store.warm()
  const client = await clientOf(store)
  let isOdd = false
  const waiters = await holder.sql.begin(async (tx) => {
    await tx`SELECT pg_advisory_xact_lock(1)`
    const waiting = [0, 1].map(() =>
      problemOf(store.sql.begin((other) => other`SELECT pg_advisory_xact_lock(1)`)),
    )
    let left = waiting.length
    for (const one of waiting) void one.then(() => left--)
    while (left > 0)
      isOdd ||= !(
        (await problemOf(store.within(200, (sql) => sql`SELECT 1`))) instanceof StoreSlow || left < 2
      )
    return Promise.all(waiting)
  })
  return isOdd || (await clientOf(store)) !== client || !waiters.every((problem) => isLockSlow(problem))
}

/** Work that keeps the only connection of a store busy, each for longer than the silence. */
const BUSY: Readonly<Record<string, (store: Store) => readonly Promise<unknown>[]>> = {
  'transactions that end': (store) => dozen(() => store.sql.begin((tx) => tx`SELECT pg_sleep(0.1)`)),
  'transactions that end and fail': (store) =>
    dozen(() =>
      store.sql.begin(async (tx) => {
        await tx`SELECT pg_sleep(0.1)`
        await tx.unsafe('SELECT nonsense')
      }),
    ),
  'statements of one transaction': (store) => [
    store.sql.begin(async (tx) => {
      for (let statement = 0; statement < 12; statement++) await tx`SELECT pg_sleep(0.1)`
    }),
  ],
  'statements without a transaction': (store) => dozen(() => store.sql`SELECT pg_sleep(0.1)`),
}

function dozen(work: () => Promise<unknown>): readonly Promise<unknown>[] {
  return Array.from({ length: 12 }, work)
}

for (const [what, begin] of Object.entries(BUSY)) {
  t.test(`connections with ${what} are not treated as dead, although \`within\` gets no turn`, async (t) => {
    const { options } = await openTestStore(t)
    const cuts: number[] = []
    // A defect shows each time. A machine that stalls for longer than the silence shows it now and then.
    for (let tried = 0; tried < 3 && cuts.length === tried; tried++) {
      const cut = await cutOf(openStore({ ...options, poolMax: 1, silenceMsMax: 400 }), begin)
      if (cut > 0) cuts.push(cut)
    }
    t.ok(cuts.length < 3, `${cuts.join()} were cut`)
  })
}

/** @returns how much of the work was cut for silence, and its connections */
async function cutOf(store: Store, begin: (store: Store) => readonly Promise<unknown>[]): Promise<number> {
  try {
    const client = await clientOf(store)
    const busy = Promise.all(begin(store).map(problemOf))
    let isBusy = true
    void busy.then(() => (isBusy = false))
    // Each statement waits for all of the work, and is late.
    while (isBusy) await problemOf(store.within(30, (sql) => sql`SELECT 1`))
    return (await busy).filter((one) => isAway(one)).length + ((await clientOf(store)) === client ? 0 : 1)
  } finally {
    await store.close()
  }
}

t.test('idle connections are not replaced because of one slow statement', async (t) => {
  const { options } = await openTestStore(t)
  let replaced = 0
  // A defect shows each time. A machine that stalls for part of that time shows it now and then.
  for (let tried = 0; tried < 3 && replaced === tried; tried++)
    if (await isReplacedAfterRest(openStore({ ...options, silenceMsMax: REST_MS }))) replaced += 1
  t.ok(replaced < 3, 'nobody was cut')
})

/** Milliseconds of a rest, as long as the longest silence. */
const REST_MS = 1_500

/** @returns whether another statement was cut when one was slow after a rest, or none was slow */
async function isReplacedAfterRest(store: Store): Promise<boolean> {
  try {
    await store.warm()
    await pause(REST_MS)
    const other = problemOf(store.sql`SELECT pg_sleep(0.3)`.execute())
    const slow = await problemOf(store.within(100, (sql) => sql`SELECT pg_sleep(0.2)`))
    return (await other) !== null || !(slow instanceof StoreSlow)
  } finally {
    await store.close()
  }
}

t.test('a statement time-out means an unavailable store, and an invalid statement a bug', async (t) => {
  const { sql } = await openTestStore(t)
  const slow = sql.begin(async (tx) => {
    await tx`SET LOCAL statement_timeout = 10`
    return tx`SELECT pg_sleep(5)`
  })
  t.ok(isAway(await problemOf(slow)))
  t.notOk(isAway(await problemOf(sql.unsafe('SELECT nonsense').execute())))
})

t.test('a transaction that is idle for too long loses its locks', async (t) => {
  const { sql } = await openTestStore(t)
  const [row] = await sql`SHOW idle_in_transaction_session_timeout`
  t.equal(row?.['idle_in_transaction_session_timeout'], '10s')
})

t.test('idle connections are closed, and opened again for the next statement', async (t) => {
  const { url } = await openTestDatabase(t)
  const applicationName = 'sluice-test-idle'
  const store = openStore({ url, poolMax: 3, applicationName, idleMsMax: 50 })
  const looker = openStore({ url, poolMax: 1, applicationName: 'sluice-test' })
  t.teardown(() => Promise.all([store.close(), looker.close()]))
  const count = async (): Promise<number> => {
    const [row] = await looker.sql<{ count: number }[]>`
      SELECT count(*)::int AS count FROM pg_stat_activity
      WHERE datname = current_database() AND application_name = ${applicationName}`
    return row?.count ?? -1
  }
  await store.warm()
  await until(async () => (await count()) === 0)
  t.same(await store.sql`SELECT 1 AS one`, [{ one: 1 }])
  t.same(await store.sql.begin((tx) => tx`SELECT 2 AS two`), [{ two: 2 }])
})

t.test('warming up opens all store connections, and throws nothing for an unavailable store', async (t) => {
  const store = await openTestStore(t, 3)
  await store.warm()
  const [row] = await store.sql<{ count: number }[]>`
    SELECT count(*)::int AS count FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'sluice-test'`
  t.equal(row?.count, 3)
  const far = await openFarStore(t)
  await far.relay.cut()
  await far.store.warm()
})

t.test(
  'a write that a read-only session refuses means an unavailable store, and new sessions can write again',
  async (t) => {
    const { options, sql } = await openTestStore(t)
    const name = new URL(options.url).pathname.slice(1)
    await sql.unsafe(`ALTER DATABASE "${name}" SET default_transaction_read_only = on`)
    const [store, unasked] = [openStore({ ...options, poolMax: 2 }), openStore({ ...options, poolMax: 2 })]
    t.teardown(() => Promise.all([store.close(), unasked.close()]))
    const write = (by = store): Promise<unknown> =>
      problemOf(by.sql`CREATE TABLE IF NOT EXISTS written (id int)`)
    t.ok(isAway(await write()))
    t.ok(isAway(await write(unasked)))
    await t.rejects(store.checkWritable(30_000), { message: 'Postgres is read-only.' })
    await sql.unsafe(`ALTER DATABASE "${name}" RESET default_transaction_read_only`)
    await until(async () => (await write()) === null)
    await store.checkWritable(30_000)
    await until('sessions that begin after the refused write', async () => (await write(unasked)) === null)
  },
)
