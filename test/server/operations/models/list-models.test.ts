import fc from 'fast-check'
import { Value } from 'typebox/value'
import t from 'tap'
import { MODELS_PAGE_MAX } from '../../../../src/schemas/models/model-limits.ts'
import { ListModelsQuery, MODEL_SORTS } from '../../../../src/schemas/models/models.ts'
import { listModels } from '../../../../src/server/operations/models/list-models.ts'
import { filterOf, pageOf } from '../../../../src/server/operations/models/model-query.ts'
import { catalogueOf } from '../../../support/models/catalogue.ts'
import { FOUR_MODELS, idsOf, read } from '../../../support/keys/model-reads.ts'

const ALL = ['acme/chat', 'acme/embed', 'other/chat', 'other/embed']
const list = (t: Parameters<typeof catalogueOf>[0], query: object = {}) =>
  read(listModels, catalogueOf(t, FOUR_MODELS), { query })

t.test(
  'models.list 200: without a query, every model that writes text, with links and total_count',
  async (t) => {
    const answer = await list(t)
    t.same(idsOf(answer), ['acme/chat', 'other/chat'])
    t.match(answer, { status: 200, body: { links: { next: null }, total_count: 2 } })
  },
)

t.test('models.list 200: `output_modalities=all` returns every model', async (t) => {
  t.same(idsOf(await list(t, { output_modalities: 'all' })), ALL)
})

const FILTERS: readonly (readonly [object, readonly string[]])[] = [
  [{ output_modalities: 'embeddings' }, ['acme/embed', 'other/embed']],
  [{ output_modalities: 'text, embeddings' }, ALL],
  [{ output_modalities: 'video' }, []],
  [{ q: 'CHAT other' }, ['other/chat']],
  [{ q: ' ' }, ['acme/chat', 'other/chat']],
  [{ category: 'code,law' }, ['acme/chat']],
  [{ arch: 'gpt' }, ['acme/chat']],
  [{ context: 1_000 }, ['acme/chat']],
  [{ context: 1_001 }, []],
  [{ zdr: true }, ['acme/chat']],
  [{ zdr: false }, []],
  [{ distillable: true }, []],
  [{ region: 'eu' }, []],
  [{ input_modalities: 'text,image' }, ['acme/chat']],
  [{ input_modalities: 'all' }, ['acme/chat', 'other/chat']],
  [{ supported_parameters: 'tools,seed' }, ['acme/chat']],
  [{ supported_parameters: 'tools,top_k' }, []],
  [{ model_authors: 'ACME' }, ['acme/chat']],
  [{ providers: 'here,near' }, ['acme/chat', 'other/chat']],
  [{ providers: 'here' }, ['other/chat']],
  [{ min_price: 2 }, ['acme/chat']],
  [{ max_price: 1.999 }, ['other/chat']],
  [{ output_modalities: 'all', min_price: 0.02, max_price: 0.02 }, ['acme/embed']],
  [{ min_output_price: 8 }, ['acme/chat']],
  [{ max_output_price: 0 }, ['other/chat']],
  [{ min_intelligence_index: 0 }, []],
  [{ min_coding_index: 0 }, []],
  [{ min_agentic_index: 0 }, []],
  [{ min_tool_success_rate: 0 }, []],
]
for (const [query, ids] of FILTERS) {
  t.test(`models.list 200: ${JSON.stringify(query)} returns the matching models`, async (t) => {
    t.same(idsOf(await list(t, query)), ids)
  })
}

t.test('models.list 200: filters by age use the current time', async (t) => {
  const catalogue = catalogueOf(t, FOUR_MODELS, { now: Date.parse('2024-01-11T00:00:00Z') })
  for (const [query, ids] of [
    [{ max_age_days: 10 }, ['acme/chat']],
    [{ max_age_days: 9 }, []],
    [{ min_age_days: 10 }, ['acme/chat']],
    [{ min_age_days: 11 }, []],
  ] as const) {
    t.same(idsOf(await read(listModels, catalogue, { query })), ids, JSON.stringify(query))
  }
})

t.test(
  'models.list 200: pages linked by links.next keep the query and contain each model once',
  async (t) => {
    const catalogue = catalogueOf(t, FOUR_MODELS)
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 5 }),
        fc.constantFrom(...MODEL_SORTS),
        async (limit, sort) => {
          const seen: string[] = []
          let query: object | null = { limit, sort, output_modalities: 'text,embeddings' }
          while (query !== null) {
            const answer = await read(listModels, catalogue, { query })
            seen.push(...idsOf(answer))
            const {
              links: { next },
              total_count,
            } = answer.body as { links: { next: string | null }; total_count: number }
            t.equal(total_count, ALL.length)
            query = next === null ? null : queryOf(next)
          }
          const whole = await read(listModels, catalogue, { query: { sort, output_modalities: 'all' } })
          t.same(seen, idsOf(whole))
        },
      ),
      { numRuns: 30 },
    )
  },
)

