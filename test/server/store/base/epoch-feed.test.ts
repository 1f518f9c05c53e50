import t from 'tap'
import { EPOCH_POLL_TIMEOUT_MS } from '../../../../src/schemas/keys/key-limits.ts'
import type { Invalidation } from '../../../../src/server/ports/keys/keys.ts'
import type { Change, Hints } from '../../../../src/server/ports/keys/keys.ts'
import { openEpochFeed, type RunningEpochFeed } from '../../../../src/server/store/base/epoch-feed.ts'
import { bump } from '../../../../src/server/store/base/epoch.ts'
import type { Store } from '../../../../src/server/store/base/open.ts'
import { pruneInvalidations } from '../../../../src/server/store/lifecycle/prune.ts'
import { openFarStore } from '../../../support/stores/away.ts'
import { gate } from '../../../support/gate.ts'
import { testHints } from '../../../support/stores/hints.ts'
import { keptLog } from '../../../support/log.ts'
import { openTestStore, waitLong } from '../../../support/stores/postgres.ts'

type Tap = Parameters<typeof openTestStore>[0]

interface Followed {
  readonly feed: RunningEpochFeed
  readonly received: Change[]
}

/** Never by its timer: the test decides when it polls. */
const NEVER_MS = 2 ** 30

async function follow(t: Tap, store: Store, hints: Hints | null = null): Promise<Followed> {
  const feed = openEpochFeed({ store, hints, log: keptLog(), pollMs: NEVER_MS })
  t.teardown(() => feed.close())
  await poll(feed)
  const received: Change[] = []
  feed.subscribe((change) => void received.push(change))
  return { feed, received }
}

function change(store: Store, id: string): Promise<Invalidation> {
  return store.sql.begin((tx) => bump(tx, 'key', id))
}

/**
 * Until a poll is good: a machine at a standstill makes polls late, and those are given up without a result.
 */
async function poll(feed: RunningEpochFeed): Promise<void> {
  while (!(await feed.poll())) continue
}

const idsOf = (received: readonly Change[]): string[] =>
  received.map((change) => (change.kind === 'everything' ? '*' : change.id))

t.test('delivers two changes that commit in the opposite order of their start', async (t) => {
  const store = await openTestStore(t)
  const { feed, received } = await follow(t, store)
  const firstMayCommit = gate()
  const firstBegan = gate()
  const first = store.sql.begin(async (tx) => {
    await tx`SELECT 1`
    firstBegan.open()
    await firstMayCommit.opened
    return bump(tx, 'key', 'first')
  })
  await firstBegan.opened
  await change(store, 'second')
  await poll(feed)
  t.same(idsOf(received), ['second'])
  firstMayCommit.open()
  await first
  await poll(feed)
  t.same(idsOf(received), ['second', 'first'])
})

t.test('a change with a number is delivered before later numbers, even if it commits late', async (t) => {
  const store = await openTestStore(t)
  const { feed, received } = await follow(t, store)
  const mayCommit = gate()
  const numbered = gate()
  const slow = store.sql.begin(async (tx) => {
    await bump(tx, 'key', 'slow')
    numbered.open()
    await mayCommit.opened
  })
  await numbered.opened
  const fast = change(store, 'fast')
  await poll(feed)
  t.same(idsOf(received), [])
  mayCommit.open()
  await Promise.all([slow, fast])
  await poll(feed)
  t.same(idsOf(received), ['slow', 'fast'])
})

t.test('delivers every change of many parallel writers while it polls', async (t) => {
  const store = await openTestStore(t, 8)
  const { feed, received } = await follow(t, store)
  const ids = Array.from({ length: 200 }, (_, index) => `k${index}`)
  const writing = Promise.all(ids.map((id) => change(store, id)))
  let isWriting = true
  void writing.then(() => (isWriting = false))
  while (isWriting) await feed.poll()
  await poll(feed)
  t.same(idsOf(received).sort(), ids.sort())
  t.equal(feed.epoch, 200)
})

t.test('a hint is applied in the same turn, but the epoch advances only after a store poll', async (t) => {
  const store = await openTestStore(t)
  const hints = testHints()
  const { feed, received } = await follow(t, store, hints)
  hints.send({ n: 1, kind: 'key', id: 'told' })
  t.same(idsOf(received), ['told'])
  t.equal(feed.epoch, 0)
})

t.test('a hint with a number after a missed change delivers the missed change at once', async (t) => {
  const store = await openTestStore(t)
  const hints = testHints()
  const { feed, received } = await follow(t, store, hints)
  await change(store, 'missed')
  hints.send(await change(store, 'told'))
  await poll(feed)
  t.ok(idsOf(received).includes('missed'))
  t.equal(idsOf(received)[0], 'told')
  t.equal(feed.epoch, 2)
})

