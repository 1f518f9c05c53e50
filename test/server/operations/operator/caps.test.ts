/** Caps of an organization, and who sets them. C32, C33. */
import t from 'tap'
import { CAPPED, CAPS_DEFAULT } from '../../../../src/schemas/operator/caps.ts'
import { Secret } from '../../../../src/schemas/vault/secret.ts'
import type { VaultScope } from '../../../../src/server/ports/vault/vault.ts'
import { createAttachableVault } from '../../../../src/server/store/vault/attachable-vaults.ts'
import { openCaps } from '../../../../src/server/store/base/caps.ts'
import { openOperators } from '../../../../src/server/store/operator/operator.ts'
import { newId } from '../../../../src/server/store/base/ids.ts'
import { createOrganization } from '../../../../src/server/store/workspaces/organizations.ts'
import { auditOf, CLI } from '../../../support/audit/audit.ts'
import { openKeysFront, type KeysFront } from '../../../support/keys/keys-front.ts'
import { must } from '../../../support/must.ts'
import { openTestStore } from '../../../support/stores/postgres.ts'
import { BY, HOST, openVaultFront } from '../../../support/vault/vault-front.ts'

/** Hundreds of other tests may run at the same time. */
t.setTimeout(300_000)

/** The oldest organization of two. Each test gives back the caps that it sets. */
const shared = await openKeysFront(t)

const full = (what: string, limit: number, status = 403): object => ({
  status,
  type: 'quota_exceeded',
  body: { error: { metadata: { limit_source: `organization_${what}`, scope: 'organization', limit } } },
})
const NO_CAPS = { workspaces: null, api_keys: null, interns: null, vaults: null, secrets: null }
const cap = (front: KeysFront, body: object) => front.call('PATCH', '/caps', { body })
async function used(front: KeysFront, what: string): Promise<number> {
  const { body } = await front.call('GET', '/caps')
  return (body['data'] as Record<string, { used: number }>)[what]?.used ?? -1
}

t.test('caps.get 200: the caps of a new installation, and the use', async (t) => {
  const front = shared
  await front.intern()
  const { status, body } = await front.call('GET', '/caps')
  t.equal(status, 200)
  const data = body['data'] as Record<string, { cap: number; is_own: boolean }>
  t.same(
    CAPPED.map((what) => [data[what]?.cap, data[what]?.is_own]),
    CAPPED.map((what) => [CAPS_DEFAULT[what], false]),
  )
  t.match(data, {
    organization_id: front.organizationId,
    workspaces: { used: 2 },
    interns: { used: 1 },
    api_keys: { used: 1 },
    vaults: { used: 0 },
  })
})

t.test('concurrent calls create no more objects of any kind than the cap', async (t) => {
  const front = shared
  t.match(await cap(front, { workspaces: 5, api_keys: 6, interns: 4 }), {
    status: 200,
    body: { data: { workspaces: { cap: 5, is_own: true } } },
  })
  const many = (path: string, body: (nth: number) => object) =>
    Promise.all(Array.from({ length: 12 }, (_, nth) => front.call('POST', path, { body: body(nth) })))
  const made = async (path: string, body: (nth: number) => object): Promise<number> =>
    (await many(path, body)).filter(({ status }) => status === 201).length
  t.equal(await made('/workspaces', (nth) => ({ name: 'w', slug: `w${nth}` })), 3)
  t.equal(await made('/keys', () => ({ name: 'k' })), 5)
  t.equal(await made('/interns', () => ({ name: 'i', provision: false })), 3)
  t.match(await front.call('POST', '/keys', { body: { name: 'k' } }), full('api_keys', 6))
  t.match(
    await front.call('POST', '/workspaces', { body: { name: 'w', slug: 'one-more' } }),
    full('workspaces', 5),
  )
  t.match(await front.call('POST', '/interns', { body: { name: 'i', provision: false } }), full('interns', 4))
  t.same(await Promise.all(['workspaces', 'api_keys', 'interns'].map((what) => used(front, what))), [5, 6, 4])
  await cap(front, NO_CAPS)
})

