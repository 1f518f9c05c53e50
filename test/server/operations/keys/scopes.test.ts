/** Rights of a key besides its kind, and keys of interns that are made over the API. C34. */
import { readFileSync } from 'node:fs'
import t from 'tap'
import { CreateKeyBody, UpdateKeyBody } from '../../../../src/schemas/keys/keys.ts'
import { KEY_SCOPES, type KeyScope } from '../../../../src/schemas/keys/permissions.ts'
import { callableModel } from '../../../../src/server/operations/model-calls.ts'
import { OPERATIONS } from '../../../../src/server/operations/index.ts'
import type { KeyRecord } from '../../../../src/server/ports/keys/keys.ts'
import type { ModelCatalogue, ResolvedModel } from '../../../../src/server/ports/models/models.ts'
import { newId } from '../../../../src/server/store/base/ids.ts'
import { auditOf } from '../../../support/audit/audit.ts'
import { openKeysFront } from '../../../support/keys/keys-front.ts'
import { ROOT } from '../../../support/source.ts'
import { runVerb } from '../../../support/operator/verbs.ts'

const shared = await openKeysFront(t)

t.test('a key may do what its scopes allow, and a refusal names the missing scope', async (t) => {
  const { call, make } = shared
  const { data, key } = await make({ scopes: ['files:read'] })
  t.same(data.scopes, ['files:read'])
  t.match(await call('GET', '/key', { key }), { status: 200, body: { data: { scopes: ['files:read'] } } })
  const refused = await call('POST', '/embeddings', { key, body: { model: 'a/b', input: 'x' } })
  t.match(refused, {
    status: 403,
    type: 'scope_missing',
    body: { error: { message: /lacks the scope `inference`/ } },
  })
  t.match(
    await call('POST', '/videos', { key, body: { model: 'a/b', prompt: 'x' } }),
    { status: 400, type: 'scope_missing' },
    'which lists no 403',
  )
  const message = /`vault:write`/
  t.match(await call('PUT', '/vault/secrets/a', { key, body: { value: 'x' } }), {
    status: 403,
    type: 'scope_missing',
    body: { error: { message } },
  })
  t.match(await call('GET', '/vault/secrets', { key }), {
    status: 403,
    body: { error: { message: /`vault:use` or `vault:write`/ } },
  })
})

