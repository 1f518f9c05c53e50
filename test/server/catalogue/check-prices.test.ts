import t from 'tap'
import { loadFiles } from '../../support/models/catalogue.ts'

type Json = Readonly<Record<string, unknown>>

const BASE = { prompt: '0.000001', completion: '0.000002' }
const OVERRIDE = { min_prompt_tokens: 200_000, prompt: '0.000002' }
const FLEX = { when: { service_tier: 'flex' }, multiplier: '0.5' }

/** A model with one endpoint. */
const withEndpoint = (endpoint: Json, model: Json = {}): Json => ({
  id: 'a/one',
  name: 'One',
  endpoints: [{ provider: 'local', upstream_model: 'one', ...endpoint }],
  ...model,
})
const priced = (more: Json): Json => withEndpoint({ pricing: { ...BASE, ...more } })
const overridden = (...overrides: readonly Json[]): Json => priced({ overrides })
const modified = (...modifiers: readonly Json[]): Json => withEndpoint({ pricing: BASE, modifiers })

const EMBEDS = { architecture: { output_modalities: ['embeddings'] } }
const FILMS = {
  architecture: { output_modalities: ['video'] },
  video: { pricing_skus: { duration_seconds: '0.1' } },
}

/** Each with the pointer below the endpoint, and what is allowed there. F10. */
const MISTAKES: readonly (readonly [string, Json, string, RegExp])[] = [
  [
    'an unknown member of an override',
    overridden({ ...OVERRIDE, request: '1' }),
    '/pricing/overrides/0/request',
    /^one of min_prompt_tokens/,
  ],
  [
    'an override without a condition',
    overridden({ prompt: '1' }),
    '/pricing/overrides/0',
    /min_prompt_tokens/,
  ],
  [
    'an override without a price',
    overridden({ min_prompt_tokens: 1 }),
    '/pricing/overrides/0',
    /^one of prompt/,
  ],
  ['utc_start alone', overridden({ utc_start: 100, prompt: '1' }), '/pricing/overrides/0/utc_start', /both/],
  ['utc_end alone', overridden({ utc_end: 100, prompt: '1' }), '/pricing/overrides/0/utc_end', /both/],
  [
    'an empty window',
    overridden({ utc_start: 100, utc_end: 100, prompt: '1' }),
    '/pricing/overrides/0/utc_end',
    /a time other than/,
  ],
  [
    'a minute that no hour has',
    overridden({ utc_start: 160, utc_end: 300, prompt: '1' }),
    '/pricing/overrides/0/utc_start',
    /0 to 59/,
  ],
  [
    'a day that no week has',
    overridden({ utc_days: ['Monday'], prompt: '1' }),
    '/pricing/overrides/0/utc_days/0',
    /^one of sunday/,
  ],
  [
    'a price of an override that is too fine',
    overridden({ min_prompt_tokens: 1, prompt: '0.0000000000000001' }),
    '/pricing/overrides/0/prompt',
    /15 decimal places/,
  ],
  [
    '33 overrides',
    overridden(...Array.from({ length: 33 }, () => OVERRIDE)),
    '/pricing/overrides',
    /at most 32/,
  ],
  ['a discount', priced({ discount: 0.1 }), '/pricing/discount', /enter prices after the discount/],
  [
    'a price of pictures that a model makes',
    priced({ image_output: '0.01' }),
    '/pricing/image_output',
    /"0"/,
  ],
  [
    'an unknown member of a modifier',
    modified({ ...FLEX, prices: {} }),
    '/modifiers/0',
    /`when` and either `pricing` or `multiplier`/,
  ],
  [
    'a modifier by two facts',
    modified({ when: { service_tier: 'flex', speed: 'fast' }, multiplier: '1' }),
    '/modifiers/0/when',
    /exactly one of service_tier, speed/,
  ],
  [
    'a tier in capitals',
    modified({ when: { speed: 'Fast' }, multiplier: '1' }),
    '/modifiers/0/when/speed',
    /lower case/,
  ],
  [
    'a tier that no answer reports',
    modified({ when: { service_tier: 'auto' }, multiplier: '1' }),
    '/modifiers/0/when/service_tier',
    /account_tier/,
  ],
  ...['default', 'standard', 'standard_only', 'on_demand'].map(
    (name) =>
      [
        `the usual tier ${name}`,
        modified({ when: { service_tier: name }, multiplier: '2' }),
        '/modifiers/0/when/service_tier',
        /a tier with its own price/,
      ] as const,
  ),
  [
    'the usual speed',
    modified({ when: { speed: 'standard' }, multiplier: '2' }),
    '/modifiers/0/when/speed',
    /a tier with its own price/,
  ],
  [
    'the usual place',
    modified({ when: { inference_geo: 'global' }, pricing: BASE }),
    '/modifiers/0/when/inference_geo',
    /a tier with its own price/,
  ],
  [
    'one tier by two names',
    modified(
      { when: { service_tier: 'priority' }, multiplier: '2' },
      { when: { service_tier: 'fast' }, multiplier: '2' },
    ),
    '/modifiers/1/when/service_tier',
    /under one name/,
  ],
  [
    'a modifier without a price',
    modified({ when: { speed: 'fast' }, pricing: {} }),
    '/modifiers/0/pricing',
    /a price per token/,
  ],
  [
    'a request price of a modifier',
    modified({ when: { speed: 'fast' }, pricing: { request: '1' } }),
    '/modifiers/0/pricing/request',
    /^one of prompt/,
  ],
  [
    'a multiplier above 100',
    modified({ ...FLEX, multiplier: '100.5' }),
    '/modifiers/0/multiplier',
    /0 to 100/,
  ],
  [
    'a multiplier of 7 places',
    modified({ ...FLEX, multiplier: '0.1234567' }),
    '/modifiers/0/multiplier',
    /6 places/,
  ],
  ['17 modifiers', modified(...Array.from({ length: 17 }, () => FLEX)), '/modifiers', /at most 16/],
  [
    'a product that is too fine',
    withEndpoint({ pricing: { ...BASE, prompt: '0.000000000000001' }, modifiers: [FLEX] }),
    '/modifiers/0/multiplier',
    /15 decimal places/,
  ],
  [
    'a stack whose product is too fine',
    modified({ when: { speed: 'fast' }, pricing: { prompt: '0.000000000000002' } }, FLEX, {
      ...FLEX,
      when: { inference_geo: 'us' },
    }),
    '/modifiers/2/multiplier',
    /15 decimal places/,
  ],
  [
    'overrides of a video model',
    withEndpoint({ pricing: { ...BASE, overrides: [OVERRIDE] } }, FILMS),
    '/pricing/overrides',
    /the member to be absent/,
  ],
  [
    'modifiers of a video model',
    withEndpoint({ pricing: BASE, modifiers: [FLEX] }, FILMS),
    '/modifiers',
    /the member to be absent/,
  ],
  [
    'modifiers of embeddings',
    withEndpoint({ pricing: BASE, modifiers: [FLEX] }, EMBEDS),
    '/modifiers',
    /the member to be absent/,
  ],
  [
    'free next to modifiers',
    withEndpoint({ free: true, modifiers: [FLEX] }),
    '/free',
    /either `free` or a price/,
  ],
]