t.test(
  'deleted and expired keys do not count, and a full organization can still rotate a key without an overlap',
  async (t) => {
    const front = shared
    const { data } = await front.make()
    const most = await used(front, 'api_keys')
    await cap(front, { api_keys: most })
    t.match(
      await front.call('POST', `/keys/${data.hash}/rotate`, { body: {} }),
      full('api_keys', most, 400),
      'which lists no 403',
    )
    const rotated = await front.rotate(data.hash, { overlap_seconds: 0 })
    t.equal(await used(front, 'api_keys'), most, 'the old one has expired')
    t.equal((await front.call('DELETE', `/keys/${rotated.data.hash}`)).status, 200)
    t.equal((await front.call('POST', '/keys', { body: { name: 'k' } })).status, 201)
    await cap(front, NO_CAPS)
  },
)

t.test('attachable vaults count towards their cap', async (t) => {
  const front = shared
  await cap(front, { vaults: 1 })
  const make = (name: string) =>
    createAttachableVault(
      front.store,
      { organizationId: front.organizationId, workspaceId: front.workspace.id, name },
      CLI,
    )
  t.equal((await make('one')).ok, true)
  t.match(await make('two'), {
    ok: false,
    failure: { name: 'quota_exceeded', metadata: { limit_source: 'organization_vaults' } },
  })
  await cap(front, NO_CAPS)
})

t.test('the cap of secrets counts only those in attachable vaults of the organization', async (t) => {
  const { store, vaults, workspace, addVault } = await openVaultFront(t)
  const [one, two] = [
    { ...workspace, attachableId: await addVault('one') },
    { ...workspace, attachableId: await addVault('two') },
  ]
  const put = (scope: VaultScope, name: string) =>
    vaults.put(scope, { name, hosts: [HOST], value: new Secret('v') }, BY)
  must(
    await openCaps(store).update(
      workspace.organizationId,
      { secrets: 2 },
      { ...BY, operation: 'caps.update' },
    ),
  )
  const racing = await Promise.all(
    ['A', 'B', 'C', 'D'].map((name, nth) => put(nth % 2 === 0 ? one : two, name)),
  )
  t.equal(racing.filter(({ ok }) => ok).length, 2)
  const refused = {
    failure: {
      name: 'quota_exceeded',
      metadata: { limit_source: 'organization_secrets', limit: 2, spend: 2 },
    },
  }
  for (const outcome of racing) if (!outcome.ok) t.match(outcome, refused)
  t.match(await put(one, 'E'), refused)
  const kept = await store.sql<{ name: string; vault_id: string }[]>`SELECT name, vault_id FROM secrets`
  for (const { name, vault_id: attachableId } of kept)
    t.ok((await put({ ...workspace, attachableId }, name)).ok, 'a value of its own is no more')
  t.ok((await put(workspace, 'of-the-workspace')).ok)
  await store.sql`DELETE FROM secrets WHERE name = ${kept[0]?.name ?? ''}`
  t.ok((await put(two, 'E')).ok)
})

t.test('caps.update 200: null restores the installation default, and each change is audited', async (t) => {
  const front = shared
  await cap(front, { interns: 7 })
  t.match((await auditOf(front.store)).at(-1), {
    operation: 'caps.update',
    before: { caps: {} },
    after: { caps: { interns: 7 } },
  })
  t.match(await cap(front, { interns: null }), {
    status: 200,
    body: { data: { interns: { cap: CAPS_DEFAULT.interns, is_own: false } } },
  })
})

t.test('caps.update 400: an invalid cap or organization id', async (t) => {
  const front = shared
  for (const body of [{ interns: -1 }, { interns: 1.5 }, { interns: '5' }, { organization_id: 'none' }]) {
    t.match(await cap(front, body), { status: 400, type: 'body_invalid' }, JSON.stringify(body))
  }
})

t.test('caps.get 400: an invalid organization id', async (t) => {
  t.match(await shared.call('GET', '/caps?organization_id=none'), { status: 400, type: 'query_invalid' })
})

t.test('caps.update 404: an unknown organization', async (t) => {
  t.match(await cap(shared, { organization_id: newId(), interns: 1 }), {
    status: 404,
    type: 'organization_unknown',
  })
})

