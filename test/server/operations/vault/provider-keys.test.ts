import { randomBytes, randomUUID } from 'node:crypto'
import t, { type Test } from 'tap'
import { Secret } from '../../../../src/schemas/vault/secret.ts'
import { PROVIDER_KEY_ID_CHARS_MAX, providerKeyId } from '../../../../src/schemas/workspaces/byok.ts'
import type { Store } from '../../../../src/server/store/base/open.ts'
import { openSecretRows } from '../../../../src/server/store/vault/secrets.ts'
import { openRootKeys } from '../../../../src/server/vault/root-keys.ts'
import { VaultKeys } from '../../../../src/server/vault/vault-keys.ts'
import { openVaults } from '../../../../src/server/vault/vaults.ts'
import { auditOf } from '../../../support/audit/audit.ts'
import { threads } from '../../../support/front.ts'
import { catalogueOf } from '../../../support/models/catalogue.ts'
import { openInternsFront, type InternsFront } from '../../../support/workspaces/interns-front.ts'
import { anyOpenRouterClient } from '../../../support/wire/foreign-clients.ts'

const CATALOGUE = {
  providers: [
    { slug: 'local', protocol: 'local' },
    { slug: 'openai', protocol: 'openai', base_url: 'https://api.openai.com/v1' },
    { slug: 'anthropic', protocol: 'anthropic', base_url: 'https://api.anthropic.com/v1' },
    { slug: 'other-claude', protocol: 'anthropic', base_url: 'https://claude.example/v1' },
    { slug: 'my-own', protocol: 'cohere', base_url: 'https://own.example/v2' },
    { slug: 'my.own', protocol: 'openai', base_url: 'https://twin.example/v2' },
    { slug: 'bare', protocol: 'openai', base_url: 'http://127.0.0.1:9/v1' },
  ],
  models: [],
}
const KEY = 'sk-canary-0123456789'
const INSTANT = /^\d{4}-\d\d-\d\dT/

interface Stand extends InternsFront {
  id(provider: string, workspaceId?: string): string
  create(body: object, more?: object): ReturnType<InternsFront['call']>
  /** Stores a secret as holders of inference keys do. */
  put(name: string, hosts: readonly string[]): Promise<number>
}

async function open(t: Test): Promise<Stand> {
  const models = catalogueOf(t, CATALOGUE)
  const setting = new Secret(randomBytes(32).toString('hex'))
  const front = await openInternsFront(t, (store: Store) => {
    const rows = openSecretRows(store)
    const rootKeys = openRootKeys({ setting, file: null, dataDir: '/nowhere' })
    return { models, vaults: openVaults({ rows, keys: new VaultKeys({ rootKeys, rows }), jobs: threads() }) }
  })
  const inference = await front.key('inference')
  return {
    ...front,
    id: (provider, workspaceId = front.workspace.id) => providerKeyId({ workspaceId, provider }),
    create: (body, more = {}) => front.call('POST', '/byok', { body, ...more }),
    put: async (name, hosts) =>
      (await front.call('PUT', `/vault/secrets/${name}`, { key: inference, body: { hosts, value: KEY } }))
        .status,
  }
}

t.test(
  'byok.create 201: stores the key as a secret of the vault, bound to the host, and no response contains it',
  async (t) => {
    const { create, call, id, workspace, store, key } = await open(t)
    const made = await create({
      provider: 'openai',
      key: KEY,
      name: 'Prod',
      allowed_models: null,
      disabled: false,
    })
    t.equal(made.status, 201, JSON.stringify(made.body))
    const { created_at: at, label, ...others } = made.body['data'] as Record<string, unknown>
    t.same(others, {
      id: id('openai'),
      workspace_id: workspace.id,
      provider: 'openai',
      name: 'openai_api_key',
      disabled: false,
      is_required: true,
      is_byok_only: true,
      is_fallback: false,
      sort_order: 0,
      allowed_models: null,
      allowed_api_key_hashes: null,
      allowed_user_ids: null,
      declared_zdr: null,
    })
    t.match([at, label], [INSTANT, /^sha256:[0-9a-f]{12}$/])
    t.match((await call('GET', '/vault/secrets', { key: await key('inference') })).body, {
      data: [{ name: 'openai_api_key', hosts: ['api.openai.com'] }],
    })
    const events = await auditOf(store)
    t.match(events, [
      { operation: 'byok.create', object_kind: 'secret', object_id: 'openai_api_key', before: null },
    ])
    const answer = [made, await call('GET', '/byok'), await call('GET', `/byok/${id('openai')}`), events]
    t.notMatch(JSON.stringify(answer), /canary/)
  },
)