const load = (t: Parameters<typeof loadFiles>[0], model: Json): ReturnType<typeof loadFiles> =>
  loadFiles(t, { replace: true, providers: [{ slug: 'local', protocol: 'local' }], models: [model] })

for (const [name, model, path, expected] of MISTAKES) {
  t.test(`a catalogue is refused for ${name}`, async (t) => {
    const loaded = load(t, model)
    const problems = loaded.ok
      ? []
      : loaded.problems.filter((one) => one.path === `/models/0/endpoints/0${path}`)
    t.match(problems, [{ expected }], JSON.stringify(loaded.ok || loaded.problems))
  })
}

t.test('refuses an unknown account tier and names the allowed ones', async (t) => {
  const problemsOf = (account_tier: string, model: Json = withEndpoint({ pricing: BASE })): unknown => {
    const local = { slug: 'local', protocol: 'local' }
    const own = { slug: 'own', protocol: 'openai', base_url: 'https://own.example/v1', account_tier }
    const loaded = loadFiles(t, { replace: true, providers: [local, own], models: [model] })
    return loaded.ok ? [] : loaded.problems
  }
  const refused = {
    path: '/providers/1/account_tier',
    expected: /^one of default, .*flex, priority, .*fast$/,
  }
  for (const name of ['flux', 'auto', 'burst']) t.match(problemsOf(name), [refused], name)
  for (const name of ['flex', 'Flex', 'fast', 'default', 'on_demand', 'scale', 'ultrafast'])
    t.same(problemsOf(name), [], name)
  const burst = { when: { service_tier: 'burst' }, multiplier: '3' }
  const sold = (entry: Json): Json => withEndpoint({ provider: 'own', pricing: BASE, ...entry })
  t.same(problemsOf('burst', sold({ modifiers: [burst] })), [])
  t.same(problemsOf('burst', { ...sold({}), modifiers: [burst] }), [])
  t.match(problemsOf('bust', sold({ modifiers: [burst] })), [{ expected: /, burst$/ }])
})

