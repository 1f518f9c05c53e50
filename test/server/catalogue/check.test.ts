import t from 'tap'
import { loadFiles } from '../../support/models/catalogue.ts'
import { PROVIDER_HEADER_CHARS_MAX, PROVIDER_HEADERS_MAX } from '../../../src/server/catalogue/format.ts'

const PROVIDERS = [{ slug: 'here', protocol: 'local' }]
const MODEL = { id: 'a/one', name: 'One' }

/** Pointers of the problems of one document. */
function pathsOf(t: Parameters<typeof loadFiles>[0], document: unknown): readonly string[] {
  const loaded = loadFiles(t, document)
  return loaded.ok ? [] : loaded.problems.map((problem) => problem.path)
}

const MISTAKES: readonly (readonly [string, unknown, readonly string[]])[] = [
  ['a root that is not an object', [], ['']],
  ['an unknown member of the root', { model: [] }, ['/model']],
  ['a list that is not a list', { models: {} }, ['/models']],
  ['a model without a name', { models: [{ id: 'a/b' }] }, ['/models/0/name']],
  ['an id without an author', { models: [{ id: 'b', name: 'B' }] }, ['/models/0/id']],
  ['an id with a variant', { models: [{ id: 'a/b:free', name: 'B' }] }, ['/models/0/id']],
  ['an unknown member of a model', { models: [{ ...MODEL, prices: {} }] }, ['/models/0/prices']],
  [
    'a price that is a number',
    { models: [{ ...MODEL, pricing: { prompt: 0.1 } }] },
    ['/models/0/pricing/prompt'],
  ],
  [
    'a price with an exponent',
    { models: [{ ...MODEL, pricing: { prompt: '2e-8' } }] },
    ['/models/0/pricing/prompt'],
  ],
  [
    'a price too fine to count',
    { models: [{ ...MODEL, pricing: { prompt: '0.0000000000000001' } }] },
    ['/models/0/pricing/prompt'],
  ],
  [
    'a request price too fine to count',
    { models: [{ ...MODEL, pricing: { request: '0.0000000001' } }] },
    ['/models/0/pricing/request'],
  ],
  [
    'a price of unknown kind',
    { models: [{ ...MODEL, pricing: { promt: '1' } }] },
    ['/models/0/pricing/promt'],
  ],
  ['a day that no calendar has', { models: [{ ...MODEL, created: '2024-02-30' }] }, ['/models/0/created']],
  ['an invalid date', { models: [{ ...MODEL, created: 'May 2024' }] }, ['/models/0/created']],
  ['an id that is there twice', { models: [MODEL, { ...MODEL, id: 'A/One' }] }, ['/models/1/id']],
  ['a provider that is there twice', { providers: [...PROVIDERS, ...PROVIDERS] }, ['/providers/1/slug']],
  ['an unknown protocol', { providers: [{ slug: 'x', protocol: 'grpc' }] }, ['/providers/0/protocol']],
  [
    'a provider without an address',
    { providers: [{ slug: 'x', protocol: 'openai' }] },
    ['/providers/0/base_url'],
  ],
  [
    'an address with a credential',
    { providers: [{ slug: 'x', protocol: 'openai', base_url: 'https://u:p@host/v1' }] },
    ['/providers/0/base_url'],
  ],
  [
    'a time-out above its limit',
    { providers: [{ slug: 'x', protocol: 'local', timeout_ms: 600_001 }] },
    ['/providers/0/timeout_ms'],
  ],
  [
    'an endpoint of an unknown provider',
    { models: [{ ...MODEL, endpoints: [{ provider: 'gone', upstream_model: 'm' }] }] },
    ['/models/0/endpoints/0/provider'],
  ],
  [
    'an endpoint that is there twice',
    {
      providers: PROVIDERS,
      models: [
        {
          ...MODEL,
          endpoints: [
            { provider: 'here', upstream_model: 'm' },
            { provider: 'here', upstream_model: 'm' },
          ],
        },
      ],
    },
    ['/models/0/endpoints/1'],
  ],
  [
    'an embedding model on a protocol without embeddings',
    {
      providers: [{ slug: 'claude', protocol: 'anthropic', base_url: 'https://host' }],
      models: [
        {
          ...MODEL,
          architecture: { output_modalities: ['embeddings'] },
          endpoints: [{ provider: 'claude', upstream_model: 'm' }],
        },
      ],
    },
    ['/models/0/endpoints/0/provider'],
  ],
  [
    'a variant that is there twice',
    { models: [{ ...MODEL, variants: ['free', { suffix: 'free' }] }] },
    ['/models/0/variants/1'],
  ],
  ['a variant with its colon', { models: [{ ...MODEL, variants: [':free'] }] }, ['/models/0/variants/0']],
  [
    'a variant with an unknown member',
    { models: [{ ...MODEL, variants: [{ suffix: 'free', price: '1' }] }] },
    ['/models/0/variants/0/price'],
  ],
  [
    'an alias that is another id',
    { models: [MODEL, { id: 'a/two', name: 'Two', aliases: ['a/ONE'] }] },
    ['/models/1/aliases/0'],
  ],
  [
    'an alias that is the id of a later model',
    {
      models: [
        { ...MODEL, aliases: ['a/two'] },
        { id: 'a/two', name: 'Two' },
      ],
    },
    ['/models/0/aliases/0'],
  ],
  ['an alias that is its own id', { models: [{ ...MODEL, aliases: ['a/one'] }] }, ['/models/0/aliases/0']],
  [
    'an alias that is there twice',
    {
      models: [
        { ...MODEL, aliases: ['x'] },
        { id: 'a/two', name: 'Two', aliases: ['x'] },
      ],
    },
    ['/models/1/aliases/0'],
  ],
  [
    'a canonical slug that is another id',
    { models: [MODEL, { id: 'a/two', name: 'Two', canonical_slug: 'a/one' }] },
    ['/models/1/canonical_slug'],
  ],
]

