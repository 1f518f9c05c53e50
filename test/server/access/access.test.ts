import t from 'tap'
import type { Outcome } from '../../../src/schemas/failures.ts'
import {
  BLIND_LOADS_MAX,
  KEY_LOADS_MAX,
  KEY_QUERIES_MAX,
  KEYS_HANDED_MAX,
  KEYS_HANDED_QUERY_MAX,
  RELOADS_MS_MAX,
  UNKNOWN_KEY_TTL_MS,
} from '../../../src/schemas/keys/key-limits.ts'
import { createAccess, type Access } from '../../../src/server/access/access.ts'
import type { Change, KeyRecord } from '../../../src/server/ports/keys/keys.ts'
import { gate } from '../../support/gate.ts'
import {
  testFeed,
  testKey,
  testKeyStore,
  type TestFeed,
  type TestKeyStore,
} from '../../support/keys/key-store.ts'

interface Rig {
  readonly access: Access
  readonly store: TestKeyStore
  readonly feed: TestFeed
  readonly clock: { ms: number }
}

const GRACE_MS = 300_000

function rig(...keys: readonly { readonly record: KeyRecord }[]): Rig {
  const clock = { ms: 0 }
  const store = testKeyStore()
  const feed = testFeed()
  for (const { record } of keys) store.records.set(record.hash, record)
  return {
    access: createAccess({ keys: store, feed, graceMs: GRACE_MS, now: () => clock.ms }),
    store,
    feed,
    clock,
  }
}

function nameOf(outcome: Outcome<KeyRecord> | Promise<Outcome<KeyRecord>>): string {
  if (outcome instanceof Promise) return 'a promise'
  return outcome.ok ? 'accepted' : outcome.failure.name
}

async function ask({ access }: Rig, bearer: string): Promise<string> {
  return nameOf(await access.authenticate(bearer))
}

t.test('a known key is accepted, the second time at once and without the store', async (t) => {
  const key = testKey()
  const at = rig(key)
  t.equal(await ask(at, key.bearer), 'accepted')
  t.equal(nameOf(at.access.authenticate(key.bearer)), 'accepted')
  t.equal(at.store.asked.length, 1)
})

for (const [header, why] of [
  ['', 'no header'],
  ['Bearer', 'no token'],
  ['Bearer    ', 'only spaces'],
  ['Basic dXNlcjpwYXNz', 'another scheme'],
] as const) {
  t.test(`${why} is missing credentials, without the store`, async (t) => {
    const at = rig()
    t.equal(nameOf(at.access.authenticate(header)), 'credentials_missing')
    t.equal(at.store.asked.length, 0)
  })
}

t.test('the scheme is read in any case', async (t) => {
  const key = testKey()
  t.equal(await ask(rig(key), key.bearer.replace('Bearer', 'bEARER')), 'accepted')
})

t.test('a token that cannot be a key of ours is unknown without the store', async (t) => {
  const at = rig()
  for (const token of [
    'sk-or-v1-abc',
    'sk-sluice-v1-short',
    `sk-sluice-v1-${'a'.repeat(44)}`,
    'x'.repeat(100_000),
    'é'.repeat(43),
  ]) {
    t.equal(nameOf(at.access.authenticate(`Bearer ${token}`)), 'key_unknown')
  }
  t.equal(at.store.asked.length, 0)
})

t.test('callers that ask at once for one key share one load', async (t) => {
  const key = testKey()
  const at = rig(key)
  const held = at.store.hold()
  const asking = Promise.all([1, 2, 3].map(() => ask(at, key.bearer)))
  held.open()
  t.same(await asking, ['accepted', 'accepted', 'accepted'])
  t.equal(at.store.asked.length, 1)
})

