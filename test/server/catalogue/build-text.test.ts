/** How the catalogue says that models that write are called, and what they cost. */
import t from 'tap'
import { FIRST_OUTPUT_MS_DEFAULT, STALL_MS_DEFAULT } from '../../../src/schemas/models/provider-limits.ts'
import type { EndpointPrices } from '../../../src/schemas/money/price-at.ts'
import type { EndpointText } from '../../../src/server/ports/models/models.ts'
import { buildProviderText } from '../../../src/server/catalogue/build-text.ts'
import { catalogueOf, loadFiles } from '../../support/models/catalogue.ts'

type Test = Parameters<typeof catalogueOf>[0]

const NEAR = { slug: 'near', protocol: 'openai', base_url: 'https://near.example/v1' }
const OFFER = { provider: 'near', upstream_model: 'm' }
const TIMES = { firstOutputMs: FIRST_OUTPUT_MS_DEFAULT, stallMs: STALL_MS_DEFAULT }

function textOf(
  t: Test,
  offer: object,
  more: { model?: object; provider?: object } = {},
): EndpointText | null {
  const models = [{ id: 'a/b', name: 'B', ...more.model, endpoints: [{ ...OFFER, ...offer }] }]
  const [model] = catalogueOf(t, { providers: [{ ...NEAR, ...more.provider }], models }).models
  return model?.endpoints[0]?.text ?? null
}

function pricesOf(t: Test, offer: object): EndpointPrices {
  const models = [{ id: 'a/b', name: 'B', endpoints: [{ ...OFFER, ...offer }] }]
  const [endpoint] = catalogueOf(t, { providers: [NEAR], models }).models[0]?.endpoints ?? []
  if (endpoint === undefined) throw new Error('no endpoint')
  return endpoint.prices
}

/** Whether the endpoints of a model that writes are unpriced. */
function unpricedOf(t: Test, pricing: object | undefined, more: object = {}): boolean | undefined {
  const models = [{ id: 'a/b', name: 'B', ...more, endpoints: [{ ...OFFER, ...(pricing && { pricing }) }] }]
  return catalogueOf(t, { providers: [NEAR], models }).models[0]?.endpoints[0]?.isUnpriced
}

t.test('a provider without text settings has the defaults of its protocol and slug', async (t) => {
  const of = (slug: string, protocol: 'openai' | 'anthropic' | 'google' | 'cohere' | 'local') =>
    buildProviderText({ slug, protocol })
  t.same(of('mine', 'openai'), { speaks: ['chat'], isStrict: false, onLeave: 'cancel', ...TIMES })
  t.same(of('openai', 'openai'), {
    speaks: ['chat', 'responses'],
    isStrict: true,
    onLeave: 'cancel',
    ...TIMES,
  })
  t.match(of('mistral', 'openai'), { speaks: ['chat'], isStrict: true })
  t.match(of('anthropic', 'anthropic'), { speaks: ['messages'], isStrict: false, onLeave: 'cancel' })
  t.match(of('google', 'google'), { speaks: ['gemini'], onLeave: 'drain' })
  t.match(of('cohere', 'cohere'), { speaks: [] })
  t.match(of('local', 'local'), { speaks: [], onLeave: 'cancel' })
})

t.test('the settings of a provider apply to its endpoints, unless an endpoint has its own', async (t) => {
  const output = {
    speaks: ['messages', 'chat'],
    strict: true,
    on_leave: 'drain',
    first_output_ms: 7,
    stall_ms: 9,
  }
  const built = {
    speaks: ['messages', 'chat'],
    isStrict: true,
    onLeave: 'drain',
    firstOutputMs: 7,
    stallMs: 9,
  }
  t.match(textOf(t, {}, { provider: output }), built)
  t.match(textOf(t, { speaks: ['chat'] }, { provider: output }), { ...built, speaks: ['chat'] })
  t.same(textOf(t, { speaks: [] }, { provider: output })?.speaks, [])
  t.match(textOf(t, {}, { provider: { slug: 'near', strict: false } }), { isStrict: false })
  t.match(buildProviderText({ slug: 'openai', protocol: 'openai', strict: false }), { isStrict: false })
})

t.test('missing cache prices equal the prompt price, missing reasoning the completion price', async (t) => {
  t.match(pricesOf(t, { pricing: { prompt: '0.000003', completion: '0.000015' } }), {
    completionNanoPerMillion: 15_000_000_000,
    cacheReadNanoPerMillion: 3_000_000_000,
    cacheWriteNanoPerMillion: 3_000_000_000,
    cacheWriteHourNanoPerMillion: 3_000_000_000,
    reasoningNanoPerMillion: 15_000_000_000,
    inputNanoPerMillionMax: 3_000_000_000,
    outputNanoPerMillionMax: 15_000_000_000,
  })
  const cached = { input_cache_read: '0', input_cache_write: '0.00000375', internal_reasoning: '0.00002' }
  t.match(pricesOf(t, { pricing: { prompt: '0.000003', completion: '0.000015', ...cached } }), {
    cacheReadNanoPerMillion: 0,
    cacheWriteNanoPerMillion: 3_750_000_000,
    cacheWriteHourNanoPerMillion: 3_750_000_000,
    reasoningNanoPerMillion: 20_000_000_000,
    inputNanoPerMillionMax: 3_750_000_000,
    outputNanoPerMillionMax: 20_000_000_000,
  })
})

