import t from 'tap'
import { SHIPPED_CATALOGUE } from '../../../src/server/catalogue/shipped.ts'
import {
  MODEL_SELECTIONS_CACHED_MAX,
  MODELS_SELECTED_CACHED_MAX,
  loadCatalogue,
  Selections,
} from '../../../src/server/catalogue/load.ts'
import { type Listed, type Selectable, WordSearch } from '../../../src/server/catalogue/select.ts'
import { catalogueFile, catalogueOf, loadFiles } from '../../support/models/catalogue.ts'

const PROVIDERS = [
  {
    slug: 'near',
    name: 'Near',
    protocol: 'openai',
    base_url: 'https://near.example/v1/',
    api_key_env: 'NEAR_KEY',
  },
  {
    slug: 'far',
    protocol: 'cohere',
    base_url: 'https://far.example/v2',
    timeout_ms: 5_000,
    rename: { dimensions: 'size' },
  },
]
const NEAR = {
  provider: 'near',
  upstream_model: 'embed-1',
  pricing: { prompt: '0.00000002', request: '0.001' },
}
const FAR = {
  provider: 'far',
  upstream_model: 'embed-x',
  pricing: { prompt: '0.00000005' },
  zdr: true,
  may_train: false,
}
const MODEL = {
  id: 'Acme/Embed',
  name: 'Embed',
  canonical_slug: 'acme/embed-2024',
  aliases: ['acme/e', 'embed'],
  variants: ['floor', { suffix: 'free', pricing: { prompt: '0' } }, { suffix: 'far', endpoints: [FAR] }],
  architecture: { output_modalities: ['embeddings'] },
  endpoints: [NEAR, FAR],
}
const DOCUMENT = { providers: PROVIDERS, models: [MODEL, { id: 'acme/bare', name: 'Bare' }] }

t.test('a model resolves by its id and its canonical slug, in any case, to the same object', async (t) => {
  const catalogue = catalogueOf(t, DOCUMENT)
  const model = catalogue.resolve('Acme/Embed')
  t.ok(model)
  for (const id of ['acme/embed', 'ACME/EMBED', 'acme/embed-2024']) t.equal(catalogue.resolve(id), model)
  t.equal(catalogue.models[0], model)
})

t.test('an alias resolves to the canonical model, with alias_target', async (t) => {
  const catalogue = catalogueOf(t, DOCUMENT)
  for (const alias of ['acme/e', 'embed', 'EMBED']) {
    const model = catalogue.resolve(alias)
    t.equal(model?.id, 'Acme/Embed')
    t.same(model?.wire.alias_target, { name: 'Embed', slug: 'acme/embed-2024' })
    t.same(model?.endpoints, catalogue.models[0]?.endpoints)
  }
})

t.test('a variant has the suffix in its id, but not in its canonical slug', async (t) => {
  const variant = catalogueOf(t, DOCUMENT).resolve('acme/embed:floor')
  t.match(variant, { id: 'Acme/Embed:floor', canonicalSlug: 'acme/embed-2024' })
  t.match(variant?.wire, {
    id: 'Acme/Embed:floor',
    links: { details: '/api/v1/models/Acme/Embed:floor/endpoints' },
  })
  t.notOk('alias_target' in (variant?.wire ?? {}))
})

t.test('a variant without its own endpoints has those of its model', async (t) => {
  const catalogue = catalogueOf(t, DOCUMENT)
  t.same(catalogue.resolve('Acme/Embed:floor')?.endpoints, catalogue.models[0]?.endpoints)
})

t.test('the price of a variant is the price of its endpoints', async (t) => {
  const free = catalogueOf(t, DOCUMENT).resolve('Acme/Embed:free')
  t.same(
    free?.endpoints.map(({ prices }) => prices.promptNanoPerMillion),
    [0, 0],
  )
  t.equal(free?.wire.pricing.prompt, '0')
  t.equal(free?.isUnpriced, false)
})

t.test('the endpoints of a variant replace those of its model', async (t) => {
  const far = catalogueOf(t, DOCUMENT).resolve('Acme/Embed:far')
  t.same(
    far?.endpoints.map((endpoint) => endpoint.tag),
    ['far/embed-x'],
  )
  t.equal(far?.wire.pricing.prompt, '0.00000005')
})