for (const [name, document, paths] of MISTAKES) {
  t.test(`reports ${name} by its path`, async (t) => {
    t.same(pathsOf(t, document), paths)
  })
}

t.test('reports every mistake of both files at once', async (t) => {
  const faulty = {
    slug: 'x',
    protocol: 'grpc',
    base_url: 7,
    api_key_env: 'lower',
    timeout_ms: 0,
    rename: { a: 1 },
    name: '',
    more: true,
    evenMore: true,
    most: true,
  }
  const loaded = loadFiles(t, { providers: [faulty] }, { models: [{ ...MODEL, created: '2024-02-30' }, {}] })
  t.same(loaded.ok ? [] : loaded.problems.map((problem) => problem.path), [
    '/providers/0/name',
    '/providers/0/protocol',
    '/providers/0/base_url',
    '/providers/0/api_key_env',
    '/providers/0/timeout_ms',
    '/providers/0/rename',
    '/providers/0/more',
    '/providers/0/evenMore',
    '/providers/0/most',
    '/models/0/created',
    '/models/1/id',
    '/models/1/name',
  ])
})

t.test(
  'reports headers that calls set themselves, that carry the key or that occur twice, without values',
  async (t) => {
    const near = { slug: 'near', protocol: 'openai', base_url: 'https://near.example/v1', api_key_env: 'K' }
    const headers = {
      'Content-Type': 'a-value',
      'x-sluice-hops': 'a-value',
      connection: 'a-value',
      'proxy-x': 'a-value',
      'a b': 'a-value',
      Authorization: 'a-value',
      'api-key': { env: 'AZURE_KEY' },
      'API-Key': 'a-value',
      'x-good': 'a-value',
    }
    const loaded = loadFiles(t, { providers: [{ ...near, headers }] })
    t.same(loaded.ok ? [] : loaded.problems.map(({ path }) => path.replace('/providers/0/headers/', '')), [
      'Content-Type',
      'x-sluice-hops',
      'connection',
      'proxy-x',
      'a b',
      'Authorization',
      'API-Key',
    ])
    t.notMatch(JSON.stringify(loaded), /a-value/)
    const many = (count: number) =>
      Object.fromEntries(
        Array.from({ length: count }, (_, nth) => [`x-${nth}`, 'v'.repeat(PROVIDER_HEADER_CHARS_MAX)]),
      )
    for (const [count, isGood] of [
      [PROVIDER_HEADERS_MAX, true],
      [PROVIDER_HEADERS_MAX + 1, false],
    ] as const) {
      t.equal(loadFiles(t, { providers: [{ ...near, headers: many(count) }] }).ok, isGood)
    }
    for (const value of [
      'v'.repeat(PROVIDER_HEADER_CHARS_MAX + 1),
      '',
      'a\r\nb: c',
      'é',
      ' a',
      7,
      { env: 'lower' },
    ]) {
      t.equal(
        loadFiles(t, { providers: [{ ...near, headers: { x: value } }] }).ok,
        false,
        JSON.stringify(value),
      )
    }
  },
)

