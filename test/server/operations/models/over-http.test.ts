import t from 'tap'
import { catalogueOf } from '../../../support/models/catalogue.ts'
import { frontOf } from '../../../support/models/model-front.ts'
import { FOUR_MODELS } from '../../../support/keys/model-reads.ts'

type Test = Parameters<typeof catalogueOf>[0]

const READS = [
  '/model/acme/chat',
  '/models',
  '/models/count',
  '/models/user',
  '/models/acme/chat/endpoints',
  '/models/acme%2Fchat',
  '/embeddings/models',
  '/videos/models',
]

t.test('every kind of key may read, and every read answers JSON', async (t) => {
  const front = await frontOf(t, catalogueOf(t, FOUR_MODELS))
  for (const path of READS) {
    for (const key of ['inference', 'management', 'intern'] as const) {
      const { status, headers } = await front.get(path, { key })
      t.match(
        { status, type: headers.get('content-type') },
        { status: 200, type: /^application\/json/ },
        `${path} ${key}`,
      )
    }
  }
})

/** Status and stable code of a read that fails. */
async function failureOf(t: Test, path: string) {
  const front = await frontOf(t, catalogueOf(t, FOUR_MODELS))
  const { status, body } = await front.get(path)
  return [
    status,
    (body as { error: { code: number; metadata: { error_type: string } } }).error.metadata.error_type,
  ]
}
t.test('models.get 404: an unknown model', async (t) => {
  t.same(await failureOf(t, '/model/acme/none'), [404, 'model_unknown'])
})
t.test('models.list 400: a bad value', async (t) => {
  t.same(await failureOf(t, '/models?limit=0'), [400, 'query_invalid'])
})
t.test('models.count 400: an empty list', async (t) => {
  t.same(await failureOf(t, '/models/count?output_modalities='), [400, 'query_invalid'])
})
t.test('models.endpoints 404: an unknown model', async (t) => {
  t.same(await failureOf(t, '/models/acme/none/endpoints'), [404, 'model_unknown'])
})
t.test('models.retrieve 404: an unknown model', async (t) => {
  t.same(await failureOf(t, '/models/acme%2Fnone'), [404, 'model_unknown'])
})
t.test('embeddings.list_models 400: a bad value', async (t) => {
  t.same(await failureOf(t, '/embeddings/models?offset=x'), [400, 'query_invalid'])
})

t.test('a variant is found with a plain and with a percent-encoded colon', async (t) => {
  const front = await frontOf(t, catalogueOf(t, FOUR_MODELS))
  for (const slug of ['embed:floor', 'embed%3Afloor', 'embed%3afloor']) {
    t.match(
      await front.get(`/model/acme/${slug}`),
      { status: 200, body: { data: { id: 'acme/embed:floor' } } },
      slug,
    )
    t.match(
      await front.get(`/models/acme/${slug}/endpoints`),
      { status: 200, body: { data: { id: 'acme/embed:floor' } } },
      slug,
    )
  }
})

t.test('a model and its endpoints are found by an id with an encoded slash', async (t) => {
  const front = await frontOf(t, catalogueOf(t, FOUR_MODELS))
  for (const id of ['acme%2Fembed%3Afloor', 'acme%2fembed:floor', 'acme%2Fembed%3Afloor/'])
    t.match(await front.get(`/model/${id}`), { status: 200, body: { data: { id: 'acme/embed:floor' } } }, id)
  t.match(await front.get('/models/acme%2Fchat/endpoints'), {
    status: 200,
    body: { data: { id: 'acme/chat' } },
  })
  t.match(await front.get('/model/acme%2Fchat', { method: 'POST' }), { status: 405 })
})

t.test('models.get 404: an encoded id that is unknown, has no author, or has too many slashes', async (t) => {
  const front = await frontOf(t, catalogueOf(t, FOUR_MODELS))
  for (const id of ['acme%2Fnone', '%2Fchat', 'acme%2F', 'acme%2Fchat%2Fmore', 'acme%252Fchat', 'embed'])
    t.equal((await front.get(`/model/${id}`)).status, 404, id)
  t.equal((await front.get('/model%2Facme/chat')).status, 404)
})

t.test('HEAD of a model has the headers of GET and no body', async (t) => {
  const front = await frontOf(t, catalogueOf(t, FOUR_MODELS))
  const got = await front.get('/model/acme/chat')
  const { status, headers, body } = await front.get('/model/acme/chat', { method: 'HEAD' })
  t.same([status, body, headers.get('content-length')], [200, null, got.headers.get('content-length')])
})

t.test('names the path of every invalid value in the list query, and never the value', async (t) => {
  const front = await frontOf(t, catalogueOf(t, FOUR_MODELS))
  for (const [name, value] of Object.entries({
    limit: '1001',
    offset: '-1',
    sort: 'cheapest',
    context: '1.5',
    distillable: 'yes',
    zdr: '1',
    min_price: 'free',
    max_price: '-1',
    min_age_days: 'old',
    min_coding_index: 'high',
    category: '',
    providers: 'a,,b',
  })) {
    const { status, headers, body } = await front.get(`/models?${name}=${encodeURIComponent(value)}`)
    t.match(
      { status, body },
      { status: 400, body: { error: { metadata: { issues: [{ path: `/${name}` }] } } } },
      name,
    )
    // The id of the request is random, and may hold any short text.
    if (value.length > 2)
      t.notMatch(JSON.stringify(body).replace(headers.get('x-request-id') ?? '', ''), value, name)
  }
})

t.test('links.next can be requested unchanged', async (t) => {
  const front = await frontOf(t, catalogueOf(t, FOUR_MODELS))
  const first = await front.get('/models?output_modalities=text%2Cembeddings&limit=3&q=e')
  const {
    links: { next },
  } = first.body as { links: { next: string } }
  t.match(await front.get(next.replace('/api/v1', '')), {
    status: 200,
    body: { data: [{}], links: { next: null }, total_count: 4 },
  })
})