t.test('byok.create 400: a second key, or an unknown provider, rule or workspace', async (t) => {
  const { create, call, put, other, id } = await open(t)
  t.equal((await create({ provider: 'openai', key: KEY })).status, 201)
  const second = await create({ provider: 'openai', key: 'sk-another' })
  t.match(second, { status: 400, type: 'provider_key_exists' })
  t.match(JSON.stringify(second.body), id('openai'), 'its id is where to go')
  t.equal((await create({ provider: 'openai', key: KEY, workspace_id: other.slug })).status, 201)
  const wrong = async (body: object) => {
    const answer = await create({ provider: 'my-own', key: KEY, ...body })
    return [answer.status, answer.type]
  }
  for (const provider of ['opnai', 'local', 'other-claude', 'bare', '', 'a\0b', 'x'.repeat(101)])
    t.same(await wrong({ provider }), [400, 'body_invalid'], provider)
  t.match((await create({ provider: 'opnai', key: KEY })).body, { error: { message: /Nearest: `openai`/ } })
  for (const rule of [
    ...[{ disabled: true }, { is_fallback: true }, { is_required: false }, { is_byok_only: false }],
    ...[{ allowed_models: [] }, { allowed_api_key_hashes: ['a'] }, { allowed_user_ids: ['a'] }],
    ...[
      { declared_zdr: true },
      { declared_zdr: false },
      { key: '' },
      { key: 'two words' },
      { key: 'line\n' },
    ],
    ...[{ key: 'ключ' }, { key: null }],
  ])
    t.same(await wrong(rule), [400, 'body_invalid'], JSON.stringify(rule))
  t.same(await wrong({ workspace_id: randomUUID() }), [400, 'workspace_unknown'])
  t.equal((await call('GET', '/byok?provider=my-own')).body['total_count'], 0, 'none of them left anything')
  t.equal(await put('my_own_api_key', ['elsewhere.example']), 200)
  t.same(await wrong({}), [400, 'provider_key_exists'], 'a secret of the name is never overwritten')
})

t.test('only one of several concurrent creates makes the key', async (t) => {
  const { create } = await open(t)
  const answers = await Promise.all(
    Array.from({ length: 8 }, (_, nth) =>
      create({ provider: nth < 4 ? 'openai' : 'my-own', key: `sk-${nth}` }),
    ),
  )
  t.same(answers.map(({ status }) => status).sort(), [201, 201, 400, 400, 400, 400, 400, 400])
})

t.test('byok.create 503: refuses changes outside the programme or with vault writes disabled', async (t) => {
  const { create, call, id, workspace } = await open(t)
  await create({ provider: 'openai', key: KEY })
  const path = `/byok/${id('openai')}`
  const tries = async () => {
    const answers = [
      await create({ provider: 'my-own', key: KEY }),
      await call('PATCH', path, { body: { key: 'sk-new' } }),
      await call('DELETE', path),
    ]
    return answers.map(({ status, type }) => `${status} ${String(type)}`)
  }
  const label = async () => (await call('GET', path)).body['data']
  const before = await label()
  await call('PATCH', `/workspaces/${workspace.id}`, { body: { vault_writes: false } })
  t.same(await tries(), Array(3).fill('503 vault_writes_disabled'))
  await call('PATCH', `/workspaces/${workspace.id}`, { body: { vault_writes: true, programme: false } })
  t.same(await tries(), ['400 programme_closed', '404 programme_closed', '404 programme_closed'])
  t.same(await label(), before, 'it is read all the same, and is as it was')
})

