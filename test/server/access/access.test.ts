import t from 'tap'
import { ask, GRACE_MS, nameOf, rig } from '../../support/keys/access-rig.ts'
import { testKey } from '../../support/keys/key-store.ts'
import { UNKNOWN_KEY_TTL_MS } from '../../../src/server/access/known-keys.ts'
import { KEYS_HANDED_MAX, KEYS_HANDED_QUERY_MAX } from '../../../src/server/access/access.ts'

t.test('a known key is accepted, the second time at once and without a query', async (t) => {
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
  t.test(`${why} is missing credentials, without a query`, async (t) => {
    const at = rig()
    t.equal(nameOf(at.access.authenticate(header)), 'credentials_missing')
    t.equal(at.store.asked.length, 0)
  })
}

t.test('the scheme is matched in any case', async (t) => {
  const key = testKey()
  t.equal(await ask(rig(key), key.bearer.replace('Bearer', 'bEARER')), 'accepted')
})

t.test('a token that cannot be a Sluice key is unknown, without a query', async (t) => {
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

for (const change of [
  { n: 1, kind: 'workspace', id: 'w' },
  { n: 1, kind: 'workspace', id: 'd' },
  { n: 1, kind: 'organization', id: 'o' },
  { kind: 'everything' },
] as const) {
  t.test(
    `a change of ${change.kind} ${'id' in change ? change.id : ''} drops the keys that it affects`,
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

t.test('only a change of the new workspace drops a key that moved to it', async (t) => {
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

t.test('an unknown key is cached as unknown, and works at once when it is created', async (t) => {
  const key = testKey()
  const at = rig()
  t.equal(await ask(at, key.bearer), 'key_unknown')
  t.equal(nameOf(at.access.authenticate(key.bearer)), 'key_unknown')
  at.store.records.set(key.record.hash, key.record)
  at.feed.tell({ n: 1, kind: 'key', id: key.record.hash })
  t.equal(await ask(at, key.bearer), 'accepted')
})

t.test('an unknown key is looked up again when its cache time is over', async (t) => {
  const key = testKey()
  const at = rig()
  await ask(at, key.bearer)
  at.clock.ms = UNKNOWN_KEY_TTL_MS
  await ask(at, key.bearer)
  t.equal(at.store.asked.length, 2)
})

t.test('the grace period serves known keys without the store, but never unknown keys', async (t) => {
  const key = testKey()
  const at = rig(key)
  await ask(at, key.bearer)
  at.store.isAway = true
  at.clock.ms = GRACE_MS
  t.equal(nameOf(at.access.authenticate(key.bearer)), 'accepted')
  t.equal(await ask(at, testKey().bearer), 'store_unavailable')
})

t.test('after the grace period a known key requires the store', async (t) => {
  const key = testKey()
  const at = rig(key)
  await ask(at, key.bearer)
  at.store.isAway = true
  at.clock.ms = GRACE_MS + 1
  t.equal(await ask(at, key.bearer), 'store_unavailable')
  at.feed.lastGoodPollAtMs = at.clock.ms
  t.equal(nameOf(at.access.authenticate(key.bearer)), 'accepted')
})

t.test('an invalidation takes effect even while the store is unavailable', async (t) => {
  const key = testKey()
  const at = rig(key)
  await ask(at, key.bearer)
  at.store.isAway = true
  at.feed.tell({ n: 1, kind: 'key', id: key.record.hash })
  t.equal(await ask(at, key.bearer), 'store_unavailable')
})

t.test('a cached key expires at its exact time', async (t) => {
  const key = testKey({ expiresAtMs: 1_000 })
  const at = rig(key)
  at.clock.ms = 999
  t.equal(await ask(at, key.bearer), 'accepted')
  at.clock.ms = 1_000
  t.equal(nameOf(at.access.authenticate(key.bearer)), 'key_expired')
})

t.test('distinguishes a disabled key from an unknown one, whether just loaded or cached', async (t) => {
  const key = testKey({ isDisabled: true })
  const at = rig(key)
  t.equal(await ask(at, key.bearer), 'key_disabled')
  t.equal(nameOf(at.access.authenticate(key.bearer)), 'key_disabled')
})

t.test(
  'a front hands over its known keys, the last used first, and the next front loads them with few queries',
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

t.test('the number of keys handed over is limited, and so is the time to load them', async (t) => {
  const at = rig()
  const hashes = Array.from({ length: KEYS_HANDED_MAX + 1 }, (_, nth) => `hash-${nth}`)
  for (const hash of hashes) at.store.records.set(hash, { ...testKey().record, hash })
  let queries = 0
  t.equal(await at.access.beginWith(hashes, () => queries++ < 2), 2 * KEYS_HANDED_QUERY_MAX)
  t.equal(await at.access.beginWith(hashes, () => true), KEYS_HANDED_MAX)
  t.equal(at.access.knownKeys().length, KEYS_HANDED_MAX)
})
