import fc from 'fast-check'
import t from 'tap'
import type { ModelFilter } from '../../../src/server/ports/models/models.ts'
import { WordSearch } from '../../../src/server/catalogue/select.ts'
import { catalogueOf } from '../../support/models/catalogue.ts'

const words = fc.array(fc.string({ unit: fc.constantFrom('a', 'b', 'é', '😀'), maxLength: 3 }), {
  minLength: 1,
  maxLength: 3,
})

const DAY_S = 86_400
const NOW_S = 1_000 * DAY_S
const PROVIDERS = ['p', 'q'].map((slug) => ({ slug, protocol: 'local' }))

/** A catalogue entry with every fact that a filter reads, each of them sometimes absent. */
interface Written {
  name: string
  author: string
  description?: string
  categories?: string[]
  tokenizer?: string
  inputs: string[]
  outputs: string[]
  parameters?: string[]
  context?: number
  createdDays?: number
  prompt?: number
  completion?: number
  intelligence?: number
  endpoints: { provider: string; zdr?: boolean; distillable?: boolean; regions?: string[] }[]
}

const some = <T>(...values: readonly [T, ...T[]]) =>
  fc.uniqueArray(fc.constantFrom(...values), { minLength: 1 })
const cents = fc.integer({ min: 0, max: 30 })
const WRITTEN: fc.Arbitrary<Written> = fc.record(
  {
    name: fc.constantFrom('Red Fox', 'Blue Fox', 'red owl'),
    author: fc.constantFrom('ann', 'bob'),
    description: fc.constantFrom('quick', 'slow Fox'),
    categories: some('code', 'law'),
    tokenizer: fc.constantFrom('GPT', 'Other'),
    inputs: some('text', 'image'),
    outputs: some('text', 'embeddings', 'image'),
    parameters: some('seed', 'tools'),
    context: fc.integer({ min: 0, max: 5 }),
    createdDays: fc.integer({ min: 1, max: 1_000 }),
    prompt: cents,
    completion: cents,
    intelligence: cents,
    endpoints: fc.uniqueArray(
      fc.record(
        {
          provider: fc.constantFrom('p', 'q'),
          zdr: fc.boolean(),
          distillable: fc.boolean(),
          regions: some('eu', 'us'),
        },
        { requiredKeys: ['provider'] },
      ),
      { selector: (endpoint) => endpoint.provider },
    ),
  },
  { requiredKeys: ['name', 'author', 'inputs', 'outputs', 'endpoints'] },
)

/** 0.03 USD per million tokens is 0.00000003 USD per token, written without a float. */
const perToken = (hundredths: number | undefined) =>
  hundredths === undefined ? undefined : `0.000000${String(hundredths).padStart(2, '0')}`

function document(models: readonly Written[]) {
  return {
    providers: PROVIDERS,
    models: models.map((model, at) => ({
      id: `${model.author}/m${at}`,
      name: model.name,
      description: model.description,
      categories: model.categories,
      created: model.createdDays === undefined ? undefined : model.createdDays * DAY_S,
      context_length: model.context,
      supported_parameters: model.parameters,
      architecture: {
        input_modalities: model.inputs,
        output_modalities: model.outputs,
        tokenizer: model.tokenizer,
      },
      pricing: { prompt: perToken(model.prompt), completion: perToken(model.completion) },
      benchmarks: { intelligence_index: model.intelligence },
      endpoints: model.endpoints.map((endpoint) => ({ ...endpoint, upstream_model: 'm' })),
    })),
  }
}

type Naive<K extends keyof ModelFilter> = {
  readonly ask: fc.Arbitrary<NonNullable<ModelFilter[K]>>
  readonly keeps: (model: Written, wanted: NonNullable<ModelFilter[K]>) => boolean
}

/**
 * What each filter means, said as plainly as can be, over the file instead of over what was built from it.
 */
