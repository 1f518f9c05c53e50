/** Models that only one workspace has, in lists and reads of models: to that workspace alone. B2.3, D30. */
import { Value } from 'typebox/value'
import t, { type Test } from 'tap'
import { Model, ModelListAnswer, ModelEndpointsAnswer } from '../../../../src/schemas/models/models.ts'
import { fail } from '../../../../src/schemas/failures.ts'
import { openTexts, servesChat, type TextStand } from '../../../support/endpoints/text-endpoints.ts'
import { KEY, MANAGEMENT_KEY, OTHER_KEY } from '../../../support/front.ts'

interface Answer {
  readonly status: number
  readonly body: { readonly data: unknown; readonly total_count?: number }
}

interface Stand extends TextStand {
  /** @param path below `/api/v1` */
  get(path: string, key?: string): Promise<Answer>
  ids(path: string, key?: string): Promise<readonly string[]>
}

/** A workspace with a chat model and an embedding model of its own, and an endpoint of a known model. */
async function open(t: Test, given: Parameters<typeof openTexts>[2] = {}): Promise<Stand> {
  const stand = await openTexts(t, servesChat(), given)
  await stand.active({ model_permaslug: 'acme/llama', declared_zdr: true, declared_region: 'europe' })
  await stand.active({ model_permaslug: 'acme/chat', forms: ['chat'] })
  const vectors = { base_url: stand.baseUrl, upstream_model_id: 'bge-m3', forms: ['embeddings'] }
  await stand.active({ ...vectors, model_permaslug: 'acme/vectors' })
  const get: Stand['get'] = async (path, key = KEY) => {
    const response = await fetch(`${stand.fronts[0] ?? ''}/api/v1${path}`, {
      headers: { authorization: `Bearer ${key}` },
    })
    return { status: response.status, body: (await response.json()) as Answer['body'] }
  }
  const ids: Stand['ids'] = async (path, key) => {
    const { status, body } = await get(path, key)
    t.equal(status, 200, JSON.stringify(body))
    t.ok(Value.Check(ModelListAnswer, body), JSON.stringify(body))
    return (body.data as readonly { readonly id: string }[]).map(({ id }) => id)
  }
  return { ...stand, get, ids }
}

t.test('models.list 200: lists own text models first, and only to their workspace', async (t) => {
  const { ids, get } = await open(t)
  t.same(await ids('/models'), ['acme/llama', 'acme/chat'])
  t.same(await ids('/models/user'), ['acme/llama', 'acme/chat'])
  for (const key of [OTHER_KEY, MANAGEMENT_KEY]) t.same(await ids('/models', key), ['acme/chat'])
  t.same((await get('/models/count')).body.data, { count: 2 })
  t.same((await get('/models/count', OTHER_KEY)).body.data, { count: 1 })
  t.same((await ids('/embeddings/models')).slice(0, 2), ['acme/vectors', 'acme/embed'])
  t.notOk((await ids('/embeddings/models', OTHER_KEY)).includes('acme/vectors'))
})

t.test('models.list 200: filters, sorting and paging cover catalogue models and own models', async (t) => {
  const { ids, get } = await open(t)
  const of = (query: string): Promise<readonly string[]> => ids(`/models?${query}`)
  t.same(await of('q=llama'), ['acme/llama'])
  t.same(await of('zdr=true'), ['acme/llama'])
  t.same(await of('region=europe'), ['acme/llama'])
  t.same(await of('providers=shipped'), ['acme/chat'])
  t.same(await of('context=1'), [], 'its context is not known')
  t.same(await of('input_modalities=image'), [])
  // 1 and 0.5 USD per million tokens of the prompt.
  t.same(await of('sort=pricing-low-to-high'), ['acme/chat', 'acme/llama'])
  t.same(await of('sort=pricing-high-to-low'), ['acme/llama', 'acme/chat'])
  t.same(await of('sort=newest'), ['acme/llama', 'acme/chat'])
  t.same(await of('limit=1&offset=1'), ['acme/chat'])
  t.match((await get('/models?limit=1')).body, { links: { next: /offset=1/ }, total_count: 2 })
})

t.test('models.get, models.retrieve, models.endpoints 200: read an own model like any other', async (t) => {
  const { get } = await open(t)
  const { body } = await get('/model/acme/llama')
  t.ok(Value.Check(Model, body.data), JSON.stringify(body))
  t.match(body.data, {
    ...{ id: 'acme/llama', canonical_slug: 'acme/llama', name: 'acme/llama', context_length: null },
    architecture: { modality: 'text->text' },
    pricing: { prompt: '0.000001', completion: '0.00001' },
  })
  t.match((await get('/models/acme/llama')).body, { id: 'acme/llama', object: 'model', owned_by: 'acme' })
  t.match((await get('/models/acme%2Fllama')).body, { id: 'acme/llama', object: 'model' })
  const endpoints = await get('/models/ACME/llama/endpoints')
  t.ok(Value.Check(ModelEndpointsAnswer, endpoints.body))
  t.match(endpoints.body.data, {
    id: 'acme/llama',
    endpoints: [{ tag: /^private\//, provider_name: 'OpenAI-compatible', pricing: { prompt: '0.000001' } }],
  })
  for (const path of ['/model/acme/llama', '/models/acme/llama', '/models/acme/llama/endpoints'])
    for (const key of [OTHER_KEY, MANAGEMENT_KEY]) t.equal((await get(path, key)).status, 404, path)
})

t.test('models.endpoints 200: private endpoints of a known model come before catalogue ones', async (t) => {
  const { get } = await open(t)
  const tags = async (key?: string): Promise<readonly string[]> => {
    const { body } = await get('/models/acme/chat/endpoints', key)
    t.ok(Value.Check(ModelEndpointsAnswer, body))
    return (body.data as { readonly endpoints: readonly { readonly tag: string }[] }).endpoints.map(
      ({ tag }) => tag,
    )
  }
  t.match(await tags(), [/^private\//, 'shipped/shipped-embed'])
  t.same(await tags(OTHER_KEY), ['shipped/shipped-embed'])
  t.match((await get('/model/acme/chat')).body.data, { name: 'Acme Chat', pricing: { prompt: '0.0000005' } })
})

t.test('a key that may not call private endpoints does not get their models', async (t) => {
  const { ids, get } = await open(t, { keys: { scopes: ['inference'] } })
  t.same(await ids('/models'), ['acme/chat'])
  t.equal((await get('/model/acme/llama')).status, 404)
})

t.test('models.list_for_user 200: omits own models that the key may not use', async (t) => {
  const { ids } = await open(t, { keys: { allowedModels: ['acme/llama'] } })
  t.same(await ids('/models/user'), ['acme/llama'])
})

t.test('while the store is unavailable, lists show the catalogue, and own models fail to read', async (t) => {
  const away = { of: () => Promise.resolve(fail('store_unavailable', { retryAfterS: 1 })) }
  const { ids, get } = await open(t, {
    more: (_, { access }) => Promise.resolve({ access, ports: { privateModels: away } }),
  })
  t.same(await ids('/models'), ['acme/chat'])
  t.equal((await get('/model/acme/chat')).status, 200)
  t.equal((await get('/model/acme/llama')).status, 500)
})
