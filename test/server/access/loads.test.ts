/** Loads of keys that changes overtake, and how many keys are loaded at once. */
import t from 'tap'
import type { Change } from '../../../src/server/ports/keys/keys.ts'
import { gate } from '../../support/gate.ts'
import { ask, nameOf, rig, type AccessRig } from '../../support/keys/access-rig.ts'
import { testKey } from '../../support/keys/key-store.ts'
import { KEY_LOADS_MAX } from '../../../src/server/access/known-keys.ts'
import { KEY_QUERIES_MAX } from '../../../src/server/access/access.ts'
import { BLIND_LOADS_MAX, RELOADS_MS_MAX } from '../../../src/server/caches/live-loads.ts'

t.test('simultaneous calls with the same key share one load', async (t) => {
  const key = testKey()
  const at = rig(key)
  const held = at.store.hold()
  const asking = Promise.all([1, 2, 3].map(() => ask(at, key.bearer)))
  held.open()
  t.same(await asking, ['accepted', 'accepted', 'accepted'])
  t.equal(at.store.asked.length, 1)
})

t.test('a load during which its key is invalidated is discarded and repeated', async (t) => {
  const key = testKey()
  const at = rig(key)
  const held = at.store.hold()
  const asking = ask(at, key.bearer)
  await held.read
  at.store.records.delete(key.record.hash)
  at.feed.tell({ n: 1, kind: 'key', id: key.record.hash })
  held.open()
  t.equal(await asking, 'key_unknown')
  t.equal(nameOf(at.access.authenticate(key.bearer)), 'key_unknown')
})

t.test('a caller that joins an invalidated load gets a read made after the invalidation', async (t) => {
  const key = testKey()
  const at = rig(key)
  const held = at.store.hold()
  const early = ask(at, key.bearer)
  await held.read
  at.store.records.delete(key.record.hash)
  at.feed.tell({ kind: 'everything' })
  const late = ask(at, key.bearer)
  held.open()
  t.same(await Promise.all([early, late]), ['key_unknown', 'key_unknown'])
})

t.test('an invalidation of another key does not repeat a load', async (t) => {
  const key = testKey()
  const at = rig(key)
  const held = at.store.hold()
  const asking = ask(at, key.bearer)
  await held.read
  at.feed.tell({ n: 1, kind: 'key', id: testKey().record.hash })
  held.open()
  t.equal(await asking, 'accepted')
  t.equal(at.store.asked.length, 1)
})

/** Publishes each of the changes while a load is running, for the first `times` loads. */
function overtake(at: AccessRig, changes: readonly Change[], times = Infinity): void {
  const { load } = at.store
  let left = times
  at.store.load = (hashes) => {
    const loading = load(hashes)
    if (left-- > 0) changes.forEach((change) => at.feed.tell(change))
    // The clock of a store that takes a second for each load.
    at.clock.ms += 1_000
    return loading
  }
}

t.test('frequent changes of another workspace delay no key, and no key is loaded twice', async (t) => {
  const keys = Array.from({ length: 100 }, () => testKey())
  const at = rig(...keys)
  overtake(at, [
    { n: 1, kind: 'workspace', id: 'other' },
    { n: 2, kind: 'organization', id: 'other' },
    { n: 3, kind: 'key', id: testKey().record.hash },
  ])
  t.same(new Set(await Promise.all(keys.map(({ bearer }) => ask(at, bearer)))), new Set(['accepted']))
  t.equal(at.store.asked.length, keys.length)
})

t.test('a key is loaded again after each change during its load, and the last state counts', async (t) => {
  const key = testKey()
  const at = rig(key)
  const { load } = at.store
  let loads = 0
  at.store.load = (hashes) => {
    const loading = load(hashes)
    if (++loads === 20) at.store.records.delete(key.record.hash)
    if (loads <= 20) at.feed.tell({ n: loads, kind: 'key', id: key.record.hash })
    return loading
  }
  t.equal(await ask(at, key.bearer), 'key_unknown')
  t.equal(loads, 21)
})

t.test('a key that changes during every load until the time limit is reported as busy', async (t) => {
  const key = testKey()
  const at = rig(key)
  overtake(at, [{ n: 1, kind: 'workspace', id: 'w' }])
  t.equal(await ask(at, key.bearer), 'busy')
  t.equal(at.clock.ms, RELOADS_MS_MAX)
})