t.test('byok.list 200: lists only secrets that are provider keys, by provider, in pages', async (t) => {
  const { create, call, put, other, foreignKey } = await open(t)
  await create({ provider: 'openai', key: KEY })
  await create({ provider: 'anthropic', key: KEY, is_required: false })
  await create({ provider: 'openai', key: KEY, workspace_id: other.id })
  t.equal(await put('my_own_api_key', ['own.example', 'twin.example']), 200)
  t.equal(await put('other_claude_api_key', ['claude.example']), 200)
  t.equal(await put('github_token', ['api.github.com']), 200)
  const list = async (query = '', more: object = {}) => {
    const { status, body } = await call('GET', `/byok${query}`, more)
    const keys = body['data'] as readonly { provider: string }[] | undefined
    return [status, keys?.map(({ provider }) => provider), body['total_count'], body['has_more']]
  }
  t.same(await list(), [200, ['anthropic', 'my-own', 'my.own', 'openai'], 4, false])
  t.same(await list('?limit=1&offset=1'), [200, ['my-own'], 4, true])
  t.same(await list('?offset=4'), [200, [], 4, false])
  t.same(await list('?provider=openai'), [200, ['openai'], 1, false])
  t.same(await list('?provider=azure'), [200, [], 0, false])
  t.same(await list(`?workspace_id=${other.slug}`), [200, ['openai'], 1, false])
  t.same(await list('', { key: foreignKey }), [200, [], 0, false])
  t.match((await call('GET', '/byok?provider=anthropic')).body, {
    data: [{ is_required: false, is_byok_only: false }],
  })
})

t.test('byok.list 400: an invalid page, and an unknown or foreign workspace', async (t) => {
  const { call, workspace, foreignKey } = await open(t)
  for (const query of ['limit=0', 'limit=101', 'offset=-1', 'provider=', 'workspace_id='])
    t.equal((await call('GET', `/byok?${query}`)).status, 400, query)
  for (const id of [workspace.id, randomUUID()])
    t.match(await call('GET', `/byok?workspace_id=${id}`, { key: foreignKey }), {
      status: 400,
      type: 'workspace_unknown',
    })
})

t.test(
  'admin.list_secrets 200: lists names and hosts of one workspace in pages, also outside the programme, without values',
  async (t) => {
    const { call, create, put, other, workspace } = await open(t)
    t.equal(await put('github_token', ['uploads.github.com', 'api.github.com']), 200)
    await create({ provider: 'openai', key: KEY, workspace_id: other.id })
    const list = (query = '') => call('GET', `/admin/secrets${query}`)
    const first = await list()
    t.match(first.body, {
      data: [{ name: 'github_token', hosts: ['api.github.com', 'uploads.github.com'] }],
      has_more: false,
    })
    t.notMatch(JSON.stringify(first.body), /canary/)
    t.match((await list(`?workspace_id=${other.slug}`)).body, { data: [{ name: 'openai_api_key' }] })
    t.equal(await put('z_token', ['api.github.com']), 200)
    t.match((await list('?limit=1')).body, { data: [{ name: 'github_token' }], has_more: true })
    await call('PATCH', `/workspaces/${workspace.id}`, { body: { programme: false } })
    t.match((await list('?offset=1')).body, { data: [{ name: 'z_token' }], has_more: false })
  },
)

t.test(
  'admin.list_secrets 400, 403, 404: invalid pages, keys that use the vault, foreign workspaces',
  async (t) => {
    const { call, key, workspace, foreignKey } = await open(t)
    for (const query of ['limit=0', 'limit=101', 'offset=-1', 'workspace_id='])
      t.match(await call('GET', `/admin/secrets?${query}`), { status: 400, type: 'query_invalid' }, query)
    t.match(await call('GET', '/admin/secrets', { key: await key('inference') }), {
      status: 403,
      type: 'wrong_key_kind',
    })
    for (const id of [workspace.id, randomUUID(), 'a\\0b'])
      t.match(
        await call('GET', `/admin/secrets?workspace_id=${encodeURIComponent(id)}`, { key: foreignKey }),
        {
          status: 404,
          type: 'workspace_unknown',
        },
      )
  },
)