t.test('an alias has the variants of its model', async (t) => {
  t.match(catalogueOf(t, DOCUMENT).resolve('embed:free')?.wire, {
    id: 'Acme/Embed:free',
    alias_target: { name: 'Embed' },
  })
})

t.test('an unknown model, variant or half of an id resolves to nothing', async (t) => {
  const catalogue = catalogueOf(t, DOCUMENT)
  for (const id of [
    'acme/none',
    'Acme/Embed:none',
    'Acme/Embed:',
    'Acme',
    'Acme/',
    '',
    '__proto__',
    'constructor',
  ]) {
    t.equal(catalogue.resolve(id), null, id)
  }
})

t.test('an endpoint has its provider, its facts and its price in whole nano-USD', async (t) => {
  t.match(catalogueOf(t, DOCUMENT).models[0]?.endpoints, [
    {
      tag: 'near/embed-1',
      provider: { baseUrl: 'https://near.example/v1', name: 'Near', timeoutMs: 30_000, rename: {} },
      prices: { promptNanoPerMillion: 20_000_000, requestNano: 1_000_000 },
      isZdr: null,
      mayTrain: null,
    },
    {
      tag: 'far/embed-x',
      provider: { name: 'far', apiKeyEnv: null, timeoutMs: 5_000, rename: { dimensions: 'size' } },
      prices: { promptNanoPerMillion: 50_000_000, requestNano: 0 },
      isZdr: true,
      mayTrain: false,
    },
  ])
})

t.test(
  'the price of a model applies to each of its endpoints; without it, each endpoint needs its own',
  async (t) => {
    const bare = { provider: 'far', upstream_model: 'x' }
    const architecture = { output_modalities: ['embeddings'] }
    const model = (more: object) =>
      catalogueOf(t, { providers: PROVIDERS, models: [{ id: 'a/b', name: 'B', architecture, ...more }] })
        .models[0]
    t.match(model({ endpoints: [NEAR, bare] }), {
      isUnpriced: false,
      endpoints: [{ isUnpriced: false }, { isUnpriced: true }],
    })
    t.match(model({ pricing: { prompt: '0' }, endpoints: [bare] }), {
      isUnpriced: false,
      endpoints: [{ isUnpriced: false }],
    })
    t.match(model({ endpoints: [bare] }), { isUnpriced: true, endpoints: [{ isUnpriced: true }] })
  },
)

t.test('an endpoint that is neither free nor priced for embeddings is unpriced', async (t) => {
  const bare = { provider: 'far', upstream_model: 'x' }
  const model = (more: object) => {
    const architecture = { output_modalities: ['embeddings'] }
    return catalogueOf(t, {
      providers: PROVIDERS,
      models: [{ id: 'a/b', name: 'B', architecture, ...more }],
    }).resolve('a/b:v')
  }
  const unpriced = (more: object, variant: object = {}) =>
    model({ variants: [{ suffix: 'v', ...variant }], ...more })?.endpoints.map((one) => one.isUnpriced)
  t.same(unpriced({ endpoints: [{ ...bare, free: true }] }), [false])
  t.same(unpriced({ free: true, endpoints: [bare, { ...bare, upstream_model: 'y', free: false }] }), [
    false,
    true,
  ])
  t.same(unpriced({ endpoints: [bare] }, { free: true }), [false], 'a variant that is free')
  t.same(
    unpriced({ endpoints: [{ ...bare, free: true }] }, { pricing: { image: '1' } }),
    [true],
    'a variant that is not',
  )
  t.same(unpriced({ endpoints: [{ ...bare, pricing: { completion: '0.1' } }] }), [true])
  t.same(unpriced({ endpoints: [{ ...bare, pricing: { request: '0.1' } }] }), [false])
})