t.test('the key header depends on the protocol', async (t) => {
  const headers = { authorization: 'v', 'x-api-key': 'v', 'x-goog-api-key': 'v' }
  for (const [protocol, header] of [
    ['openai', 'authorization'],
    ['anthropic', 'x-api-key'],
    ['google', 'x-goog-api-key'],
  ] as const) {
    const provider = { slug: 'p', protocol, base_url: 'https://p.example', api_key_env: 'K', headers }
    t.same(pathsOf(t, { providers: [provider] }), [`/providers/0/headers/${header}`])
  }
})

t.test(
  'an entry of an invalid shape hides neither its other mistakes nor those of its duplicate',
  async (t) => {
    const endpoints = [{ provider: 'gone', upstream_model: 'm' }]
    const document = {
      providers: [
        { slug: 'x', protocol: 'openai' },
        { slug: 'x', protocol: 'grpc' },
      ],
      models: [
        { ...MODEL, endpoints },
        { id: 'a/one', nam: 'One', endpoints, aliases: ['a/three'] },
        { id: 'a/three', name: 'Three' },
      ],
    }
    t.same([...pathsOf(t, document)].sort(), [
      '/models/0/endpoints/0/provider',
      '/models/1/aliases/0',
      '/models/1/endpoints/0/provider',
      '/models/1/id',
      '/models/1/nam',
      '/models/1/name',
      '/providers/0/base_url',
      '/providers/1/protocol',
      '/providers/1/slug',
    ])
  },
)

t.test('an unknown modality is a warning, not a mistake', async (t) => {
  const architecture = { input_modalities: ['text', 'smell'], output_modalities: ['embedding'] }
  t.match(loadFiles(t, { models: [{ ...MODEL, architecture }] }), {
    ok: true,
    warnings: [
      { path: '/models/0/architecture/input_modalities/1' },
      { path: '/models/0/architecture/output_modalities/0' },
    ],
  })
})

t.test('a reference to a provider with a mistake does not count as a second mistake', async (t) => {
  const document = {
    providers: [{ slug: 'x', protocol: 'grpc' }],
    models: [{ ...MODEL, endpoints: [{ provider: 'x', upstream_model: 'm' }] }],
  }
  t.same(pathsOf(t, document), ['/providers/0/protocol'])
})

t.test('a problem names the mistake, the expected value and the file', async (t) => {
  const loaded = loadFiles(t, {
    providers: PROVIDERS,
    models: [{ ...MODEL, endpoints: [{ provider: 'gone', upstream_model: 'm' }] }],
  })
  t.match(loaded, {
    ok: false,
    problems: [
      {
        file: /catalog\.json$/,
        message: 'is not a provider in the catalogue',
        expected: 'one of here',
      },
    ],
  })
})

t.test('reports a missing file, and invalid JSON with its line and column', async (t) => {
  t.match(loadFiles(t, '{\n  "models": []\n  "providers": []\n}'), {
    problems: [{ path: '', message: /^is not JSON \(line 3, column 3\): / }],
  })
  const { loadCatalogue } = await import('../../../src/server/catalogue/load.ts')
  t.match(loadCatalogue({ shippedFile: '/nowhere/catalog.json', extraFile: null }), {
    problems: [{ path: '', message: 'cannot be read (ENOENT)' }],
  })
})
