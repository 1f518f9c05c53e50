import t from 'tap'
import { watchAdminPorts } from '../../../../src/server/store/nodes/admin-ports.ts'
import { connectionBudget } from '../../../../src/server/store/base/connection-budget.ts'
import { openEpochFeed, type RunningEpochFeed } from '../../../../src/server/store/base/epoch-feed.ts'
import { bump } from '../../../../src/server/store/base/epoch.ts'
import {
  enrol,
  frontsAt,
  nodesOnOtherRootKey,
  startHeartbeat,
  type Heartbeat,
} from '../../../../src/server/store/nodes/fronts.ts'
import type { Store } from '../../../../src/server/store/base/open.ts'
import { pruneFronts } from '../../../../src/server/store/lifecycle/prune.ts'
import { testHints } from '../../../support/stores/hints.ts'
import { newId } from '../../../../src/server/store/base/ids.ts'
import { SILENT } from '../../../support/log.ts'
import { openTestStore, waitLong } from '../../../support/stores/postgres.ts'
import { until } from '../../../support/wait.ts'

type Tap = Parameters<typeof openTestStore>[0]

waitLong()

const NEVER_MS = 2 ** 30

interface Front {
  readonly feed: RunningEpochFeed
  readonly heartbeat: Heartbeat
}

async function front(t: Tap, store: Store, node = 'here', hints = testHints()): Promise<Front> {
  const feed = openEpochFeed({ store, hints, log: SILENT, pollMs: NEVER_MS })
  await feed.poll()
  const heartbeat = startHeartbeat({
    frontId: newId(),
    store,
    feed,
    node,
    connections: 7,
    log: SILENT,
    everyMs: NEVER_MS,
  })
  t.teardown(async () => {
    await heartbeat.close()
    await feed.close()
  })
  await heartbeat.beat()
  return { feed, heartbeat }
}

t.test('fronts count each other, and stop counting a front that has left', async (t) => {
  const store = await openTestStore(t)
  const one = await front(t, store)
  const two = await front(t, store)
  await one.heartbeat.beat()
  t.same([one.heartbeat.liveFronts, two.heartbeat.liveFronts], [2, 2])
  await two.heartbeat.close()
  await one.heartbeat.beat()
  t.equal(one.heartbeat.liveFronts, 1)
})

t.test('each node knows the admin ports of all nodes, also of nodes that fell silent', async (t) => {
  const store = await openTestStore(t)
  const watched = watchAdminPorts(store, 9_090, 5)
  t.teardown(() => watched.close())
  t.same([...watched.ports], [9_090], 'its own at once')
  const feed = openEpochFeed({ store, hints: testHints(), log: SILENT, pollMs: NEVER_MS })
  const heartbeat = startHeartbeat({
    frontId: newId(),
    store,
    feed,
    node: 'there',
    adminPort: 9_191,
    connections: 7,
    log: SILENT,
    everyMs: NEVER_MS,
  })
  t.teardown(() => heartbeat.close().then(() => feed.close()))
  await heartbeat.beat()
  await store.sql`UPDATE fronts SET heartbeat_at = now() - interval '16 s'`
  await until(() => watched.ports.size >= 2)
  t.same([...watched.ports], [9_090, 9_191])
})

t.test('a front that fell silent is not live, and is pruned later', async (t) => {
  const store = await openTestStore(t)
  const one = await front(t, store)
  await front(t, store)
  await store.sql`UPDATE fronts SET heartbeat_at = now() - interval '16 s' WHERE id <> ${one.heartbeat.frontId}`
  await one.heartbeat.beat()
  t.equal(one.heartbeat.liveFronts, 1)
  t.equal(await pruneFronts(store.sql, 300_000), 0)
  await store.sql`UPDATE fronts SET heartbeat_at = now() - interval '11 min' WHERE id <> ${one.heartbeat.frontId}`
  t.equal(await pruneFronts(store.sql, 3_600_000), 0, 'it may still serve by its grace')
  t.equal(
    await pruneFronts(store.sql, 999_999_999 * 3_600_000),
    0,
    'the longest grace that a setting may say',
  )
  t.equal(await pruneFronts(store.sql, 300_000), 1)
})

