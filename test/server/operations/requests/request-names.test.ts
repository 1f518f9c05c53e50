import t, { type Test } from 'tap'
import { REQUESTS_KEYS_NAMED_MAX } from '../../../../src/schemas/requests/request-limits.ts'
import type { RequestShape } from '../../../../src/schemas/requests/requests.ts'
import { insertRequests } from '../../../../src/server/store/requests/request-rows.ts'
import { batchOfCalls, ownId, segmentOfCalls } from '../../../support/requests/settled-call.ts'
import { openInternsFront, type InternsFront } from '../../../support/workspaces/interns-front.ts'

interface Stand extends InternsFront {
  /** Names and request ids of the calls that a query finds. */
  found(query: string, key?: string): Promise<readonly (readonly [string | null, string])[]>
  /** Makes a key of this name; its hash. */
  named(name: string, by?: string): Promise<string>
}

async function stand(t: Test): Promise<Stand> {
  const front = await openInternsFront(t)
  return {
    ...front,
    async found(query, key) {
      const { status, body } = await front.call(
        'GET',
        `/admin/requests?${query}`,
        key === undefined ? {} : { key },
      )
      if (status !== 200) throw new Error(JSON.stringify(body))
      const { data } = body as unknown as { data: readonly RequestShape[] }
      return data.map(({ key_name: name, request_id: id }) => [name, id] as const)
    },
    async named(name, by) {
      const { body } = await front.call('POST', '/keys', {
        body: { name },
        ...(by !== undefined && { key: by }),
      })
      return (body as { data: { hash: string } }).data.hash
    },
  }
}

t.test('requests.list 200: finds calls by the name of their key, also in segments', async (t) => {
  const { store, organizationId, found, named, call } = await stand(t)
  const [shop, shop2, other] = [await named('Shop search'), await named('shop admin'), await named('my shop')]
  const calls = [shop, shop2, other].map((keyHash, n) => ({ organizationId, keyHash, requestId: ownId(n) }))
  await insertRequests(store, segmentOfCalls(...calls))
  await insertRequests(store, batchOfCalls({ organizationId, keyHash: shop, requestId: 'row' }))
  t.same(
    [...(await found('key_name=SHOP%20s'))].sort(),
    [
      ['Shop search', ownId(0)],
      ['Shop search', 'row'],
    ].sort(),
  )
  t.equal((await found('key_name=shop')).length, 3)
  t.same(await found('key_name=%25'), [], 'no wildcard')
  t.equal((await call('DELETE', `/keys/${shop}`)).status, 200)
  t.equal((await found('key_name=Shop%20search')).length, 2, 'a deleted key keeps its name')
})

t.test('requests.list 200: a name search covers the newest keys of that name, up to a limit', async (t) => {
  const { store, organizationId, found, named } = await stand(t)
  const keyHash = await named('many')
  await insertRequests(store, batchOfCalls({ organizationId, keyHash, requestId: 'own' }))
  const copies = async (from: number, to: number) =>
    store.sql`
      INSERT INTO api_keys (hash, kind, name, organization_id, workspace_id, account_id, label, created_at)
      SELECT lpad(to_hex(n), 64, '0'), kind, name, organization_id, workspace_id, account_id, label, created_at + interval '1 s'
      FROM api_keys, generate_series(${from}::int, ${to}::int) AS n WHERE hash = ${keyHash}`
  await copies(2, REQUESTS_KEYS_NAMED_MAX)
  t.same(await found('key_name=many'), [['many', 'own']])
  await copies(REQUESTS_KEYS_NAMED_MAX + 1, REQUESTS_KEYS_NAMED_MAX + 1)
  t.same(await found('key_name=many'), [])
})

t.test('requests.list 200: the name of a key of another organization finds nothing', async (t) => {
  const { store, organizationId, found, named, foreignKey } = await stand(t)
  const keyHash = await named('shop')
  await named('shop', foreignKey)
  await insertRequests(store, batchOfCalls({ organizationId, keyHash, requestId: 'own' }))
  t.same(await found('key_name=shop'), [['shop', 'own']])
  t.same(await found('key_name=shop', foreignKey), [])
  t.same(await found('model_prefix=a', foreignKey), [])
})

t.test('requests.list 200: a row does not show the name of a key of another organization', async (t) => {
  const { store, organizationId, found, named, foreignKey } = await stand(t)
  const keyHash = await named('secret name', foreignKey)
  await insertRequests(store, batchOfCalls({ organizationId, keyHash, requestId: 'own' }))
  t.same(await found(''), [[null, 'own']])
})

t.test(
  'requests.list 200: finds calls by the first characters of a model, with or without its author',
  async (t) => {
    const { store, organizationId, found } = await stand(t)
    const call = (requestId: string, model: string) => ({ organizationId, requestId, notes: { model } })
    await insertRequests(
      store,
      batchOfCalls(call('a', 'openai/gpt-5'), call('b', 'openai/gpt-5-mini'), call('c', 'acme/own_1')),
    )
    const ids = async (prefix: string) => (await found(`model_prefix=${prefix}`)).map(([, id]) => id).sort()
    t.same(await ids('openai/gpt-5'), ['a', 'b'])
    t.same(await ids('GPT-5-'), ['b'])
    t.same(await ids('own_'), ['c'])
    t.same(await ids('o_n'), [], 'no wildcard')
    t.same(await ids('mini'), [], 'no part of a name')
  },
)