const NAIVE: { readonly [K in keyof ModelFilter]?: Naive<K> } = {
  words: {
    ask: some('red', 'fox', 'quick'),
    keeps: (model, words) =>
      words.every((word) => `${model.name} ${model.description ?? ''}`.toLowerCase().includes(word)),
  },
  categories: {
    ask: some('code', 'law', 'none'),
    keeps: (model, wanted) => wanted.some((name) => model.categories?.includes(name)),
  },
  architectures: {
    ask: some('gpt', 'other'),
    keeps: (model, wanted) => wanted.some((name) => model.tokenizer?.toLowerCase() === name),
  },
  regions: {
    ask: some('eu', 'us', 'mars'),
    keeps: (model, wanted) =>
      model.endpoints.some((endpoint) => endpoint.regions?.some((region) => wanted.includes(region))),
  },
  inputModalities: {
    ask: some('text', 'image', 'audio'),
    keeps: (model, wanted) => wanted.every((name) => model.inputs.includes(name)),
  },
  outputModalities: {
    ask: some('text', 'embeddings'),
    keeps: (model, wanted) => wanted.some((name) => model.outputs.includes(name)),
  },
  supportedParameters: {
    ask: some('seed', 'tools'),
    keeps: (model, wanted) => wanted.every((name) => model.parameters?.includes(name)),
  },
  authors: { ask: some('ann', 'bob', 'eve'), keeps: (model, wanted) => wanted.includes(model.author) },
  providers: {
    ask: some('p', 'q', 'r'),
    keeps: (model, wanted) => model.endpoints.some((endpoint) => wanted.includes(endpoint.provider)),
  },
  contextMin: {
    ask: fc.integer({ min: 0, max: 6 }),
    keeps: (model, least) => model.context !== undefined && model.context >= least,
  },
  isZdr: {
    ask: fc.boolean(),
    keeps: (model, wanted) => model.endpoints.some((endpoint) => endpoint.zdr === wanted),
  },
  isDistillable: {
    ask: fc.boolean(),
    keeps: (model, wanted) => model.endpoints.some((endpoint) => endpoint.distillable === wanted),
  },
  promptPriceMin: {
    ask: cents.map(usd),
    keeps: (model, least) => (model.prompt ?? 0) >= Math.round(least * 100),
  },
  promptPriceMax: {
    ask: cents.map(usd),
    keeps: (model, most) => (model.prompt ?? 0) <= Math.round(most * 100),
  },
  completionPriceMin: {
    ask: cents.map(usd),
    keeps: (model, least) => (model.completion ?? 0) >= Math.round(least * 100),
  },
  completionPriceMax: {
    ask: cents.map(usd),
    keeps: (model, most) => (model.completion ?? 0) <= Math.round(most * 100),
  },
  ageDaysMin: {
    ask: fc.integer({ min: 0, max: 1_000 }),
    keeps: (model, days) => model.createdDays !== undefined && 1_000 - model.createdDays >= days,
  },
  ageDaysMax: {
    ask: fc.integer({ min: 0, max: 1_000 }),
    keeps: (model, days) => model.createdDays !== undefined && 1_000 - model.createdDays <= days,
  },
  intelligenceMin: {
    ask: cents,
    keeps: (model, least) => model.intelligence !== undefined && model.intelligence >= least,
  },
}

/** The smallest prices in use: 0.07 USD per million is not an exact float, and must match all the same. */
function usd(hundredths: number): number {
  return hundredths / 100
}

for (const [name, naive] of Object.entries(NAIVE) as [keyof ModelFilter, Naive<keyof ModelFilter>][]) {
  t.test(`the filter ${name} selects the same models as a simple scan of the file`, async (t) => {
    fc.assert(
      fc.property(fc.array(WRITTEN, { maxLength: 8 }), naive.ask, (models, wanted) => {
        const found = catalogueOf(t, document(models), { now: NOW_S * 1_000 }).select({ [name]: wanted })
        const kept = models.flatMap((model, at) =>
          naive.keeps(model, wanted) ? [`${model.author}/m${at}`] : [],
        )
        t.same(
          found.map((model) => model.id),
          kept,
        )
      }),
      { numRuns: 40 },
    )
  })
}