t.test('a front is behind until it has applied and reported a change, and reports at once', async (t) => {
  const store = await openTestStore(t, 6)
  const hints = testHints()
  await front(t, store, 'here', hints)
  const change = await store.sql.begin((tx) => bump(tx, 'key', 'k'))
  t.same(await frontsAt(store.sql, change.n), { behind: 1, silent: 0 })
  hints.send(change)
  while ((await frontsAt(store.sql, change.n)).behind > 0) continue
  t.pass('it reported')
})

t.test('a front enrols before it serves, and again when its enrolment was not stored', async (t) => {
  const store = await openTestStore(t)
  const feed = openEpochFeed({ store, hints: null, log: SILENT, pollMs: NEVER_MS })
  t.teardown(() => feed.close())
  let beats = 0
  await enrol(feed, { beat: () => Promise.resolve(++beats === 2) })
  t.equal(beats, 2)
  await enrol(feed, { beat: () => Promise.resolve(++beats < 0) })
  t.equal(beats, 10, 'and serves without a row when the store never takes it')
})

t.test('a front enrols despite one slow store response, but not with an unavailable store', async (t) => {
  let [polls, beats] = [0, 0]
  const heartbeat = { beat: () => Promise.resolve(++beats > 0) }
  await enrol({ poll: () => Promise.resolve(++polls > 1) }, heartbeat)
  t.same([polls, beats], [2, 1])
  await enrol({ poll: () => Promise.resolve(++polls < 0) }, heartbeat)
  t.same([polls, beats], [4, 1])
})

t.test('a front that has applied no change yet is behind every change', async (t) => {
  const store = await openTestStore(t)
  await store.sql`INSERT INTO fronts VALUES (gen_random_uuid(), 'n', 1, -1, now())`
  t.same(await frontsAt(store.sql, 0), { behind: 1, silent: 0 })
})

t.test('distinguishes a silent front from one that is behind', async (t) => {
  const store = await openTestStore(t)
  await store.sql`INSERT INTO fronts VALUES (gen_random_uuid(), 'n', 1, 0, now() - interval '1 min')`
  t.same(await frontsAt(store.sql, 1), { behind: 0, silent: 1 })
})

t.test(
  'the connection budget counts each other node once at its maximum, and leaves out our own node',
  async (t) => {
    const store = await openTestStore(t)
    for (const node of ['here', 'elsewhere', 'elsewhere']) await front(t, store, node)
    const budget = await connectionBudget(store.sql, 'here', 20)
    t.match(budget, { elsewhere: 7, wanted: 20, fits: true })
    t.equal((await connectionBudget(store.sql, 'here', budget.available)).fits, false)
  },
)

t.test('the connection budget is the least that server, role and database give', async (t) => {
  const { sql, options } = await openTestStore(t)
  const url = new URL(options.url)
  const [database, role] = [url.pathname.slice(1), `${url.pathname.slice(1)}_role`]
  await sql.unsafe(
    `ALTER DATABASE "${database}" CONNECTION LIMIT 30; CREATE ROLE "${role}" CONNECTION LIMIT 22`,
  )
  t.teardown(() => sql.unsafe(`DROP ROLE "${role}"; ALTER DATABASE "${database}" CONNECTION LIMIT -1`))
  t.match(await connectionBudget(sql, 'here', 20), { available: 30, by: 'database' })
  await sql.begin(async (tx) => {
    await tx.unsafe(`GRANT SELECT ON fronts TO "${role}"; SET LOCAL ROLE "${role}"`)
    t.match(await connectionBudget(tx, 'here', 23), { available: 22, by: 'role', fits: false })
    await tx.unsafe(`RESET ROLE; REVOKE ALL ON fronts FROM "${role}"`)
  })
})