t.test('byok.get 200, 404: finds a key only by its exact id and in its own organization', async (t) => {
  const { create, call, id, workspace, other, foreignKey, key } = await open(t)
  await create({ provider: 'openai', key: KEY })
  const get = (one: string, more: object = {}) => call('GET', `/byok/${encodeURIComponent(one)}`, more)
  t.match(await get(id('openai')), { status: 200, body: { data: { id: id('openai'), provider: 'openai' } } })
  const none = [
    ...[id('anthropic'), id('azure'), id('local'), id('openai', other.id), id('openai', workspace.slug)],
    ...[
      id('openai', workspace.id.toUpperCase()),
      `${id('openai')}=`,
      id('openai').slice(0, -1),
      randomUUID(),
    ],
    ...['byok_', 'x', id('openai').replace('byok_', ''), 'x'.repeat(PROVIDER_KEY_ID_CHARS_MAX), id('', '')],
    ...[id('openai', 'a\0b'), id('openai/x')],
  ]
  for (const one of none) t.match(await get(one), { status: 404, type: 'provider_key_unknown' }, one)
  t.match(await get(id('openai'), { key: foreignKey }), { status: 404, type: 'provider_key_unknown' })
  t.match(await get(id('openai'), { key: await key('inference') }), { status: 403, type: 'wrong_key_kind' })
})

t.test(
  'byok.update 200: replaces the key in place, and the new key is bound to the host of its provider only',
  async (t) => {
    const { call, put, id, key, store } = await open(t)
    t.equal(await put('my_own_api_key', ['own.example', 'evil.example']), 200)
    const path = `/byok/${id('my-own')}`
    const { body: before } = await call('GET', path)
    const { status, body } = await call('PATCH', path, { body: { key: 'sk-new', is_byok_only: true } })
    t.equal(status, 200)
    const [old, now] = [before['data'], body['data']] as { label: string; created_at: string }[]
    t.not(now?.label, old?.label)
    t.equal(now?.created_at, old?.created_at)
    const secrets = (await call('GET', '/vault/secrets', { key: await key('inference') })).body['data']
    t.same((secrets as { hosts: unknown }[])[0]?.hosts, ['own.example'], 'no host that another chose before')
    t.match((await auditOf(store)).at(-1), { operation: 'byok.update', object_id: 'my_own_api_key' })
    const events = (await auditOf(store)).length
    t.match(await call('PATCH', path, { body: { name: 'other' } }), { status: 200, body: { data: now } })
    t.equal((await auditOf(store)).length, events, 'without a key nothing changes')
  },
)

t.test('an unrelated secret named like a provider key is replaced by the id in the refusal', async (t) => {
  const { create, call, put, id, key } = await open(t)
  t.equal(await put('anthropic_api_key', ['evil.example']), 200)
  const path = `/byok/${id('anthropic')}`
  const refused = await create({ provider: 'anthropic', key: 'sk-new' })
  t.match(refused, { status: 400, type: 'provider_key_exists' })
  t.match(JSON.stringify(refused.body), `PATCH /api/v1${path}`)
  t.equal((await call('GET', path)).status, 404, 'it is no key')
  t.equal((await call('PATCH', path, { body: {} })).status, 404)
  t.match(await call('PATCH', path, { body: { key: 'sk-new' } }), { status: 200 })
  t.match(await call('GET', path), { status: 200, body: { data: { provider: 'anthropic' } } })
  t.match((await call('GET', '/vault/secrets', { key: await key('inference') })).body, {
    data: [{ hosts: ['api.anthropic.com'] }],
  })
  t.match(await call('DELETE', path), { status: 200 })
})

