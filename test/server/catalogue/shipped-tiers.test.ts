/**
 * F5: what faster, cheaper and placed answers of shipped models cost, in USD per million tokens, as two public
 * price lists and the pages of the vendors say (read 26 November 2026).
 */
import t from 'tap'
import { priceAt } from '../../../src/schemas/money/price-at.ts'
import { loadCatalogue } from '../../../src/server/catalogue/load.ts'
import { SHIPPED_CATALOGUE } from '../../../src/server/catalogue/shipped.ts'
import type { Endpoint } from '../../../src/server/ports/models/models.ts'
import type { Tiers } from '../../../src/schemas/models/price-conditions.ts'

const FLEX: Tiers = { service_tier: 'flex' }
const FAST: Tiers = { service_tier: 'priority' }
const SPEED: Tiers = { speed: 'fast' }
const US: Tiers = { inference_geo: 'us' }
const BOTH: Tiers = { ...SPEED, ...US }
const LONG_TOKENS = 300_000
const NANO = 1e9

const loaded = loadCatalogue({ shippedFile: SHIPPED_CATALOGUE, extraFile: null })
if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems))
const { catalogue } = loaded

/** Prompt, completion and reads of a cache. */
function pricesOf(endpoint: Endpoint, reported: Tiers, promptTokens = 1_000): readonly number[] {
  const price = priceAt(endpoint, { promptTokens, at: 0, reported })
  const { promptNanoPerMillion, completionNanoPerMillion, cacheReadNanoPerMillion } = price
  return [promptNanoPerMillion, completionNanoPerMillion, cacheReadNanoPerMillion].map((nano) => nano / NANO)
}

function endpointOf(id: string): Endpoint {
  const [endpoint] = catalogue.resolve(id)?.endpoints ?? []
  if (endpoint === undefined) throw new Error(`${id} is not shipped`)
  return endpoint
}

for (const [id, tiers, ...expected] of [
  ['openai/gpt-6-astra', FAST, 20, 100, 2],
  ['openai/gpt-6-sol', FLEX, 1, 5, 0.1],
  ['openai/gpt-5.6-sol', FAST, 8, 40, 0.8],
  ['openai/gpt-5.6-terra', FAST, 4, 24, 0.4],
  ['openai/gpt-5.6-luna', FAST, 0.4, 2.4, 0.04],
  ['openai/gpt-5.6-luna', FLEX, 0.1, 0.6, 0.01],
  ['openai/gpt-5.5', FAST, 12.5, 75, 1.25],
  ['openai/gpt-5.4', FAST, 5, 30, 0.5],
  ['openai/gpt-5.2', FAST, 3.5, 28, 0.35],
  ['openai/gpt-5.1', FAST, 2.5, 20, 0.25],
  ['openai/gpt-5', FAST, 2.5, 20, 0.25],
  ['openai/gpt-5', FLEX, 0.625, 5, 0.0625],
  ['openai/gpt-5-mini', FAST, 0.45, 3.6, 0.045],
  ['openai/gpt-5-nano', FLEX, 0.025, 0.2, 0.0025],
  ['openai/gpt-4.1', FAST, 3.5, 14, 0.875],
  ['openai/gpt-4.1-mini', FAST, 0.7, 2.8, 0.175],
  ['openai/gpt-4.1-nano', FAST, 0.2, 0.8, 0.05],
  ['openai/gpt-4o', FAST, 4.25, 17, 2.125],
  ['openai/gpt-4o-mini', FAST, 0.25, 1, 0.125],
  ['openai/o3', FAST, 3.5, 14, 0.875],
  ['openai/o4-mini', FAST, 2, 8, 0.5],
  ['openai/o4-mini', FLEX, 0.55, 2.2, 0.1375],
  ['anthropic/claude-opus-5.5', SPEED, 8, 40, 0.4],
  ['anthropic/claude-opus-5', SPEED, 10, 50, 1],
  ['anthropic/claude-opus-4.8', SPEED, 10, 50, 1],
  ['anthropic/claude-opus-5', BOTH, 11, 55, 1.1],
  ['anthropic/claude-fable-5.1', US, 11, 55, 0.275],
  ['anthropic/claude-sonnet-4.6', US, 3.3, 16.5, 0.33],
] as const) {
  t.test(`${id} with ${Object.values(tiers).join(' and ')} has the price of its vendor`, async (t) => {
    t.same(pricesOf(endpointOf(id), tiers), expected)
  })
}

t.test('a fast answer to a long prompt doubles the long-prompt price', async (t) => {
  t.same(pricesOf(endpointOf('openai/gpt-5.6-sol'), FAST, LONG_TOKENS), [16, 60, 1.6])
})

t.test('providers that report no tier have no modifiers', async (t) => {
  const conditional = catalogue.models.flatMap(({ endpoints }) =>
    endpoints.filter(({ prices }) => (prices.conditions?.modifiers.length ?? 0) > 0),
  )
  const members = conditional.flatMap(({ provider, prices }) =>
    (prices.conditions?.modifiers ?? []).map(({ member }) => `${provider.slug} ${member}`),
  )
  t.same([...new Set(members)].sort(), ['anthropic inference_geo', 'anthropic speed', 'openai service_tier'])
})