t.test('a hint from another installation hides no change with the same number', async (t) => {
  const store = await openTestStore(t)
  const hints = testHints()
  const { feed, received } = await follow(t, store, hints)
  hints.send({ n: 1, kind: 'key', id: 'foreign' })
  await poll(feed)
  await change(store, 'ours')
  await poll(feed)
  t.same(idsOf(received), ['foreign', 'ours'])
})

t.test('a reader whose unread changes were pruned drops everything', async (t) => {
  const store = await openTestStore(t)
  const { feed, received } = await follow(t, store)
  await change(store, 'lost')
  t.equal(await pruneInvalidations(store.sql, -1), 1)
  await change(store, 'kept')
  await poll(feed)
  t.same(idsOf(received), ['*'])
  t.equal(feed.epoch, 2)
})

t.test('a reader drops everything when the database was reset to an earlier state', async (t) => {
  const store = await openTestStore(t)
  const { feed, received } = await follow(t, store)
  await change(store, 'a')
  await poll(feed)
  await store.sql`UPDATE epoch SET n = 0`
  await poll(feed)
  t.same(idsOf(received), ['a', '*'])
})

t.test('a reader drops everything when there are more changes than one poll reads', async (t) => {
  const store = await openTestStore(t)
  const { feed, received } = await follow(t, store)
  await store.sql`INSERT INTO invalidations (n, kind, id) SELECT n, 'key', n::text FROM generate_series(1, 1001) AS n`
  await store.sql`UPDATE epoch SET n = 1001`
  await poll(feed)
  t.same(idsOf(received), ['*'])
})

for (const away of ['cut', 'freeze'] as const) {
  t.test(
    `polls fail in time after a ${away} of the store, and the first successful one delivers the missed changes`,
    async (t) => {
      const { direct, store, relay } = await openFarStore(t)
      const { feed, received } = await follow(t, store)
      const goodAt = feed.lastGoodPollAtMs
      t.ok(goodAt > 0)
      await relay[away]()
      await change(direct, 'missed')
      await feed.poll()
      t.equal(feed.lastGoodPollAtMs, goodAt)
      t.same(idsOf(received), [])
      await relay.restore()
      while (feed.lastGoodPollAtMs === goodAt) await feed.poll()
      t.same(idsOf(received), ['missed'])
    },
  )
}

t.test(
  'one slow poll, for example while the event loop is blocked at startup, is no outage, and a second one is',
  async (t) => {
    const { store, relay } = await openFarStore(t)
    const log = keptLog()
    const logged = (): readonly string[] =>
      log.events.map(({ event }) => event).filter((event) => event.startsWith('epoch.'))
    const feed = openEpochFeed({ store, hints: null, log, pollMs: NEVER_MS })
    t.teardown(() => feed.close())
    for (const end = performance.now() + EPOCH_POLL_TIMEOUT_MS + 100; performance.now() < end;);
    const bounded = waitLong()
    t.equal(await feed.poll(), true)
    bounded()
    t.same(logged(), [])
    await relay.freeze()
    t.equal(await feed.poll(), false)
    t.same(logged(), [])
    await feed.poll()
    await feed.poll()
    t.same(logged(), ['epoch.away'])
    await relay.restore()
    while (!(await feed.poll()));
    t.same(logged(), ['epoch.away', 'epoch.back'])
  },
)

t.test('an outage that exists from the start is measured from the start, not from 1970', async (t) => {
  const { store, relay } = await openFarStore(t)
  await relay.cut()
  const log = keptLog()
  const openedAtMs = Date.now()
  const feed = openEpochFeed({ store, hints: null, log, pollMs: NEVER_MS })
  t.teardown(() => feed.close())
  await feed.poll()
  await relay.restore()
  while (feed.lastGoodPollAtMs === 0) await feed.poll()
  const back = log.events.find(({ event }) => event === 'epoch.back')
  t.ok(Number(back?.fields?.['awayMs']) <= Date.now() - openedAtMs)
})

t.test('the first poll drops everything that was loaded before it', async (t) => {
  const store = await openTestStore(t)
  const feed = openEpochFeed({ store, hints: null, log: keptLog(), pollMs: NEVER_MS })
  t.teardown(() => feed.close())
  const received: Change[] = []
  feed.subscribe((change) => void received.push(change))
  t.equal(feed.epoch, -1)
  await poll(feed)
  t.equal(received[0]?.kind, 'everything')
  t.equal(feed.epoch, 0)
})
