import t, { type Test } from 'tap'
import { loadCatalogue } from '../../../src/server/catalogue/load.ts'
import { misplacedAdvice, operatorKeys } from '../../../src/server/catalogue/operator-keys.ts'
import { SHIPPED_CATALOGUE } from '../../../src/server/catalogue/shipped.ts'
import { Secret } from '../../../src/schemas/vault/secret.ts'
import { catalogueFile } from '../../support/models/catalogue.ts'

const OURS = 'sk-sluice-v1-canary'

function keysWith(t: Test, extra: object | null, keys: Readonly<Record<string, string>>) {
  const extraFile = extra === null ? null : catalogueFile(t, extra)
  const loaded = loadCatalogue({ shippedFile: SHIPPED_CATALOGUE, extraFile })
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems))
  const secrets = Object.entries(keys).map(([name, text]) => [name, new Secret(text)] as const)
  const { usable, misplaced } = operatorKeys(loaded.providers, new Map(secrets))
  return { usable: [...usable.keys()], misplaced }
}

t.test('a Sluice key for a provider at a shipped address counts as not set', async (t) => {
  const keys = { OPENAI_API_KEY: OURS, ANTHROPIC_API_KEY: ` ${OURS}`, MISTRAL_API_KEY: 'sk-of-mistral' }
  t.same(keysWith(t, null, keys), {
    usable: ['MISTRAL_API_KEY'],
    misplaced: [
      { variable: 'OPENAI_API_KEY', providers: ['openai'] },
      { variable: 'ANTHROPIC_API_KEY', providers: ['anthropic'] },
    ],
  })
})

t.test('a provider at another address may be another Sluice, even under a shipped name', async (t) => {
  const sluice = { protocol: 'openai', base_url: 'https://sluice.example/api/v1' }
  const providers = [
    { ...sluice, slug: 'upstream', api_key_env: 'UPSTREAM_KEY' },
    { ...sluice, slug: 'openai', api_key_env: 'OPENAI_API_KEY' },
  ]
  const keys = { UPSTREAM_KEY: OURS, OPENAI_API_KEY: OURS }
  t.same(keysWith(t, { providers }, keys), { usable: ['UPSTREAM_KEY', 'OPENAI_API_KEY'], misplaced: [] })
})

t.test('refuses a Sluice key for a provider at a shipped origin, or with its key in a header', async (t) => {
  const providers = [
    { slug: 'mine', protocol: 'openai', base_url: 'https://api.openai.com/v1/', api_key_env: 'MY_KEY' },
    {
      slug: 'headed',
      protocol: 'openai',
      base_url: 'https://api.mistral.ai/v2',
      headers: { 'api-key': { env: 'HEAD_KEY' } },
    },
  ]
  t.same(keysWith(t, { providers }, { MY_KEY: OURS, HEAD_KEY: OURS }), {
    usable: [],
    misplaced: [
      { variable: 'MY_KEY', providers: ['mine'] },
      { variable: 'HEAD_KEY', providers: ['headed'] },
    ],
  })
  const replacing = { replace: true, providers: providers.slice(0, 1) }
  t.match(keysWith(t, replacing, { MY_KEY: OURS }), { misplaced: [{ variable: 'MY_KEY' }] })
})

t.test('the advice names the variables and the remedy, and no key', async (t) => {
  t.equal(misplacedAdvice([]), null)
  const { misplaced } = keysWith(t, null, { OPENAI_API_KEY: OURS })
  const advice = misplacedAdvice(misplaced)
  t.match(advice, {
    detail:
      /^OPENAI_API_KEY contains a Sluice key \(sk-sluice-…\), not a key for openai: the variable is ignored$/,
    fix: /own base_url and variable/,
  })
  t.notMatch(JSON.stringify(advice), 'canary')
})