t.test('a multiplier of a model is checked against the prices of each endpoint and variant', async (t) => {
  const fine = { ...BASE, prompt: '0.000000000000001' }
  const loaded = load(
    t,
    withEndpoint(
      {},
      { pricing: BASE, modifiers: [FLEX], variants: [{ suffix: 'x', pricing: fine, modifiers: [FLEX] }] },
    ),
  )
  t.same(!loaded.ok && loaded.problems.map(({ path }) => path), [
    '/models/0/variants/0/modifiers/0/multiplier',
  ])
})

t.test('all conditions together are accepted if their products can be counted', async (t) => {
  const window = { utc_start: 2200, utc_end: 130, utc_days: ['monday', 'sunday'], completion: '0.000003' }
  const fast = { when: { speed: 'fast' }, pricing: { prompt: '0.000006', overrides: [OVERRIDE] } }
  const loaded = load(t, {
    ...overridden(OVERRIDE, window),
    modifiers: [FLEX, fast, { when: { inference_geo: 'us' }, multiplier: '1.1' }],
  })
  t.same(loaded.ok || loaded.problems, true)
  t.same(loaded.ok && loaded.warnings, [])
})

t.test('prices that are probably mistakes are warnings', async (t) => {
  const loaded = load(
    t,
    priced({ input_cache_read: '0.0000001', internal_reasoning: '0', overrides: [OVERRIDE] }),
  )
  t.same(loaded.ok && loaded.warnings.map(({ path }) => path), [
    '/models/0/endpoints/0/pricing/overrides/0',
    '/models/0/endpoints/0/pricing/internal_reasoning',
  ])
  const cached = { ...OVERRIDE, input_cache_read: '0.0000002' }
  const meant = load(
    t,
    priced({ input_cache_read: '0.0000001', internal_reasoning: '0.000001', overrides: [cached] }),
  )
  t.same(meant.ok && meant.warnings, [])
})

t.test('prices per million tokens, and overrides that never apply, are warnings', async (t) => {
  const loaded = load(t, priced({ prompt: '2', overrides: [{ ...OVERRIDE, prompt: '0.5' }] }))
  t.match(loaded.ok && loaded.warnings, [
    {
      path: '/models/0/endpoints/0/pricing/prompt',
      message: 'is $2000000 per million tokens',
      expected: /^USD per token/,
    },
    { path: '/models/0/endpoints/0/pricing/overrides/0/prompt', message: 'is $500000 per million tokens' },
  ])
  t.match(load(t, priced({ prompt: '0.001' })), {
    warnings: [{ message: 'is $1000 per million tokens', expected: /\$2 per million/ }],
  })
  const dear = load(t, priced({ prompt: '0.0006' }))
  t.same(dear.ok && dear.warnings, [], 'the highest list price of a large provider')
  const [long, longer] = [10_000, 20_000].map((tokens) => ({ min_prompt_tokens: tokens, prompt: '0.000002' }))
  const pathsOf = (...overrides: readonly object[]) => {
    const found = load(t, priced({ overrides }))
    return found.ok ? found.warnings.map(({ path }) => path.split('/').slice(-2).join('/')) : found.problems
  }
  t.same(pathsOf(longer ?? {}, long ?? {}), ['overrides/0'], 'the lower threshold comes later')
  t.same(pathsOf(long ?? {}, longer ?? {}), [])
  t.same(pathsOf({ ...longer, utc_days: ['monday'] }, long ?? {}), ['overrides/0'])
  t.same(pathsOf(longer ?? {}, { ...long, utc_days: ['monday'] }), [])
  t.same(pathsOf({ ...longer, completion: '0.000009' }, long ?? {}), [], 'the price of answers still counts')
})
