import t from 'tap'
import { KEY_OVERLAP_S_DEFAULT, KEY_OVERLAP_S_MAX } from '../../../../src/schemas/keys/key-limits.ts'
import { createInternKey } from '../../../support/keys/make-keys.ts'
import { CLI } from '../../../support/audit/audit.ts'
import { plantUsage, turnTo } from '../../../support/keys/key-usage.ts'
import { openKeysFront, type KeysFront } from '../../../support/keys/keys-front.ts'
import { must } from '../../../support/must.ts'

const shared = await openKeysFront(t)
// No day ends between the spending of a key and the look at it.
await turnTo(shared.store, '2024-02-28')

const WISH = {
  name: 'Team',
  limit: 5,
  limit_reset: 'weekly',
  include_byok_in_limit: true,
  rate_limit_rpm: 600,
  rate_limit_burst: 30,
  max_parallel: 4,
  rate_limit_tpm: 9_000,
  default_max_output_tokens: 500,
  allowed_models: ['a/*'],
  creator_user_id: 'ann',
  external: { user: 'u' },
  workspace_id: 'other',
}

t.test(
  'keys.rotate 200: the new key has all settings of the old one, and both work until the overlap ends',
  async (t) => {
    const { make, rotate, works, look } = shared
    const { data: old, key: oldKey } = await make(WISH)
    const before = Date.now()
    const { data, key, previous } = await rotate(old.hash)
    const { hash, label, created_at, ...same } = old
    t.match(data, same)
    t.not(data.hash, hash)
    t.not(data.label, label)
    t.same([await works(oldKey), await works(key)], [200, 200])
    t.equal(previous.hash, hash)
    t.ok(Math.abs(Date.parse(previous.expires_at) - before - KEY_OVERLAP_S_DEFAULT * 1_000) < 60_000)
    t.equal((await look(hash)).expires_at, previous.expires_at)
    t.equal(data.expires_at, undefined)
  },
)

t.test('without an overlap the old key is refused at once', async (t) => {
  const { make, rotate, works } = shared
  const { data, key: oldKey } = await make()
  t.equal(await works(oldKey), 200)
  const { key } = await rotate(data.hash, { overlap_seconds: 0 })
  t.same([await works(oldKey), await works(key)], [401, 200])
})

t.test('old and new key share usage and limit, and a change of the limit applies to both', async (t) => {
  const { make, rotate, look, store, call } = shared
  const { data: old } = await make(WISH)
  await plantUsage(store, old.hash, { spent: 2_000_000_000 })
  const { data } = await rotate(old.hash)
  t.match(data, { usage: 2, limit_remaining: 3 })
  await call('PATCH', `/keys/${data.hash}`, { body: { limit: 8, limit_reset: 'daily', name: 'New' } })
  t.match(await look(old.hash), { limit: 8, limit_reset: 'daily', limit_remaining: 6, name: 'Team' })
  t.match(await store.sql`SELECT span FROM account_limits WHERE account_id = ${`k${old.hash}`}`, [
    { span: 'daily' },
  ])
  t.match(
    await reported(store),
    [{ id: old.hash }, { id: data.hash }].sort((one, other) => (one.id < other.id ? -1 : 1)),
  )
})

/** Keys of the newest two invalidations, which caches obey. */
async function reported(store: KeysFront['store']): Promise<readonly unknown[]> {
  return store.sql`SELECT id FROM (SELECT * FROM invalidations ORDER BY n DESC LIMIT 2) newest ORDER BY id`
}

t.test('a rotated key can be rotated again, and one key can be rotated twice', async (t) => {
  const { make, rotate, works } = shared
  const first = await make({ expires_at: '2099-01-01T00:00:00.000Z' })
  const second = await rotate(first.data.hash)
  const third = await rotate(second.data.hash)
  const beside = await rotate(first.data.hash)
  for (const { key } of [first, second, third, beside]) t.equal(await works(key), 200)
  t.same(
    [second, third, beside].map(({ data }) => data.expires_at),
    Array(3).fill('2099-01-01T00:00:00.000Z'),
    "an overlap is nobody else's end",
  )
})