t.test('caps.get 404: an unknown organization', async (t) => {
  t.match(await shared.call('GET', `/caps?organization_id=${newId()}`), {
    status: 404,
    type: 'organization_unknown',
  })
})

t.test(
  'caps.get 403, caps.update 403: a tenant reads only its own caps and changes none; the operator names the tenant',
  async (t) => {
    const front = shared
    const { call, foreignKey: key, organizationId } = front
    const [tenant] = await front.store.sql<
      { id: string }[]
    >`SELECT id FROM organizations WHERE name = 'foreign'`
    const operatorOnly = { status: 403, type: 'operator_only' }
    t.match(await call('PATCH', '/caps', { key, body: { interns: 9 } }), operatorOnly)
    t.match(
      await call('PATCH', '/caps', { key, body: { interns: 9, organization_id: organizationId } }),
      operatorOnly,
    )
    t.match(await call('GET', `/caps?organization_id=${organizationId}`, { key }), operatorOnly)
    t.match(await call('GET', '/caps', { key }), {
      status: 200,
      body: { data: { organization_id: tenant?.id } },
    })
    t.match(await cap(front, { organization_id: tenant?.id, workspaces: 1 }), {
      status: 200,
      body: { data: { organization_id: tenant?.id } },
    })
    t.match(await call('POST', '/workspaces', { key, body: { name: 'w', slug: 'w' } }), full('workspaces', 1))
    await cap(front, { organization_id: tenant?.id, workspaces: null })
  },
)

t.test(
  '`organization_id` in the query selects the organization for changes as it does for reads',
  async (t) => {
    const { call, organizationId, store } = shared
    const [tenant] = await store.sql<{ id: string }[]>`SELECT id FROM organizations WHERE name = 'foreign'`
    const id = tenant?.id ?? ''
    const of =
      (path: string, method = 'PATCH') =>
      (body: object, query = id) =>
        call(method, `${path}?organization_id=${query}`, { body })
    const [caps, credits, workspace] = [of('/caps'), of('/credits', 'POST'), of('/workspaces/default')]
    t.match(await caps({ interns: 8 }), {
      status: 200,
      body: { data: { organization_id: id, interns: { cap: 8 } } },
    })
    t.match(await caps({ interns: null, organization_id: id }, id.toUpperCase()), {
      status: 200,
      body: { data: { organization_id: id } },
    })
    t.match((await call('GET', '/caps')).body, {
      data: { organization_id: organizationId, interns: { is_own: false } },
    })
    t.match(await credits({ amount_usd: 2 }), {
      status: 200,
      body: { data: { amount_usd: 2, is_unlimited: false } },
    })
    t.match((await call('GET', '/credits')).body, { data: { is_unlimited: true } })
    t.match(await workspace({ storage_quota_bytes: 9 }), {
      status: 200,
      body: { data: { storage_quota_bytes: 9 } },
    })
    t.match((await call('GET', '/workspaces/default')).body, { data: { storage_quota_bytes: null } })
    const two = {
      status: 400,
      type: 'query_invalid',
      body: { error: { metadata: { issues: [{ path: '/organization_id' }] } } },
    }
    for (const change of [caps, credits, workspace])
      t.match(await change({ amount_usd: 2, organization_id: organizationId }), two)
  },
)

t.test(
  'credits.get 400: a tenant reads only its own credit, and the operator also reads that of a tenant',
  async (t) => {
    const { call, foreignKey: key, organizationId, store } = shared
    const [tenant] = await store.sql<{ id: string }[]>`SELECT id FROM organizations WHERE name = 'foreign'`
    const id = tenant?.id ?? ''
    await call('POST', '/credits', { body: { amount_usd: 3, organization_id: id } })
    const own = await call('GET', `/credits?organization_id=${id}`, { key })
    t.match(own, { status: 200, body: { data: { is_unlimited: false } } })
    t.same((await call('GET', `/credits?organization_id=${id}`)).body, own.body)
    t.match(await call('GET', '/credits'), { body: { data: { is_unlimited: true } } })
    t.match(await call('GET', `/credits?organization_id=${organizationId}`, { key }), {
      status: 403,
      type: 'operator_only',
    })
    t.match(await call('GET', '/credits?organization_id=none'), { status: 400, type: 'query_invalid' })
    t.match(await call('GET', `/credits?organization_id=${newId()}`), {
      status: 400,
      type: 'organization_unknown',
    })
  },
)