t.test('a load that an invalidation overtook is thrown away and made again', async (t) => {
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

t.test('a caller that joins an overtaken load gets what was read after the invalidation', async (t) => {
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

t.test('an invalidation of another key leaves a load alone', async (t) => {
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

for (const change of [
  { n: 1, kind: 'workspace', id: 'w' },
  { n: 1, kind: 'workspace', id: 'd' },
  { n: 1, kind: 'organization', id: 'o' },
  { kind: 'everything' },
] as const) {
  t.test(
    `a change of ${change.kind} ${'id' in change ? change.id : ''} drops the keys it touches`,
    async (t) => {
      const key = testKey()
      const at = rig(key)
      await ask(at, key.bearer)
      at.store.records.set(key.record.hash, { ...key.record, isDisabled: true })
      at.feed.tell(change)
      t.equal(await ask(at, key.bearer), 'key_disabled')
    },
  )
}

/** Tells each of them while each load is out, so many times. */
function overtake(at: Rig, changes: readonly Change[], times = Infinity): void {
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

t.test('a workspace that others write in a loop keeps no key out, and none is loaded twice', async (t) => {
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

t.test('a key is loaded as often as changes of it come, and the last one counts', async (t) => {
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

t.test('a key that changes at every load until its time is over is busy instead of old', async (t) => {
  const key = testKey()
  const at = rig(key)
  overtake(at, [{ n: 1, kind: 'workspace', id: 'w' }])
  t.equal(await ask(at, key.bearer), 'busy')
  t.equal(at.clock.ms, RELOADS_MS_MAX)
})

t.test('whoever joins a load late has time of its own', async (t) => {
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
  'a change that came with the epoch of the load, or a second time by the poll, overtakes nothing',
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
  'a feed that loses track again and again starves no load, and nothing of that load is kept',
  async (t) => {
    const key = testKey()
    const at = rig(key)
    overtake(at, [{ kind: 'everything' }], BLIND_LOADS_MAX + 1)
    t.equal(await ask(at, key.bearer), 'accepted')
    t.equal(at.store.asked.length, BLIND_LOADS_MAX + 1)
    t.equal(nameOf(at.access.authenticate(key.bearer)), 'a promise')
  },
)

t.test('whoever comes while such a load is read for the last time is not served by it', async (t) => {
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

t.test('a key that moved to another workspace is dropped by a change of the new one alone', async (t) => {
  const key = testKey()
  const at = rig(key)
  await ask(at, key.bearer)
  at.store.records.set(key.record.hash, { ...key.record, workspaceId: 'new' })
  at.feed.tell({ n: 1, kind: 'key', id: key.record.hash })
  await ask(at, key.bearer)
  at.feed.tell({ n: 2, kind: 'workspace', id: 'w' })
  t.equal(nameOf(at.access.authenticate(key.bearer)), 'accepted')
  at.feed.tell({ n: 3, kind: 'workspace', id: 'new' })
  t.equal(nameOf(at.access.authenticate(key.bearer)), 'a promise')
})

t.test('an unknown key is remembered, and works at once when it is made', async (t) => {
  const key = testKey()
  const at = rig()
  t.equal(await ask(at, key.bearer), 'key_unknown')
  t.equal(nameOf(at.access.authenticate(key.bearer)), 'key_unknown')
  at.store.records.set(key.record.hash, key.record)
  at.feed.tell({ n: 1, kind: 'key', id: key.record.hash })
  t.equal(await ask(at, key.bearer), 'accepted')
})

t.test('an unknown key is asked for again after its time', async (t) => {
  const key = testKey()
  const at = rig()
  await ask(at, key.bearer)
  at.clock.ms = UNKNOWN_KEY_TTL_MS
  await ask(at, key.bearer)
  t.equal(at.store.asked.length, 2)
})

t.test('keys that are missed in one turn are loaded by one query', async (t) => {
  const keys = Array.from({ length: 100 }, () => testKey())
  const at = rig(...keys.slice(1))
  const answers = await Promise.all(keys.map((key) => ask(at, key.bearer)))
  t.same(at.store.queries, [keys.length])
  t.same(answers, ['key_unknown', ...keys.slice(1).map(() => 'accepted')])
})

t.test(
  'a key that comes while made-up ones keep every query out waits its turn and is accepted',
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

t.test('beyond the keys that may be loaded or wait a caller is told to come back', async (t) => {
  const keys = Array.from({ length: KEY_LOADS_MAX + 1 }, () => testKey())
  const at = rig(...keys)
  const asking = keys.map((key) => ask(at, key.bearer))
  const answers = await Promise.all(asking)
  t.equal(answers.filter((answer) => answer === 'accepted').length, KEY_LOADS_MAX)
  t.equal(answers.at(-1), 'busy')
})

t.test('a store that throws answers everybody who waited, and the next load asks again', async (t) => {
  const key = testKey()
  const at = rig(key)
  const { load } = at.store
  at.store.load = () => Promise.reject(new Error('a bug'))
  t.equal(await ask(at, key.bearer), 'internal')
  at.store.load = load
  t.equal(await ask(at, key.bearer), 'accepted')
})

t.test('a known key is served without the store for the grace, an unknown one never', async (t) => {
  const key = testKey()
  const at = rig(key)
  await ask(at, key.bearer)
  at.store.isAway = true
  at.clock.ms = GRACE_MS
  t.equal(nameOf(at.access.authenticate(key.bearer)), 'accepted')
  t.equal(await ask(at, testKey().bearer), 'store_unavailable')
})

t.test('after the grace a known key needs the store', async (t) => {
  const key = testKey()
  const at = rig(key)
  await ask(at, key.bearer)
  at.store.isAway = true
  at.clock.ms = GRACE_MS + 1
  t.equal(await ask(at, key.bearer), 'store_unavailable')
  at.feed.lastGoodPollAtMs = at.clock.ms
  t.equal(nameOf(at.access.authenticate(key.bearer)), 'accepted')
})

t.test('an invalidation is obeyed although the store is away', async (t) => {
  const key = testKey()
  const at = rig(key)
  await ask(at, key.bearer)
  at.store.isAway = true
  at.feed.tell({ n: 1, kind: 'key', id: key.record.hash })
  t.equal(await ask(at, key.bearer), 'store_unavailable')
})

t.test('a key expires while it is cached, at its instant', async (t) => {
  const key = testKey({ expiresAtMs: 1_000 })
  const at = rig(key)
  at.clock.ms = 999
  t.equal(await ask(at, key.bearer), 'accepted')
  at.clock.ms = 1_000
  t.equal(nameOf(at.access.authenticate(key.bearer)), 'key_expired')
})

t.test('a disabled key is told apart from an unknown one, loaded and cached alike', async (t) => {
  const key = testKey({ isDisabled: true })
  const at = rig(key)
  t.equal(await ask(at, key.bearer), 'key_disabled')
  t.equal(nameOf(at.access.authenticate(key.bearer)), 'key_disabled')
})

t.test(
  'a front hands on the keys that it knows, the one used last first, and another begins with them by few queries',
  async (t) => {
    const keys = Array.from({ length: KEYS_HANDED_QUERY_MAX + 1 }, () => testKey())
    const [old, next] = [rig(...keys), rig(...keys)]
    await ask(old, testKey().bearer)
    for (const { bearer } of keys) await ask(old, bearer)
    await ask(old, keys[0]?.bearer ?? '')
    const handed = old.access.knownKeys()
    t.equal(handed.length, keys.length, 'and none that is unknown')
    t.same(handed.slice(0, 2), [keys[0]?.record.hash, keys.at(-1)?.record.hash])
    // One that was revoked meanwhile, and one that changes while it is loaded.
    next.store.records.delete(handed[2] ?? '')
    const held = next.store.hold()
    const beginning = next.access.beginWith(handed, () => true)
    await held.read
    next.store.records.set(handed[3] ?? '', { ...testKey().record, hash: handed[3] ?? '', isDisabled: true })
    next.feed.tell({ n: 1, kind: 'key', id: handed[3] ?? '' })
    held.open()
    t.equal(await beginning, keys.length - 1)
    t.same(next.store.queries, [KEYS_HANDED_QUERY_MAX, 1, 1], 'the one that changed is asked for again')
    const bearerOf = (hash = ''): string => keys.find(({ record }) => record.hash === hash)?.bearer ?? ''
    t.equal(nameOf(next.access.authenticate(bearerOf(handed[0]))), 'accepted')
    t.equal(nameOf(next.access.authenticate(bearerOf(handed[2]))), 'key_unknown')
    t.equal(nameOf(next.access.authenticate(bearerOf(handed[3]))), 'key_disabled')
  },
)

t.test(
  'no more keys are handed on or begun with than there is a number for, nor after the time',
  async (t) => {
    const at = rig()
    const hashes = Array.from({ length: KEYS_HANDED_MAX + 1 }, (_, nth) => `hash-${nth}`)
    for (const hash of hashes) at.store.records.set(hash, { ...testKey().record, hash })
    let queries = 0
    t.equal(await at.access.beginWith(hashes, () => queries++ < 2), 2 * KEYS_HANDED_QUERY_MAX)
    t.equal(await at.access.beginWith(hashes, () => true), KEYS_HANDED_MAX)
    t.equal(at.access.knownKeys().length, KEYS_HANDED_MAX)
  },
)
