import { Value } from 'typebox/value'
import t from 'tap'
import { FREE_VIDEO } from '../../../src/server/catalogue/build-video.ts'
import {
  CLIP_ASPECT_RATIOS,
  CLIP_DURATIONS,
  CLIP_RESOLUTIONS,
  CLIP_SIZES,
} from '../../../src/schemas/videos/clip.ts'
import { ModelAnswer, ModelEndpointsAnswer } from '../../../src/schemas/models/models.ts'
import { VideoModel } from '../../../src/schemas/videos/video-models.ts'
import { videoCostNano } from '../../../src/schemas/videos/video-prices.ts'
import { loadCatalogue } from '../../../src/server/catalogue/load.ts'
import { SHIPPED_CATALOGUE } from '../../../src/server/catalogue/shipped.ts'
import type { ModelCatalogue } from '../../../src/server/ports/models/models.ts'

function shipped(): ModelCatalogue {
  const loaded = loadCatalogue({ shippedFile: SHIPPED_CATALOGUE, extraFile: null })
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems, null, 2))
  return loaded.catalogue
}

t.test('the shipped catalogue passes its own check and has at least 40 models', async (t) => {
  t.ok(shipped().models.length >= 40)
})

t.test('has embedding models of every provider, and the local one without a key', async (t) => {
  const served = shipped()
    .models.filter((model) => model.isEmbedding)
    .flatMap((model) => model.endpoints)
  t.same([...new Set(served.map((endpoint) => endpoint.provider.slug))].sort(), [
    'cohere',
    'google',
    'local',
    'mistral',
    'openai',
    'voyage',
  ])
  t.same(
    shipped()
      .providers.filter((provider) => provider.apiKeyEnv === null)
      .map((provider) => provider.slug),
    ['local'],
  )
})

t.test('every endpoint that makes no video has a price, and only the local models are free', async (t) => {
  const models = shipped().models.filter((model) => model.video === null)
  const free = models.filter((model) =>
    model.endpoints.some(({ prices }) => prices.promptNanoPerMillion === 0),
  )
  t.same(
    free.map((model) => model.id),
    ['sluice/lexical-1', 'sluice/echo-1'],
  )
  t.equal(
    models.some((model) => model.endpoints.some((endpoint) => endpoint.isUnpriced)),
    false,
  )
  t.match(free[0]?.wire.description, /lexical, not semantic/)
})

t.test('every endpoint that makes video has a price, and only the local model is free', async (t) => {
  const models = shipped().models.filter((model) => model.video !== null)
  t.same(
    models
      .filter((model) => model.endpoints.some((endpoint) => endpoint.isUnpriced))
      .map((model) => model.id),
    [],
  )
  t.match(shipped().resolve('clip-1'), {
    isUnpriced: false,
    endpoints: [{ provider: { protocol: 'local' }, video: { pricing: FREE_VIDEO } }],
  })
})

t.test('text models state their protocols, and, except local and mistral, a maximum output', async (t) => {
  const offers = shipped()
    .models.filter((model) => model.isWriter)
    .flatMap((model) => model.endpoints)
  const spoken = new Map(offers.map(({ provider, text }) => [provider.slug, text?.speaks]))
  t.same(Object.fromEntries(spoken), {
    local: [],
    openai: ['chat', 'responses'],
    anthropic: ['messages'],
    // Its OpenAI-compatible address is known to refuse `stream_options`.
    cohere: [],
    google: ['gemini'],
    mistral: ['chat'],
  })
  const open = offers.filter(({ text }) => text?.maxCompletionTokens === null)
  t.same([...new Set(open.map(({ provider }) => provider.slug))], ['local', 'mistral'])
  const strict = shipped().providers.filter(({ text }) => text?.isStrict)
  t.same(
    strict.map(({ slug }) => slug),
    ['openai', 'mistral'],
  )
  const drained = shipped().providers.filter(({ text }) => text?.onLeave === 'drain')
  t.same(
    drained.map(({ slug }) => slug),
    ['google', 'mistral'],
  )
})

t.test('models of Anthropic also have their own names, with cache prices', async (t) => {
  const models = shipped().models.filter(({ id }) => id.startsWith('anthropic/'))
  t.equal(models.length, 12)
  for (const { id, endpoints, wire } of models) {
    const [endpoint] = endpoints
    t.equal(shipped().resolve(endpoint?.upstreamModel ?? '')?.id, id)
    const {
      prompt,
      input_cache_read: read,
      input_cache_write: write,
      input_cache_write_1h: hour,
    } = wire.pricing
    t.ok(Number(read) <= Number(prompt) / 10 + Number.EPSILON, `${id} reads`)
    t.equal(Number(write).toFixed(12), (Number(prompt) * 1.25).toFixed(12), `${id} writes`)
    t.equal(Number(hour).toFixed(12), (Number(prompt) * 2).toFixed(12), `${id} writes for an hour`)
    const { prices } = endpoint ?? {}
    t.equal(prices?.inputNanoPerMillionMax, 2 * (prices?.promptNanoPerMillion ?? 0))
  }
  t.equal(shipped().resolve('claude-haiku-4-5')?.id, 'anthropic/claude-haiku-4.5')
})