t.test('callable endpoints without a price are listed by model, variant and provider', async (t) => {
  const file = catalogueFile(t, {
    replace: true,
    providers: PROVIDERS,
    models: [
      {
        id: 'a/b',
        name: 'B',
        architecture: { output_modalities: ['embeddings'] },
        endpoints: [{ provider: 'far', upstream_model: 'x' }],
        variants: ['same', { suffix: 'paid', pricing: { prompt: '1' } }],
      },
      { id: 'a/chat', name: 'C', endpoints: [{ provider: 'far', upstream_model: 'x' }] },
    ],
  })
  const loaded = loadCatalogue({ shippedFile: SHIPPED_CATALOGUE, extraFile: file })
  t.same(loaded.ok && loaded.unpriced, [
    { model: 'a/b', provider: 'far' },
    { model: 'a/b:same', provider: 'far' },
  ])
})

t.test('reports `free` next to a price as a mistake, with its path', async (t) => {
  const both = { provider: 'far', upstream_model: 'x', free: true, pricing: { prompt: '1' } }
  const model = { id: 'a/b', name: 'B', free: true, pricing: { prompt: '1' }, endpoints: [both] }
  const file = catalogueFile(t, { replace: true, providers: PROVIDERS, models: [model] })
  const loaded = loadCatalogue({ shippedFile: SHIPPED_CATALOGUE, extraFile: file })
  t.same(loaded.ok ? [] : loaded.problems.map(({ path }) => path), [
    '/models/0/free',
    '/models/0/endpoints/0/free',
  ])
})

t.test('a model with only an id and a name has every default', async (t) => {
  const bare = catalogueOf(t, DOCUMENT).resolve('acme/bare')
  t.match(bare, {
    isEmbedding: false,
    isUnpriced: true,
    contextLength: null,
    inputModalities: ['text'],
    endpoints: [],
  })
  t.same(bare?.wire, {
    id: 'acme/bare',
    canonical_slug: 'acme/bare',
    name: 'Bare',
    created: 0,
    context_length: null,
    architecture: {
      modality: 'text->text',
      input_modalities: ['text'],
      output_modalities: ['text'],
      instruct_type: null,
    },
    pricing: { prompt: '0', completion: '0', request: '0', image: '0' },
    top_provider: { is_moderated: false, context_length: null, max_completion_tokens: null },
    supported_parameters: [],
    supported_voices: null,
    default_parameters: null,
    per_request_limits: null,
    expiration_date: null,
    knowledge_cutoff: null,
    links: { details: '/api/v1/models/acme/bare/endpoints' },
  })
})

t.test('a second file replaces entries of the same id or slug in place, and adds the others', async (t) => {
  const extra = {
    providers: [{ slug: 'near', protocol: 'openai', base_url: 'http://127.0.0.1:1/v1' }],
    models: [
      { id: 'acme/EMBED', name: 'Mine', aliases: ['embed'], endpoints: [NEAR] },
      { id: 'mine/new', name: 'New' },
    ],
  }
  const catalogue = catalogueOf(t, DOCUMENT, { extra })
  t.same(
    catalogue.models.map((model) => model.id),
    ['acme/EMBED', 'acme/bare', 'mine/new'],
  )
  t.same(
    catalogue.providers.map((provider) => provider.baseUrl),
    ['http://127.0.0.1:1/v1', 'https://far.example/v2'],
  )
  t.equal(catalogue.resolve('embed')?.wire.name, 'Mine')
  t.equal(catalogue.resolve('acme/e'), null, 'the aliases of a replaced model are gone')
})

t.test('a second file with `replace` removes all entries of the first', async (t) => {
  const catalogue = catalogueOf(t, DOCUMENT, {
    extra: { replace: true, models: [{ id: 'mine/new', name: 'New' }] },
  })
  t.same(
    catalogue.models.map((model) => model.id),
    ['mine/new'],
  )
  t.same(catalogue.providers, [])
})

t.test('a body is rendered once, and reading it again gives the same bytes object', async (t) => {
  const model = catalogueOf(t, DOCUMENT).models[0]
  t.equal(model?.bodies.answer, model?.bodies.answer)
  t.equal(model?.bodies.item, model?.bodies.item)
  t.equal(model?.bodies.endpoints, model?.bodies.endpoints)
})