t.test('the dearest input or output price is the price of the dearest kind of token', async (t) => {
  const plain = { prompt: '0.000001', completion: '0.000002' }
  for (const [name, member] of [
    ['input_cache_write_1h', 'cacheWriteHourNanoPerMillion'],
    ['input_cache_write_1h', 'inputNanoPerMillionMax'],
    ['audio', 'inputNanoPerMillionMax'],
    ['input_audio_cache', 'inputNanoPerMillionMax'],
    ['image_token', 'inputNanoPerMillionMax'],
    ['audio_output', 'outputNanoPerMillionMax'],
  ] as const) {
    t.equal(pricesOf(t, { pricing: { ...plain, [name]: '0.000009' } })[member], 9_000_000_000, name)
  }
})

t.test('audio and pictures have their own prices, and a missing one equals the text price', async (t) => {
  const plain = { prompt: '0.000001', completion: '0.000002', input_cache_read: '0.0000001' }
  t.equal(pricesOf(t, { pricing: plain }).media, undefined)
  t.same(pricesOf(t, { pricing: { ...plain, audio: '0.000003' } }).media, {
    ...{ audio: 3_000_000_000, image: 1_000_000_000, audioRead: 100_000_000 },
    audioOutput: 2_000_000_000,
  })
  const all = {
    ...{ image_token: '0.000004', input_audio_cache: '0.000005' },
    audio_output: '0.000006',
  }
  t.same(pricesOf(t, { pricing: { ...plain, ...all } }).media, {
    ...{ audio: 1_000_000_000, image: 4_000_000_000, audioRead: 5_000_000_000 },
    audioOutput: 6_000_000_000,
  })
})

t.test('a web search has its own price, or none if the catalogue has none', async (t) => {
  const plain = { prompt: '0.000001', completion: '0.000002' }
  t.equal(pricesOf(t, { pricing: { ...plain, web_search: '0.01' } }).searchNano, 10_000_000)
  t.equal(pricesOf(t, { pricing: { ...plain, web_search: '0' } }).isSearchPriced, true)
  t.equal(pricesOf(t, { pricing: plain }).isSearchPriced, false)
})

t.test('the longest answer is that of the endpoint, else of the model; 0 counts as unknown', async (t) => {
  const model = { top_provider: { max_completion_tokens: 8_000 } }
  t.equal(textOf(t, { max_completion_tokens: 4_000 }, { model })?.maxCompletionTokens, 4_000)
  t.equal(textOf(t, {}, { model })?.maxCompletionTokens, 8_000)
  t.equal(textOf(t, { max_completion_tokens: 0 }, { model })?.maxCompletionTokens, 8_000)
  t.equal(textOf(t, {})?.maxCompletionTokens, null)
})

t.test('endpoints of a model without text output have no text settings', async (t) => {
  for (const outputs of [['embeddings'], ['video']])
    t.equal(textOf(t, {}, { model: { architecture: { output_modalities: outputs } } }), null)
  t.ok(textOf(t, {}, { model: { architecture: { output_modalities: ['image', 'text'] } } }))
})

t.test('a text model needs both token prices, or a price per request', async (t) => {
  t.equal(unpricedOf(t, { prompt: '0.1' }), true)
  t.equal(unpricedOf(t, { prompt: '0' }), true)
  t.equal(unpricedOf(t, { prompt: '0.1', request: '1' }), true)
  t.equal(unpricedOf(t, { completion: '0.1' }), true)
  t.equal(unpricedOf(t, { completion: '0.1', request: '1' }), true)
  t.equal(unpricedOf(t, undefined), true)
  t.equal(unpricedOf(t, { image: '1' }), true)
  t.equal(unpricedOf(t, { request: '1' }), false)
  t.equal(unpricedOf(t, { prompt: '0.1', completion: '0.2' }), false)
  t.equal(unpricedOf(t, { prompt: '0', completion: '0' }), false)
  t.equal(unpricedOf(t, undefined, { free: true }), false)
})

t.test('a price of videos is not a price for the text that the same model writes', async (t) => {
  const skus = { video: { pricing_skus: { per_video: '1' } } }
  const outputs = (...output_modalities: readonly string[]) => ({
    architecture: { output_modalities },
    ...skus,
  })
  t.equal(unpricedOf(t, undefined, outputs('video')), false)
  t.equal(unpricedOf(t, undefined, outputs('video', 'text')), true)
  t.equal(unpricedOf(t, { prompt: '0.1' }, outputs('video', 'text')), true)
  t.equal(unpricedOf(t, { prompt: '0.1', completion: '0.1' }, outputs('video', 'text')), false)
})