t.test(
  'models.list 200: an offset without a limit uses the default page size, and an offset beyond the end gets an empty page',
  async (t) => {
    t.match(await list(t, { offset: 1 }), {
      body: { data: [{ id: 'other/chat' }], links: { next: null }, total_count: 2 },
    })
    t.match(await list(t, { offset: 9, limit: 1 }), {
      body: { data: [], links: { next: null }, total_count: 2 },
    })
  },
)

t.test('models.list 200: a query with special characters is escaped in links.next', async (t) => {
  const { body } = await list(t, { q: 'chat', model_authors: 'acme,other', limit: 1 })
  t.match(body, { links: { next: '/api/v1/models?q=chat&model_authors=acme%2Cother&limit=1&offset=1' } })
})

t.test('models.list 400: names the path of a list with an empty entry', async (t) => {
  for (const member of [
    'category',
    'arch',
    'region',
    'input_modalities',
    'output_modalities',
    'supported_parameters',
    'model_authors',
    'providers',
  ]) {
    const { status, failure } = await list(t, { [member]: 'text,,image' })
    t.match(
      { status, failure },
      { status: 400, failure: { name: 'query_invalid', metadata: { issues: [{ path: `/${member}` }] } } },
    )
  }
})

t.test('models.list 400: refuses invalid values in the query', async (t) => {
  const bad = [
    { limit: 0 },
    { limit: 1_001 },
    { limit: 1.5 },
    { offset: -1 },
    { sort: 'cheapest' },
    { context: -1 },
    { zdr: 'maybe' },
    { min_price: -1 },
    { max_price: 'free' },
    { max_age_days: -1 },
    { category: '' },
  ]
  for (const query of bad) t.notOk(Value.Check(ListModelsQuery, query), JSON.stringify(query))
})

/** As the pipeline reads it: text becomes the type of its member. */
function queryOf(link: string): object {
  const { pathname, searchParams } = new URL(link, 'http://host')
  if (pathname !== '/api/v1/models') throw new Error(`the next page is at ${pathname}`)
  return Value.Convert(ListModelsQuery, Object.fromEntries(searchParams)) as object
}

t.test('a repeated word or name is searched only once', async (t) => {
  const filter = filterOf({ q: 'a A  a', model_authors: 'x,X,y', providers: 'p, p' })
  t.match(filter, { ok: true })
  t.same(filter.ok && [filter.value.words, filter.value.authors, filter.value.providers], [
    ['a'],
    ['x', 'y'],
    ['p'],
  ])
})

/** More than a page may have. */
const MANY = {
  providers: [{ slug: 'p', protocol: 'local' }],
  models: Array.from({ length: MODELS_PAGE_MAX + 250 }, (_, at) => ({
    id: `many/m${at}`,
    name: `M ${at}`,
    endpoints: [{ provider: 'p', upstream_model: 'm' }],
  })),
}

t.test('models.list 200: without a page, returns a long list in full and in order', async (t) => {
  const catalogue = catalogueOf(t, MANY)
  const answer = await read(listModels, catalogue, { query: {} })
  t.same(
    idsOf(answer),
    MANY.models.map(({ id }) => id),
  )
  t.match(answer, { status: 200, body: { links: { next: null }, total_count: MANY.models.length } })
  t.equal(idsOf(await read(listModels, catalogue, { query: { limit: 1_000 } })).length, 1_000)
})

t.test(
  'models.list 200: the event loop runs while a long list is built, and a second caller gets the same bytes',
  async (t) => {
    const catalogue = catalogueOf(t, MANY)
    let turns = 0
    const counting = setInterval(() => (turns += 1), 0)
    const found = catalogue.select({})
    const listing = { path: '/models', query: {} }
    const [first, second] = await Promise.all([pageOf(found, listing), pageOf(catalogue.select({}), listing)])
    clearInterval(counting)
    if (!first.ok || !second.ok || first.value.kind !== 'bytes' || second.value.kind !== 'bytes')
      throw new Error('no bytes')
    const [pieces, others] = [first.value.parts, second.value.parts]
    t.ok(pieces.length > 10 && pieces.slice(1, -1).every((piece, at) => piece === others[at + 1]))
    t.ok(turns > 0)
    t.ok(
      catalogue.models.every(({ bodies }, at) => bodies.item === pieces[2 * at + 1]),
      'which are those of the models: no list has bytes of its own',
    )
  },
)