t.test('a resolved id is looked up only: the same object is returned every time', async (t) => {
  const catalogue = catalogueOf(t, DOCUMENT)
  for (const id of ['Acme/Embed', 'Acme/Embed:free', 'embed', 'embed:free'])
    t.equal(catalogue.resolve(id), catalogue.resolve(id))
})

t.test('providers are available before the models are indexed, and the index is made once', async (t) => {
  const models = [{ id: 'a/b', name: 'B', endpoints: [{ provider: 'p', upstream_model: 'b' }] }]
  const loaded = loadFiles(t, { providers: [{ slug: 'p', protocol: 'local' }], models })
  if (!loaded.ok) throw new Error('the catalogue was refused')
  t.same(
    loaded.providers.map(({ slug }) => slug),
    ['p'],
  )
  t.equal(loaded.catalogue, loaded.catalogue)
  t.equal(loaded.catalogue.resolve('a/b')?.endpoints[0]?.provider, loaded.providers[0])
})

const DAY_MS = 86_400_000

/** What has been walked over, model by model, is counted at the author of each: `a0`, `a1`, `a2` in turn. */
function modelsOf(count: number): { readonly models: Selectable; readonly walked: () => number } {
  let walked = 0
  const all = Array.from(
    { length: count },
    (_, at) =>
      ({
        model: { id: `a/${at}` },
        promptNano: at,
        completionNano: 0,
        createdMs: DAY_MS * (at + 1),
        get author() {
          walked += 1
          return `a${at % 3}`
        },
      }) as unknown as Listed,
  )
  return { models: { all, words: new WordSearch(all.map((_, at) => `model ${at}`)) }, walked: () => walked }
}

t.test('the same filter reads the catalogue once, and a different filter reads it again', async (t) => {
  const { models, walked } = modelsOf(20)
  const selections = new Selections(models, () => 0)
  const first = selections.of({ authors: ['a1'], sort: 'pricing-low-to-high' })
  t.equal(selections.of({ authors: ['a1'], sort: 'pricing-low-to-high' }), first)
  t.equal(walked(), 20)
  t.same(selections.of({ authors: ['a1'], sort: 'pricing-high-to-low' }), [...first].reverse())
  t.same(
    selections.of({ words: ['2'] }).map(({ id }) => id),
    ['a/2', 'a/12'],
  )
  t.equal(walked(), 40)
})

t.test('a filter by age selects different models as time passes', async (t) => {
  let now = 0
  const selections = new Selections(modelsOf(3).models, () => now)
  const old = (): number => selections.of({ ageDaysMin: 1 }).length
  t.equal(old(), 0)
  now = 3 * DAY_MS
  t.equal(old(), 2)
  now = 9 * DAY_MS
  t.equal(old(), 3)
  const young = (): number => selections.of({ ageDaysMax: 7 }).length
  t.equal(young(), 2)
  now = 99 * DAY_MS
  t.equal(young(), 0)
})

t.test('new filters evict the oldest results', async (t) => {
  const { models, walked } = modelsOf(2)
  const selections = new Selections(models, () => 0)
  for (let at = 0; at <= MODEL_SELECTIONS_CACHED_MAX; at++) selections.of({ authors: [`${at}`] })
  const before = walked()
  selections.of({ authors: [`${MODEL_SELECTIONS_CACHED_MAX}`] })
  t.equal(walked(), before)
  selections.of({ authors: ['0'] })
  t.equal(walked(), before + 2)
})

t.test('cached results are limited by the total number of models in them', async (t) => {
  const { models } = modelsOf(1_000)
  const selections = new Selections(models, () => 0)
  const first = selections.of({ promptPriceMin: 0 })
  const kept = Math.floor(MODELS_SELECTED_CACHED_MAX / 1_001)
  for (let at = 1; at < kept; at++)
    selections.of({ promptPriceMin: 0, contextMin: undefined, promptPriceMax: 1_000 + at })
  t.equal(selections.of({ promptPriceMin: 0 }), first)
  for (let at = 0; at < kept; at++) selections.of({ promptPriceMin: 0, promptPriceMax: 9_000 + at })
  t.not(selections.of({ promptPriceMin: 0 }), first)
})