t.test('several filters together select the models that each of them selects', async (t) => {
  const filter = { authors: ['ann'], outputModalities: ['text'], promptPriceMax: 0.1 }
  fc.assert(
    fc.property(fc.array(WRITTEN, { maxLength: 8 }), (models) => {
      const catalogue = catalogueOf(t, document(models))
      const each = Object.entries(filter).map(
        ([name, wanted]) => new Set(catalogue.select({ [name]: wanted })),
      )
      t.same(
        catalogue.select(filter),
        catalogue.models.filter((model) => each.every((found) => found.has(model))),
      )
    }),
    { numRuns: 40 },
  )
})

t.test('a filter on a fact that no model has selects nothing', async (t) => {
  const catalogue = catalogueOf(
    t,
    document([{ name: 'x', author: 'ann', inputs: ['text'], outputs: ['text'], endpoints: [] }]),
  )
  const unknown: readonly ModelFilter[] = [
    { isZdr: true },
    { isZdr: false },
    { isDistillable: false },
    { regions: ['eu'] },
    { categories: ['code'] },
    { contextMin: 0 },
    { ageDaysMin: 0 },
    { ageDaysMax: 10_000 },
    { codingMin: 0 },
    { agenticMin: 0 },
    { toolSuccessMin: 0 },
    { architectures: ['gpt'] },
  ]
  for (const filter of unknown) t.same(catalogue.select(filter), [], JSON.stringify(filter))
})

t.test(
  'each sort orders by its fact, with models without it last, and otherwise keeps the catalogue order',
  async (t) => {
    const base = { inputs: ['text'], outputs: ['text'], endpoints: [] }
    const catalogue = catalogueOf(
      t,
      document([
        { ...base, name: '0', author: 'ann' },
        { ...base, name: '1', author: 'ann', createdDays: 5, prompt: 3, context: 1, intelligence: 1 },
        { ...base, name: '2', author: 'ann', createdDays: 9, prompt: 1, context: 3, intelligence: 2 },
        {
          ...base,
          name: '3',
          author: 'ann',
          createdDays: 9,
          prompt: 1,
          completion: 1,
          context: 3,
          intelligence: 2,
        },
      ]),
    )
    const sorted = (sort: NonNullable<ModelFilter['sort']>) =>
      catalogue
        .select({ sort })
        .map((model) => model.wire.name)
        .join('')
    t.equal(sorted('newest'), '2310')
    t.equal(sorted('pricing-low-to-high'), '0231')
    t.equal(sorted('pricing-high-to-low'), '1320')
    t.equal(sorted('context-high-to-low'), '2310')
    t.equal(sorted('intelligence-high-to-low'), '2310')
    for (const unmeasured of [
      'most-popular',
      'top-weekly',
      'throughput-high-to-low',
      'latency-low-to-high',
    ] as const) {
      t.equal(sorted(unmeasured), '0123', unmeasured)
    }
  },
)

const LETTERS = fc.constantFrom('a', 'b', 'é', '😀', ' ', '\n')
const texts = fc.array(fc.string({ unit: LETTERS, maxLength: 8 }), { maxLength: 12 })

t.test('finds the same texts with every word as a search through each text', async (t) => {
  fc.assert(
    fc.property(texts, words, (all, wanted) => {
      const has = all.flatMap((text, at) => (wanted.every((word) => text.includes(word)) ? [at] : []))
      t.same(new WordSearch(all).find(wanted), has)
    }),
    { numRuns: 300 },
  )
})

t.test('a word does not match across two texts, and an empty word matches every text', async (t) => {
  const search = new WordSearch(['ab', '', 'cd'])
  t.same(search.find(['bc']), [])
  t.same(search.find(['']), [0, 1, 2])
  t.same(new WordSearch([]).find(['']), [])
})