t.test('a scope that no operation needs is described as reserved, and no other is', async (t) => {
  const needed = new Set(
    OPERATIONS.flatMap(({ access: { keys, keyScopes = [] } }) =>
      keys.some((kind) => kind !== 'management') ? keyScopes : [],
    ),
  )
  t.same(
    KEY_SCOPES.filter((scope) => !needed.has(scope)),
    ['presets:write'],
  )
  const reserved =
    /presets:write`?,? (?:which )?is reserved: no operation uses it yet, because only management keys can write presets/
  const { stdout: out } = await runVerb({}, ['keys', 'create', '--help'])
  const bodies = [CreateKeyBody, UpdateKeyBody].map(({ properties: { scopes } }) => JSON.stringify(scopes))
  const page = readFileSync(`${ROOT}docs/use/keys.md`, 'utf8')
  for (const text of [out, page, ...bodies]) t.match(text.replace(/\s+/g, ' '), reserved)
})

t.test(
  'scopes are checked before the body is read, and a key of the wrong kind is refused for its kind',
  async (t) => {
    const { call, make } = shared
    const { key } = await make({ scopes: [] })
    t.match(await call('POST', '/embeddings', { key, body: 'no object' }), {
      status: 403,
      type: 'scope_missing',
    })
    t.match(await call('GET', '/keys', { key }), { status: 401, type: 'wrong_key_kind' })
  },
)

t.test('a change of scopes is enforced, audited and kept by a rotation; null means all scopes', async (t) => {
  const { call, make, look, rotate, store } = shared
  const { data, key } = await make()
  const mayList = async () => (await call('GET', '/vault/secrets', { key })).type !== 'scope_missing'
  t.equal(await mayList(), true)
  t.match(await call('PATCH', `/keys/${data.hash}`, { body: { scopes: ['videos'] } }), {
    status: 200,
    body: { data: { scopes: ['videos'] } },
  })
  t.equal(await mayList(), false)
  t.match((await auditOf(store)).at(-1), {
    operation: 'keys.update',
    before: { scopes: null },
    after: { scopes: ['videos'] },
  })
  const rotated = await rotate(data.hash)
  t.same((await look(rotated.data.hash)).scopes, ['videos'])
  t.match(await call('PATCH', `/keys/${data.hash}`, { body: { scopes: null } }), {
    status: 200,
    body: { data: { scopes: null } },
  })
  t.equal(await mayList(), true)
})

t.test('keys.create 400: unknown or repeated scopes, and scopes for a management key', async (t) => {
  const { call, make } = shared
  for (const scopes of [['root'], ['videos', 'videos'], 'videos', [null]]) {
    t.match(
      await call('POST', '/keys', { body: { name: 'k', scopes } }),
      { status: 400, type: 'body_invalid' },
      JSON.stringify(scopes),
    )
  }
  t.match(await call('POST', '/keys', { body: { name: 'k', kind: 'management', scopes: [] } }), {
    status: 400,
    type: 'key_unscoped',
  })
  const { data } = await make({ kind: 'management' })
  t.match(await call('PATCH', `/keys/${data.hash}`, { body: { scopes: ['videos'] } }), {
    status: 400,
    type: 'key_unscoped',
  })
})

t.test('keys.create 201: with `intern_id` the key belongs to the intern and its workspace', async (t) => {
  const { make, intern, store } = shared
  const id = await intern()
  const { data, key } = await make({ intern_id: id, scopes: ['vault:use'] })
  t.match(key, /^sk-sluice-intern-v1-/)
  t.match(data, { kind: 'intern', intern_id: id, scopes: ['vault:use'] })
  const rows = await store.sql`SELECT kind, intern_id, workspace_id FROM api_keys WHERE hash = ${data.hash}`
  t.match(rows, [{ kind: 'intern', intern_id: id, workspace_id: data.workspace_id }])
})

t.test('keys.create 404: an unknown or foreign intern, and no key is created', async (t) => {
  const { call, foreignKey, intern, store } = shared
  const id = await intern()
  const before = [...(await store.sql`SELECT count(*) FROM api_keys`)]
  for (const intern_id of [newId(), 'none', 'no\u0000ne', '../x']) {
    t.match(
      await call('POST', '/keys', { body: { name: 'k', intern_id } }),
      { status: 404, type: 'intern_unknown' },
      intern_id,
    )
  }
  t.match(await call('POST', '/keys', { body: { name: 'k', intern_id: id }, key: foreignKey }), {
    status: 404,
    type: 'intern_unknown',
  })
  t.same([...(await store.sql`SELECT count(*) FROM api_keys`)], before)
})

t.test('an `intern_id` that cannot be applied is refused, never ignored', async (t) => {
  const { call, intern } = shared
  const intern_id = await intern()
  const wrong: readonly [object, string][] = [
    [{ intern_id, kind: 'inference' }, '/intern_id'],
    [{ intern_id, kind: 'management' }, '/intern_id'],
    [{ kind: 'intern' }, '/intern_id'],
    [{ intern_id, workspace_id: 'default' }, '/workspace_id'],
    [{ intern_id: 7 }, '/intern_id'],
    [{ intern_id: '' }, '/intern_id'],
  ]
  for (const [body, path] of wrong) {
    const refused = await call('POST', '/keys', { body: { name: 'k', ...body } })
    t.match(
      refused,
      { status: 400, type: 'body_invalid', body: { error: { metadata: { issues: [{ path }] } } } },
      JSON.stringify(body),
    )
  }
})

t.test(
  'without vault:use the private endpoints of a model are skipped, and a model with no others is refused',
  async (t) => {
    const [own, keyed, shared] = [{ ownWay: { destination: {} } }, { ownWay: { destination: null } }, {}]
    const model = (...endpoints: readonly object[]) =>
      ({ id: 'a/b', isEmbedding: true, endpoints }) as unknown as ResolvedModel
    const left = (scopes: readonly KeyScope[] | null, ...endpoints: readonly object[]): unknown => {
      const key = { scopes, allowedModels: null } as unknown as KeyRecord
      const known = { resolve: () => model(...endpoints) }
      const models = known as unknown as ModelCatalogue
      const callable = callableModel({ name: 'a/b', makes: 'embeddings', key }, known, { models })
      return callable.ok ? callable.value.endpoints : callable.failure.name
    }
    t.same(left(null, own, shared), [own, shared])
    t.same(left(['inference', 'vault:use'], own, shared), [own, shared])
    t.same(left(['inference'], own, keyed, shared), [keyed, shared])
    t.equal(left(['inference'], own), 'scope_missing')
  },
)

t.test(
  'every operation that inference or intern keys may call declares which scope it needs, or none',
  async (t) => {
    const open = OPERATIONS.filter(
      ({ access }) => access.keys.includes('inference') || access.keys.includes('intern'),
    )
    t.same(
      open.filter(({ access }) => access.keyScopes === undefined).map(({ id }) => id),
      [],
    )
    const used = new Set(OPERATIONS.flatMap(({ access }) => access.keyScopes ?? []))
    t.same([...used].sort(), [...KEY_SCOPES].sort(), 'and no scope is without an operation')
  },
)