t.test('when two slugs give one secret name, the refusal names the existing key, which stays', async (t) => {
  const { create, call, id } = await open(t)
  t.equal((await create({ provider: 'my-own', key: KEY })).status, 201)
  const refused = await create({ provider: 'my.own', key: 'sk-new' })
  t.match(refused, { status: 400, type: 'provider_key_exists' })
  t.match(JSON.stringify(refused.body), `PATCH /api/v1/byok/${id('my-own')}`)
  t.equal((await call('PATCH', `/byok/${id('my.own')}`, { body: { key: 'sk-new' } })).status, 404)
  t.equal((await call('DELETE', `/byok/${id('my-own')}`)).status, 200)
  t.equal((await create({ provider: 'my.own', key: 'sk-new' })).status, 201)
})

t.test('byok.update 400, 404, 503: other fields, other keys, and disabled vault writes', async (t) => {
  const { create, call, id, workspace, foreignKey } = await open(t)
  await create({ provider: 'openai', key: KEY })
  const patch = (one: string, body: object, more: object = {}) =>
    call('PATCH', `/byok/${one}`, { body, ...more })
  for (const body of [{ disabled: true }, { key: 'a b' }, { is_byok_only: false }, { declared_zdr: true }])
    t.match(await patch(id('openai'), body), { status: 400, type: 'body_invalid' })
  t.match(await patch(id('my-own'), { key: KEY }), { status: 404, type: 'provider_key_unknown' })
  t.match(await patch(id('openai'), { key: KEY }, { key: foreignKey }), { status: 404 })
  t.equal((await call('GET', '/byok')).body['total_count'], 1, 'none was made')
  await call('PATCH', `/workspaces/${workspace.id}`, { body: { vault_writes: false } })
  t.match(await patch(id('openai'), { key: KEY }), { status: 503, type: 'vault_writes_disabled' })
})

t.test('byok.delete 200, 404, 503: deletes a key once and removes the secret from the vault', async (t) => {
  const { create, call, id, key, store, workspace, foreignKey } = await open(t)
  await create({ provider: 'openai', key: KEY })
  const path = `/byok/${id('openai')}`
  t.equal((await call('DELETE', path, { key: foreignKey })).status, 404)
  await call('PATCH', `/workspaces/${workspace.id}`, { body: { vault_writes: false } })
  t.equal((await call('DELETE', path)).status, 503)
  await call('PATCH', `/workspaces/${workspace.id}`, { body: { vault_writes: true } })
  t.match(await call('DELETE', path), { status: 200, body: { deleted: true } })
  t.match((await auditOf(store)).at(-1), {
    operation: 'byok.delete',
    object_id: 'openai_api_key',
    after: null,
  })
  t.match(await call('DELETE', path), { status: 404, type: 'provider_key_unknown' })
  t.same((await call('GET', '/vault/secrets', { key: await key('inference') })).body['data'], [])
})

t.test("OpenRouter's client stores, lists, reads, replaces and deletes keys", async (t) => {
  const { url, key, workspace } = await open(t)
  const { byok = {} } = await anyOpenRouterClient({ baseUrl: url, apiKey: await key('management') })
  const made = (await byok['create']?.({
    createBYOKKeyRequest: { provider: 'openai', key: KEY, workspaceId: workspace.id },
  })) as { readonly data: { readonly id: string; readonly label: string } }
  t.match(made, { data: { provider: 'openai', isByokOnly: true, sortOrder: 0, allowedModels: null } })
  const { id } = made.data
  for await (const page of (await byok['list']?.({ provider: 'openai' })) as AsyncIterable<object>)
    t.match(page, { result: { totalCount: 1, data: [{ id, label: made.data.label }] } })
  t.match(await byok['get']?.({ id }), { data: { id, workspaceId: workspace.id } })
  const updated = await byok['update']?.({ id, updateBYOKKeyRequest: { key: 'sk-new' } })
  t.not((updated as typeof made).data.label, made.data.label)
  t.same(await byok['delete']?.({ id }), { deleted: true })
  const gone: unknown = await byok['get']?.({ id }).catch((failure: unknown) => failure)
  t.match(gone, { statusCode: 404 })
})