t.test(
  'credits.add 403: a tenant cannot book credit; the operator can, and it is in the audit log of the tenant',
  async (t) => {
    const front = shared
    const { call, foreignKey: key, organizationId, store } = front
    const [tenant] = await store.sql<{ id: string }[]>`SELECT id FROM organizations WHERE name = 'foreign'`
    for (const body of [
      { amount_usd: 5 },
      { amount_usd: 5, organization_id: tenant?.id },
      { amount_usd: 5, organization_id: organizationId },
    ]) {
      t.match(await call('POST', '/credits', { key, body }), { status: 403, type: 'operator_only' })
    }
    t.match(await call('POST', '/credits', { body: { amount_usd: 5, organization_id: tenant?.id } }), {
      status: 200,
      body: { data: { amount_usd: 5 } },
    })
    t.match(await call('GET', '/credits', { key }), { body: { data: { total_credits: 10 } } })
    t.match(await call('GET', '/credits'), { body: { data: { total_credits: 0, is_unlimited: true } } })
    t.match((await auditOf(store)).at(-1), { operation: 'credits.add' })
    t.match(await call('POST', '/credits', { body: { amount_usd: 5, organization_id: newId() } }), {
      status: 400,
      type: 'organization_unknown',
    })
  },
)

t.test(
  'workspaces.update 403, workspaces.create 403: only the operator sets the quota, the programme and vault writes',
  async (t) => {
    const { call, foreignKey: key, store } = shared
    const [tenant] = await store.sql<{ id: string }[]>`SELECT id FROM organizations WHERE name = 'foreign'`
    for (const body of [
      { storage_quota_bytes: 5 },
      { storage_quota_bytes: null },
      { programme: false },
      { vault_writes: true },
    ]) {
      t.match(
        await call('PATCH', '/workspaces/default', { key, body }),
        { status: 403, type: 'operator_only' },
        JSON.stringify(body),
      )
      t.match(await call('POST', '/workspaces', { key, body: { name: 'w', slug: 'w', ...body } }), {
        status: 403,
        type: 'operator_only',
      })
    }
    t.equal((await call('PATCH', '/workspaces/default', { key, body: { name: 'ours' } })).status, 200)
    const named = { organization_id: tenant?.id, storage_quota_bytes: 7, programme: false }
    const set = { name: 'ours', storage_quota_bytes: 7, programme: false }
    t.match(await call('PATCH', '/workspaces/default', { body: named }), { status: 200, body: { data: set } })
    t.match(await call('GET', '/workspaces/default'), {
      body: { data: { storage_quota_bytes: null, programme: true } },
    })
    t.match(
      await call('PATCH', '/workspaces/default', { body: { organization_id: tenant?.id, name: 'theirs' } }),
      { status: 400, type: 'body_invalid' },
    )
  },
)

t.test(
  'the setting of the operating organization has no effect with one organization, and decides with two',
  async (t) => {
    const store = await openTestStore(t)
    const {
      organization: { id },
    } = must(await createOrganization(store, { name: 'o' }))
    t.same(await openOperators(store, 'nobody').targetOf(id, undefined), { ok: true, value: id })
    const { organization: second } = must(await createOrganization(store, { name: 'second' }))
    t.match(await openOperators(store, 'nobody').targetOf(id, undefined), {
      failure: { name: 'operator_only' },
    })
    t.match(await openOperators(store, 'second').targetOf(id, undefined), {
      failure: { name: 'operator_only' },
    })
    t.same(await openOperators(store, 'second').targetOf(second.id, id), { ok: true, value: id })
    t.same(await openOperators(store, null).targetOf(id, second.id.toUpperCase()), {
      ok: true,
      value: second.id,
    })
  },
)
