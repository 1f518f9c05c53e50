import { Value } from 'typebox/value'
import t from 'tap'
import { ModelAnswer, ModelEndpointsAnswer } from '../../../src/schemas/models.ts'
import { loadCatalogue } from '../../../src/server/catalogue/load.ts'
import { SHIPPED_CATALOGUE } from '../../../src/server/catalogue/shipped.ts'
import type { ModelCatalogue } from '../../../src/server/ports/models.ts'

function shipped(): ModelCatalogue {
  const loaded = loadCatalogue({ shippedFile: SHIPPED_CATALOGUE, extraFile: null })
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems, null, 2))
  return loaded.catalogue
}

t.test('the shipped catalogue passes its own check and has at least forty models', async (t) => {
  t.ok(shipped().models.length >= 40)
})

t.test('it has embedding models of every provider, and the local one without a key', async (t) => {
  const served = shipped().models.filter((model) => model.isEmbedding).flatMap((model) => model.endpoints)
  t.same([...new Set(served.map((endpoint) => endpoint.provider.slug))].sort(),
    ['cohere', 'google', 'local', 'mistral', 'openai', 'voyage'])
  t.same(shipped().providers.filter((provider) => provider.apiKeyEnv === null).map((provider) => provider.slug), ['local'])
})

t.test('every embedding endpoint has a price, and only the local model is unpriced', async (t) => {
  const { models } = shipped()
  const free = models.filter((model) => model.endpoints.some((endpoint) => endpoint.promptNanoPerMillion === 0))
  t.same(free.map((model) => model.id), ['sluice/lexical-1'])
  t.ok(free[0]?.isUnpriced)
  t.match(free[0]?.wire.description, /lexical, not semantic/)
})

t.test('the names that OpenAI clients use for its models resolve', async (t) => {
  for (const name of ['text-embedding-3-small', 'text-embedding-3-large', 'text-embedding-ada-002']) {
    t.equal(shipped().resolve(name)?.id, `openai/${name}`)
  }
})

t.test('every body validates against the wire shapes', async (t) => {
  for (const model of shipped().models) {
    t.ok(Value.Check(ModelAnswer, parsed(model.bodies.answer)), model.id)
    t.ok(Value.Check(ModelEndpointsAnswer, parsed(model.bodies.endpoints)), model.id)
  }
})

t.test('a provider that spells dimensions in its own way says so', async (t) => {
  const renaming = shipped().providers.filter((provider) => 'dimensions' in provider.rename)
  t.same(renaming.map((provider) => [provider.slug, provider.rename['dimensions']]),
    [['mistral', 'output_dimension'], ['voyage', 'output_dimension']])
  t.equal(renaming[1]?.rename['input_type=search_query'], 'query')
})

function parsed(body: Uint8Array): unknown {
  return JSON.parse(Buffer.from(body).toString())
}