t.test('a caller that joins a load late has its own time limit', async (t) => {
  const key = testKey()
  const at = rig(key)
  const { load } = at.store
  let late: Promise<string> | null = null
  at.store.load = (hashes) => {
    const loading = load(hashes)
    at.clock.ms += 1_000
    if (at.clock.ms === RELOADS_MS_MAX - 1_000) late = ask(at, key.bearer)
    if (at.clock.ms <= RELOADS_MS_MAX + 10_000) at.feed.tell({ n: 1, kind: 'workspace', id: 'w' })
    return loading
  }
  await ask(at, key.bearer)
  t.equal(await late, 'accepted')
})

t.test(
  'a change that the load already includes, or that the poll repeats, does not repeat the load',
  async (t) => {
    const key = testKey()
    const at = rig(key)
    at.feed.epoch = 7
    overtake(at, [{ n: 7, kind: 'key', id: key.record.hash }])
    t.equal(await ask(at, key.bearer), 'accepted')
    t.equal(at.store.asked.length, 1)
  },
)

t.test(
  'a load succeeds even if the change feed keeps losing track, and its result is not cached',
  async (t) => {
    const key = testKey()
    const at = rig(key)
    overtake(at, [{ kind: 'everything' }], BLIND_LOADS_MAX + 1)
    t.equal(await ask(at, key.bearer), 'accepted')
    t.equal(at.store.asked.length, BLIND_LOADS_MAX + 1)
    t.equal(nameOf(at.access.authenticate(key.bearer)), 'a promise')
  },
)

t.test('a caller that arrives during the last read of such a load is not served by it', async (t) => {
  const key = testKey()
  const at = rig(key)
  overtake(at, [{ kind: 'everything' }], BLIND_LOADS_MAX)
  const [held, { load }] = [gate(), at.store]
  const isLast = gate()
  at.store.load = async (hashes) => {
    const loading = load(hashes)
    if (at.store.asked.length !== BLIND_LOADS_MAX + 1) return loading
    isLast.open()
    await held.opened
    return loading
  }
  const early = ask(at, key.bearer)
  await isLast.opened
  at.store.records.delete(key.record.hash)
  at.feed.tell({ kind: 'everything' })
  t.equal(await ask(at, key.bearer), 'key_unknown')
  held.open()
  t.equal(await early, 'accepted', 'it came before the read, to which the key was there')
  t.equal(nameOf(at.access.authenticate(key.bearer)), 'key_unknown', 'and nothing of that is kept')
})

t.test('keys that are not cached and requested in the same turn are loaded by one query', async (t) => {
  const keys = Array.from({ length: 100 }, () => testKey())
  const at = rig(...keys.slice(1))
  const answers = await Promise.all(keys.map((key) => ask(at, key.bearer)))
  t.same(at.store.queries, [keys.length])
  t.same(answers, ['key_unknown', ...keys.slice(1).map(() => 'accepted')])
})

t.test(
  'a key that arrives while made-up keys occupy every query waits for its turn and is accepted',
  async (t) => {
    const key = testKey()
    const at = rig(key)
    const held = []
    const asking = []
    for (let i = 0; i < KEY_QUERIES_MAX; i++) {
      const query = at.store.hold()
      held.push(query)
      asking.push(ask(at, testKey().bearer))
      await query.read
    }
    const others = Array.from({ length: 500 }, () => ask(at, testKey().bearer))
    const valid = ask(at, key.bearer)
    await new Promise((resolve) => setImmediate(resolve))
    t.equal(at.store.queries.length, KEY_QUERIES_MAX)
    held.forEach((query) => query.open())
    t.equal(await valid, 'accepted')
    t.same(new Set(await Promise.all([...asking, ...others])), new Set(['key_unknown']))
  },
)

t.test('a caller gets 503 busy when KEY_LOADS_MAX keys are already being loaded or waiting', async (t) => {
  const keys = Array.from({ length: KEY_LOADS_MAX + 1 }, () => testKey())
  const at = rig(...keys)
  const asking = keys.map((key) => ask(at, key.bearer))
  const answers = await Promise.all(asking)
  t.equal(answers.filter((answer) => answer === 'accepted').length, KEY_LOADS_MAX)
  t.equal(answers.at(-1), 'busy')
})

t.test('a failing store fails all waiting callers, and the next load queries the store again', async (t) => {
  const key = testKey()
  const at = rig(key)
  const { load } = at.store
  at.store.load = () => Promise.reject(new Error('a bug'))
  t.equal(await ask(at, key.bearer), 'internal')
  at.store.load = load
  t.equal(await ask(at, key.bearer), 'accepted')
})