t.test('an unpriced text model is reported if one of its endpoints can be called', async (t) => {
  const half = { ...OFFER, pricing: { prompt: '0.1' } }
  const loaded = loadFiles(t, {
    providers: [NEAR, { slug: 'far', protocol: 'cohere', base_url: 'https://far.example/v2' }],
    models: [
      { id: 'a/half', name: 'A', endpoints: [half] },
      {
        id: 'a/mute',
        name: 'B',
        endpoints: [
          { ...half, speaks: [] },
          { ...half, provider: 'far' },
        ],
      },
      { id: 'a/far', name: 'C', endpoints: [{ ...half, provider: 'far', speaks: ['chat'] }] },
    ],
  })
  t.same(loaded.ok && loaded.unpriced, [
    { model: 'a/half', provider: 'near' },
    { model: 'a/far', provider: 'far' },
  ])
})

const LOCAL = { slug: 'here', protocol: 'local' }
const MODEL = { id: 'a/b', name: 'B' }
const MISTAKES: readonly (readonly [string, unknown, readonly string[]])[] = [
  [
    'a protocol that no endpoint speaks',
    { providers: [{ ...NEAR, speaks: ['chat', 'smoke'] }] },
    ['/providers/0/speaks/1'],
  ],
  [
    'a protocol that stands twice',
    { providers: [{ ...NEAR, speaks: ['chat', 'chat'] }] },
    ['/providers/0/speaks'],
  ],
  ['a text instead of a list', { providers: [{ ...NEAR, speaks: 'chat' }] }, ['/providers/0/speaks']],
  ['an invalid way of leaving', { providers: [{ ...NEAR, on_leave: 'stop' }] }, ['/providers/0/on_leave']],
  ['a strictness that is not a flag', { providers: [{ ...NEAR, strict: 'yes' }] }, ['/providers/0/strict']],
  [
    'times of no length, and above their limit',
    { providers: [{ ...NEAR, first_output_ms: 0, stall_ms: 600_001 }] },
    ['/providers/0/first_output_ms', '/providers/0/stall_ms'],
  ],
  [
    'members of text at the built-in provider',
    {
      providers: [
        { ...LOCAL, speaks: ['chat'], strict: true, on_leave: 'drain', first_output_ms: 1, stall_ms: 1 },
      ],
    },
    ['speaks', 'strict', 'on_leave', 'first_output_ms', 'stall_ms'].map((name) => `/providers/0/${name}`),
  ],
  [
    'an endpoint that supports, of a model that writes no text',
    {
      providers: [NEAR],
      models: [
        {
          ...MODEL,
          architecture: { output_modalities: ['embeddings'] },
          endpoints: [{ ...OFFER, speaks: ['chat'] }],
        },
      ],
    },
    ['/models/0/endpoints/0/speaks'],
  ],
  [
    'an endpoint of a variant that speaks at the built-in provider',
    {
      providers: [LOCAL],
      models: [
        {
          ...MODEL,
          variants: [
            { suffix: 'v', endpoints: [{ provider: 'here', upstream_model: 'm', speaks: ['chat'] }] },
          ],
        },
      ],
    },
    ['/models/0/variants/0/endpoints/0/speaks'],
  ],
]

for (const [name, document, paths] of MISTAKES) {
  t.test(`reports ${name} by its path`, async (t) => {
    const loaded = loadFiles(t, document)
    t.same(loaded.ok ? [] : loaded.problems.map(({ path }) => path), paths)
  })
}

t.test(
  'the catalogue entry shows whether a model reasons always, usually, on request or never, else it is unknown',
  async (t) => {
    const of = (more: object) => {
      const models = [{ id: 'a/b', name: 'B', ...more, endpoints: [OFFER] }]
      return catalogueOf(t, { providers: [NEAR], models }).models[0]?.reasons
    }
    t.equal(of({}), undefined)
    t.equal(of({ supported_parameters: ['tools'] }), 'never')
    t.equal(of({ supported_parameters: ['tools', 'reasoning_effort'] }), undefined)
    t.equal(of({ reasoning: { mandatory: true } }), 'usually')
    t.equal(of({ reasoning: { mandatory: false, default_enabled: true } }), 'usually')
    t.equal(of({ reasoning: { mandatory: false, default_effort: 'none' } }), 'when asked')
    t.equal(
      of({ reasoning: { mandatory: false, default_enabled: false, default_effort: 'low' } }),
      'when asked',
    )
    t.equal(of({ reasoning: { mandatory: false } }), 'when asked')
    t.equal(of({ reasoning: { mandatory: false, default_effort: 'high' } }), undefined)
  },
)