/** Models of OpenAI whose long prompts cost more. */
const LONG = [
  ...['gpt-6-astra', 'gpt-6-sol', 'gpt-6-luna'],
  ...['gpt-5.6-sol', 'gpt-5.6-terra', 'gpt-5.6-luna', 'gpt-5.5', 'gpt-5.4'],
]

t.test('long prompts cost twice as much, and their answers 50 % more', async (t) => {
  const dearer = shipped().models.filter(({ wire }) => wire.pricing.overrides !== undefined)
  t.same(
    dearer.map(({ id }) => id),
    [...LONG.map((name) => `openai/${name}`), 'google/gemini-2.5-pro'],
  )
  for (const { id, wire } of dearer) {
    const { prompt, completion, input_cache_read: read, overrides = [] } = wire.pricing
    const [long] = overrides
    t.equal(overrides.length, 1, id)
    t.equal(long?.min_prompt_tokens, id.startsWith('google/') ? 200_000 : 272_000, id)
    t.equal(Number(long?.prompt).toFixed(12), (Number(prompt) * 2).toFixed(12), id)
    t.equal(Number(long?.completion).toFixed(12), (Number(completion) * 1.5).toFixed(12), id)
    t.equal(Number(long?.input_cache_read).toFixed(12), (Number(read) * 2).toFixed(12), id)
  }
})

t.test('web searches are priced if all search tools of the vendor have the same price', async (t) => {
  const priced = shipped()
    .models.flatMap(({ endpoints }) => endpoints)
    .filter(({ prices }) => prices.isSearchPriced)
  t.same([...new Set(priced.map(({ prices }) => prices.searchNano))], [10_000_000])
  t.same(
    priced.flatMap(({ provider, upstreamModel }) => (provider.slug === 'openai' ? [upstreamModel] : [])),
    [...LONG, 'gpt-5.2', 'gpt-5.1', 'gpt-5', 'gpt-5-mini', 'gpt-5-nano', 'o3', 'o4-mini'],
  )
  t.equal(priced.filter(({ provider }) => provider.slug === 'anthropic').length, 12)
  t.ok(
    priced.every(({ contextLength }) => contextLength !== null),
    'whose context bounds the steps',
  )
})

t.test('sluice/clip-1 advertises exactly the features of the renderer', async (t) => {
  const video = shipped().resolve('sluice/clip-1')?.video
  t.same(
    [video?.durations, video?.resolutions, video?.aspectRatios],
    [CLIP_DURATIONS, CLIP_RESOLUTIONS, CLIP_ASPECT_RATIOS],
  )
  t.same([...(video?.sizes ?? [])].sort(), [...CLIP_SIZES].sort())
  t.match(video, {
    frameImages: ['first_frame', 'last_frame'],
    takesSeed: true,
    generatesAudio: false,
    isPromptOptional: true,
  })
})

t.test('videos have the list prices of their providers', async (t) => {
  const cost = (id: string, seconds: number, resolution: string) => {
    const pricing = shipped().resolve(id)?.endpoints[0]?.video?.pricing ?? null
    return pricing === null
      ? null
      : videoCostNano(pricing, { seconds, resolution, hasAudio: true }) / 1_000_000_000
  }
  t.same(
    ['720p', '1080p', '4K'].map((resolution) => cost('google/veo-3.1', 8, resolution)),
    [3.2, 3.2, 4.8],
  )
  t.same(
    ['720p', '1080p', '4K'].map((resolution) => cost('google/veo-3.1-fast', 8, resolution)),
    [0.8, 0.96, 2.4],
  )
  t.same(
    ['720p', '1080p'].map((resolution) => cost('google/veo-3.1-lite', 4, resolution)),
    [0.2, 0.32],
  )
})

t.test('a model that its provider has shut down has its end date, and no endpoint', async (t) => {
  for (const id of [
    'openai/sora-2',
    'openai/sora-2-pro',
    'google/veo-3',
    'google/veo-2',
    'google/text-embedding-004',
  ]) {
    t.match(
      shipped().resolve(id),
      { endpoints: [], wire: { expiration_date: /^2026-/, description: /shut .*down/ } },
      id,
    )
  }
})

t.test('the model names that OpenAI clients use resolve', async (t) => {
  for (const name of ['text-embedding-3-small', 'text-embedding-3-large', 'text-embedding-ada-002']) {
    t.equal(shipped().resolve(name)?.id, `openai/${name}`)
  }
})

t.test('every body validates against the wire shapes', async (t) => {
  for (const model of shipped().models) {
    t.ok(Value.Check(ModelAnswer, parsed(model.bodies.answer)), model.id)
    t.ok(Value.Check(ModelEndpointsAnswer, parsed(model.bodies.endpoints)), model.id)
    if (model.bodies.video !== null) t.ok(Value.Check(VideoModel, parsed(model.bodies.video)), model.id)
  }
})

t.test('a provider that uses another name for dimensions is configured with that name', async (t) => {
  const renaming = shipped().providers.filter((provider) => 'dimensions' in provider.rename)
  t.same(
    renaming.map((provider) => [provider.slug, provider.rename['dimensions']]),
    [
      ['mistral', 'output_dimension'],
      ['voyage', 'output_dimension'],
    ],
  )
  t.equal(renaming[1]?.rename['input_type=search_query'], 'query')
})

function parsed(body: Uint8Array): unknown {
  return JSON.parse(Buffer.from(body).toString())
}
