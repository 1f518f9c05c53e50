/** F13: `models explain` shows the prices of a call, and the conditions that decide them. */
import t, { type Test } from 'tap'
import { catalogueFile } from '../../../support/models/catalogue.ts'
import { runVerb } from '../../../support/operator/verbs.ts'

t.setTimeout(600_000)

const PRICING = {
  ...{ prompt: '0.000001', completion: '0.000002', web_search: '0.01' },
  overrides: [
    { min_prompt_tokens: 200_000, prompt: '0.000003' },
    { utc_start: 2200, utc_end: 600, completion: '0.000001' },
  ],
}
const MODIFIERS = [
  { when: { service_tier: 'flex' }, multiplier: '0.5' },
  { when: { speed: 'fast' }, pricing: { completion: '0.00001' } },
]

/** A model with conditions at one endpoint, a flat price at the second and none at the third. */
function explain(t: Test, ...args: readonly string[]) {
  const provider = (slug: string, more: object = {}) => ({
    ...{ slug, protocol: 'openai', base_url: 'http://127.0.0.1:9/v1', ...more },
  })
  const endpoint = (slug: string, more: object = {}) => ({ provider: slug, upstream_model: 'm', ...more })
  const endpoints = [
    endpoint('one', { pricing: PRICING, modifiers: MODIFIERS }),
    endpoint('two', { pricing: { prompt: '0.0000025', completion: '0' } }),
    endpoint('three'),
  ]
  const file = catalogueFile(t, {
    replace: true,
    providers: [provider('one', { account_tier: 'flex' }), provider('two'), provider('three')],
    models: [
      { id: 'mine/model', name: 'M', endpoints },
      {
        ...{ id: 'mine/film', name: 'F', architecture: { output_modalities: ['video'] } },
        ...{ video: {}, endpoints: [] },
      },
    ],
  })
  return runVerb({ SLUICE_CATALOG: file }, ['models', 'explain', ...args])
}

t.test('models explain shows the prices of each endpoint and the overrides that applied', async (t) => {
  const at = ['--tokens', '300000', '--at', '2026-11-26T03:00Z']
  const { code, stdout, stderr } = await explain(t, 'mine/model', ...at, '--tier', 'flex')
  t.equal(code, 0, stderr)
  t.match(stdout, /^Prices for a prompt of 300,000 tokens at 2026-11-26T03:00Z, service_tier: flex:$/m)
  t.match(stdout, /^USD per million tokens +one\/m +two\/m +three\/m$/m)
  t.match(stdout, /^prompt +1\.5 +2\.5 +no price$/m)
  t.match(stdout, /^completion +0\.5 +0 +no price$/m)
  t.match(stdout, /^web_search +0\.01 +0 +no price$/m)
  t.match(stdout, /^overrides +0 \(min_prompt_tokens: 200000\), 1 \(utc_start: 2200, utc_end: 600\) +- +-$/m)
  t.match(stdout, /^modifiers +0 \(service_tier: flex\) +- +-$/m)
  t.match(stdout, /^two\/m has no price modifier for this service_tier: .* charged at the base price\.$/m)
})

t.test('models explain shows prices as JSON in the form of x.price', async (t) => {
  const at = ['--tokens', '200000', '--at', '2026-11-26T12:00Z']
  const { stdout } = await explain(t, 'mine/model', ...at, '--tier', 'default', '--speed', 'fast', '--json')
  const { data } = JSON.parse(stdout) as { data: { endpoints: object[] } }
  t.match(data, {
    ...{ model: 'mine/model', prompt_tokens: 200_000, at: '2026-11-26T12:00:00.000Z' },
    tiers: { service_tier: 'default', speed: 'fast' },
  })
  t.match(data.endpoints, [
    {
      tag: 'one/m',
      unpriced_tier: null,
      price: { prompt: '0.000001', completion: '0.00001', overrides: [], modifiers: [1] },
    },
    { tag: 'two/m', unpriced_tier: 'speed', price: { prompt: '0.0000025' } },
    { tag: 'three/m', price: null },
  ])
})

t.test('models explain prices a call without a tier at the tier of the account', async (t) => {
  const { stdout } = await explain(t, 'mine/model', '--at', '2026-11-26T12:00Z')
  t.match(stdout, /^prompt +0\.5 +2\.5 +no price$/m)
  t.match(stdout, /^modifiers +0 \(service_tier: flex\)/m)
})

t.test('models explain shows fields and prices if both are requested', async (t) => {
  const { stdout } = await explain(t, 'mine/model', '--from', 'chat', '--speed', 'fast')
  t.match(stdout, /^completion +.*\n[\s\S]*^seed +unchanged/m)
  const plain = await explain(t, 'mine/model', '--from', 'chat')
  t.notMatch(plain.stdout, /USD per million tokens/)
})

t.test('models explain refuses values that it cannot read, and video models', async (t) => {
  for (const [option, value, text] of [
    ['--tokens', '1.5', /Expected a whole number from 0 to/],
    ['--at', '2026-11-26T03:00', /Expected a UTC time such as 2026-11-26T03:00Z/],
    ['--at', '2026-13-26T03:00Z', /Expected a UTC time/],
    ['--tier', '', /Expected a name of 1 to 64 characters/],
  ] as const)
    t.match(await explain(t, 'mine/model', option, value), { code: 2, stderr: text })
  t.match(await explain(t, 'mine/film'), {
    code: 1,
    stderr: /is a video model: `.*models list` shows its prices/,
  })
})