t.test('a front reports the root key that it wraps with, and again after a change', async (t) => {
  const store = await openTestStore(t)
  const feed = openEpochFeed({ store, hints: null, log: SILENT, pollMs: NEVER_MS })
  let rootKeyId = 'one'
  const heartbeat = startHeartbeat({
    frontId: newId(),
    store,
    feed,
    node: 'here',
    connections: 7,
    rootKeyId: () => rootKeyId,
    log: SILENT,
    everyMs: NEVER_MS,
  })
  t.teardown(async () => {
    await heartbeat.close()
    await feed.close()
  })
  await heartbeat.beat()
  t.same(
    [await nodesOnOtherRootKey(store.sql, 'one'), await nodesOnOtherRootKey(store.sql, 'two')],
    [[], ['here']],
  )
  rootKeyId = 'two'
  await heartbeat.beat()
  t.same(
    [await nodesOnOtherRootKey(store.sql, 'one'), await nodesOnOtherRootKey(store.sql, 'two')],
    [['here'], []],
  )
})

t.test(
  'a front sends its reports one at a time, however many are requested, and none after it has left',
  async (t) => {
    const store = await openTestStore(t)
    const feed = openEpochFeed({ store, hints: null, log: SILENT, pollMs: NEVER_MS })
    let [now, most] = [0, 0]
    const take = store.within.bind(store)
    const within: Store['within'] = (msMax, use) => {
      most = Math.max(most, ++now)
      return take(msMax, use).finally(() => now--)
    }
    Object.assign(store, { within })
    const heartbeat = startHeartbeat({
      frontId: newId(),
      store,
      feed,
      node: 'here',
      connections: 7,
      log: SILENT,
      everyMs: NEVER_MS,
    })
    t.teardown(() => feed.close())
    const asked = [heartbeat.beat(), heartbeat.beat(), heartbeat.scaled(8)]
    await heartbeat.close()
    await Promise.all(asked)
    const rows = await store.sql`SELECT id FROM fronts`
    t.same([most, rows.length], [1, 0], 'and nothing behind its end')
  },
)

t.test('a node with a new number of children reports it at once, and counts the live fronts', async (t) => {
  const store = await openTestStore(t)
  const [one, two] = [await front(t, store), await front(t, store)]
  await one.heartbeat.scaled(40)
  t.equal(one.heartbeat.liveFronts, 2)
  await two.heartbeat.scaled(40)
  t.equal((await connectionBudget(store.sql, 'there', 1)).elsewhere, 40)
  await one.heartbeat.scaled(9)
  await two.heartbeat.scaled(9)
  t.equal((await connectionBudget(store.sql, 'there', 1)).elsewhere, 9)
})

t.test('syncs the first heartbeat to disk before its answer, and the first after an outage', async (t) => {
  const store = await openTestStore(t, 1)
  await store.sql.unsafe(`
    SET synchronous_commit = on;
    CREATE TABLE commits (n serial, is_synced boolean);
    CREATE FUNCTION note_commit() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN INSERT INTO commits (is_synced) VALUES (current_setting('synchronous_commit') = 'on'); RETURN NULL; END $$;
    CREATE CONSTRAINT TRIGGER note_commit AFTER INSERT OR UPDATE ON fronts DEFERRABLE INITIALLY DEFERRED
      FOR EACH ROW EXECUTE FUNCTION note_commit()`)
  const { heartbeat } = await front(t, store)
  await store.sql`ALTER TABLE fronts RENAME TO away`
  t.equal(await heartbeat.beat(), false)
  await store.sql`ALTER TABLE away RENAME TO fronts`
  await heartbeat.beat()
  await heartbeat.beat()
  const rows = await store.sql<{ is_synced: boolean }[]>`SELECT is_synced FROM commits ORDER BY n`
  t.same(
    rows.map((row) => row.is_synced),
    [true, false, true, false],
  )
})