t.test('a new key has the requested expiry, and the expiry of the old key is never extended', async (t) => {
  const { make, rotate } = shared
  const soon = new Date(Date.now() + 3_600_000).toISOString()
  const { data } = await make({ expires_at: soon })
  const rotated = await rotate(data.hash, { expires_at: null })
  t.same([rotated.previous.expires_at, rotated.data.expires_at], [soon, undefined])
  t.equal((await rotate(rotated.data.hash, { expires_at: soon })).data.expires_at, soon)
})

t.test('the rotation of a disabled key creates a disabled key', async (t) => {
  const { make, rotate, call, works } = shared
  const { data } = await make()
  await call('PATCH', `/keys/${data.hash}`, { body: { disabled: true } })
  t.equal(await works((await rotate(data.hash)).key), 401)
})

t.test('an expired key cannot be rotated', async (t) => {
  const { make, rotate, call } = shared
  const { data } = await make()
  await rotate(data.hash, { overlap_seconds: 0 })
  t.match(await call('POST', `/keys/${data.hash}/rotate`, { body: {} }), {
    status: 404,
    type: 'api_key_unknown',
  })
  t.match(await call('GET', `/keys/${data.hash}`), { status: 200 })
})

t.test('an intern key is rotated for the same intern, and the new key ends with the intern', async (t) => {
  const { intern, store, rotate, works, call } = shared
  const internId = await intern()
  const made = must(
    await createInternKey(
      store,
      { internId, organizationId: null, name: 'k', rateLimitRpm: null, expiresAt: null },
      CLI,
    ),
  )
  const { data, key } = await rotate(made.apiKey.hash)
  t.match(data, { kind: 'intern' })
  t.same([await works(made.key), await works(key)], [200, 200])
  await call('DELETE', `/interns/${internId}`)
  t.same([await works(made.key), await works(key)], [401, 401])
})

t.test('after a removal of the intern that races with a rotation, no key works', async (t) => {
  const { intern, store, call } = shared
  const interns: string[] = []
  for (let n = 0; n < 5; n++) {
    const internId = await intern()
    interns.push(internId)
    const made = must(
      await createInternKey(
        store,
        { internId, organizationId: null, name: 'k', rateLimitRpm: null, expiresAt: null },
        CLI,
      ),
    )
    await Promise.all([
      call('POST', `/keys/${made.apiKey.hash}/rotate`, { body: {} }),
      call('DELETE', `/interns/${internId}`),
    ])
  }
  t.match(
    await store.sql`SELECT count(*)::int AS count FROM api_keys WHERE intern_id IN ${store.sql(interns)} AND revoked_at IS NULL`,
    [{ count: 0 }],
  )
})

t.test('concurrent rotations and changes all succeed, and all keys end with the same limit', async (t) => {
  const { make, call, store } = shared
  const {
    data: { hash },
  } = await make({ limit: 1 })
  const answers = await Promise.all(
    Array.from({ length: 12 }, (_, n) =>
      n % 2 === 0
        ? call('POST', `/keys/${hash}/rotate`, { body: {} })
        : call('PATCH', `/keys/${hash}`, { body: { limit: n, limit_reset: n % 3 === 0 ? 'daily' : null } }),
    ),
  )
  t.same(
    answers.map(({ status }) => status),
    Array(12).fill(200),
  )
  const keys =
    await store.sql`SELECT COALESCE(limit_reset, 'lifetime') AS span FROM api_keys WHERE account_id = ${`k${hash}`}`
  t.same([keys.length, new Set(keys.map(({ span }) => String(span))).size], [7, 1])
  t.match(
    await store.sql`SELECT count(*)::int AS count FROM account_limits WHERE account_id = ${`k${hash}`}`,
    [{ count: 1 }],
  )
})

t.test('keys.rotate 400: an overlap out of range, and an expiry in the past', async (t) => {
  const { make, call, works } = shared
  const {
    data: { hash },
    key,
  } = await make()
  for (const body of [
    { overlap_seconds: -1 },
    { overlap_seconds: KEY_OVERLAP_S_MAX + 1 },
    { overlap_seconds: 0.5 },
    { expires_at: '2020-01-01T00:00:00Z' },
    { expires_at: 'soon' },
  ]) {
    t.match(
      await call('POST', `/keys/${hash}/rotate`, { body }),
      { status: 400, type: 'body_invalid' },
      JSON.stringify(body),
    )
  }
  t.equal(await works(key), 200)
})
