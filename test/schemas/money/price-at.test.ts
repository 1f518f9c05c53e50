/** F1–F7: the prices of a call by length, hour and tier, and the dearest that it can come to. */
import fc from 'fast-check'
import t from 'tap'
import {
  isTierPriced,
  unpricedTierOf,
  TOKEN_PRICE_KEYS,
  UTC_DAYS,
  NO_TIERS,
  tierOf,
} from '../../../src/schemas/models/price-conditions.ts'
import type { PriceModifier, PricingOverride, Tiers } from '../../../src/schemas/models/price-conditions.ts'
import type { Pricing } from '../../../src/schemas/models/models.ts'
import { dearestPricesAt, priceAt, type ResolvedPrice } from '../../../src/schemas/money/price-at.ts'
import { endpointPrices } from '../../../src/schemas/money/read-prices.ts'
import { textCostNano } from '../../../src/schemas/money/costs.ts'

/** A Thursday. */
const NOON = Date.parse('2026-11-26T12:00:00Z')
const BASE: Pricing = { prompt: '0.00000125', completion: '0.00001' }
const LONG: PricingOverride = { min_prompt_tokens: 200_000, prompt: '0.0000025', completion: '0.000015' }

function priced(pricing: Partial<Pricing>, modifiers: readonly PriceModifier[] = []) {
  return { prices: endpointPrices({ pricing: { ...BASE, ...pricing }, modifiers }) }
}

function at(time: string): number {
  return Date.parse(`2026-11-${time}Z`)
}

/** USD per million tokens. */
function prompt({ promptNanoPerMillion }: ResolvedPrice): number {
  return promptNanoPerMillion / 1e9
}

t.test('an endpoint without conditions always has its base price, as the same object', async (t) => {
  const endpoint = priced({})
  const facts = { promptTokens: 1e9, at: NOON, reported: { service_tier: 'priority' } }
  t.equal(priceAt(endpoint, facts), endpoint.prices)
  t.equal(prompt(endpoint.prices), 1.25)
  t.equal(
    dearestPricesAt(endpoint, { promptTokensMax: null, from: 0, until: NOON, asked: {} }),
    endpoint.prices,
  )
})

t.test('an override applies to prompts with strictly more tokens, and to the whole call', async (t) => {
  const endpoint = priced({ overrides: [LONG] })
  const cost = (input: number): number =>
    textCostNano(
      { input, cacheRead: 0, cacheWrite: 0, output: 2_000, reasoning: 0 },
      priceAt(endpoint, { promptTokens: input, at: NOON, reported: NO_TIERS }),
    )
  t.equal(cost(200_000), 270_000_000)
  t.equal(cost(200_001), 530_002_500)
  t.equal(cost(300_000), 780_000_000)
})

t.test('later overrides win for each member, and missing cache prices follow the prompt price', async (t) => {
  const later = { min_prompt_tokens: 300_000, prompt: '0.000004' }
  const facts = { promptTokens: 400_000, at: NOON, reported: NO_TIERS }
  const price = priceAt(priced({ overrides: [LONG, later] }), facts)
  t.match(price, { promptNanoPerMillion: 4e9, cacheReadNanoPerMillion: 4e9, completionNanoPerMillion: 15e9 })
  t.same(price.applied, { overrides: [0, 1], modifiers: [] })
  const kept = priceAt(priced({ input_cache_read: '0.0000001', overrides: [LONG] }), facts)
  t.match(kept, {
    promptNanoPerMillion: 2.5e9,
    cacheReadNanoPerMillion: 1e8,
    cacheWriteNanoPerMillion: 2.5e9,
  })
})

t.test('a window excludes its end, may wrap midnight, and uses the day of the instant itself', async (t) => {
  const night = { utc_start: 2230, utc_end: 630, utc_days: ['thursday' as const], prompt: '0.000001' }
  const isCheap = (time: string): boolean => {
    const facts = { promptTokens: 1, at: at(time), reported: NO_TIERS }
    return prompt(priceAt(priced({ overrides: [night] }), facts)) === 1
  }
  for (const [time, expected] of [
    ['26T22:29:59.999', false],
    ['26T22:30:00', true],
    ['26T23:59:59.999', true],
    ['27T00:00:00', false],
    ['26T00:00:00', true],
    ['26T06:29:59.999', true],
    ['26T06:30:00', false],
  ] as const)
    t.equal(isCheap(time), expected, time)
})

t.test('modifiers apply in order after the overrides, each to the previous result', async (t) => {
  const endpoint = priced({ overrides: [LONG] }, [
    { when: { service_tier: 'flex' }, multiplier: '0.5' },
    {
      when: { speed: 'fast' },
      pricing: { prompt: '0.00001', overrides: [{ min_prompt_tokens: 100, prompt: '0.00003' }] },
    },
    { when: { inference_geo: 'us' }, multiplier: '1.1' },
  ])
  const of = (promptTokens: number, reported: Tiers) =>
    priceAt(endpoint, { promptTokens, at: NOON, reported })
  t.equal(prompt(of(1, { service_tier: 'flex' })), 0.625)
  t.equal(prompt(of(200_001, { service_tier: 'flex' })), 1.25)
  t.equal(prompt(of(1, { speed: 'fast', inference_geo: 'us' })), 11)
  t.equal(prompt(of(101, { speed: 'fast', inference_geo: 'us' })), 33)
  t.same(of(1, { speed: 'fast', inference_geo: 'us' }).applied, { overrides: [], modifiers: [1, 2] })
  t.equal(prompt(of(1, { speed: 'other' })), 1.25)
})

t.test('the names of tiers are those of modifiers, whatever spelling the provider uses', async (t) => {
  t.equal(tierOf('service_tier', 'Standard'), 'default')
  t.equal(tierOf('service_tier', 'ON_DEMAND'), 'default')
  t.equal(tierOf('service_tier', 'fast'), 'priority')
  t.equal(tierOf('service_tier', 'auto'), undefined)
  t.equal(tierOf('speed', 'fast'), 'fast')
  t.equal(tierOf('inference_geo', 'global'), 'default')
  t.equal(tierOf('speed', 7), undefined)
  const endpoint = priced({}, [{ when: { service_tier: 'fast' }, multiplier: '2' }])
  t.ok(isTierPriced(endpoint, 'service_tier', 'priority'))
  t.equal(unpricedTierOf(endpoint, { service_tier: 'flex' }), 'service_tier')
  t.equal(unpricedTierOf(endpoint, { service_tier: 'scale' }), null)
  t.equal(unpricedTierOf(endpoint, { speed: 'fast' }), 'speed')
  t.equal(unpricedTierOf(endpoint, { service_tier: 'priority', speed: 'default' }), null)
})

t.test('the dearest price covers all that the prompt, hours and requested tiers can reach', async (t) => {
  const peak = { utc_start: 1500, utc_end: 1600, prompt: '0.000009' }
  const endpoint = priced({ overrides: [LONG, peak] }, [{ when: { speed: 'fast' }, multiplier: '6' }])
  const input = (promptTokensMax: number | null, until: number, asked: Tiers = NO_TIERS): number =>
    dearestPricesAt(endpoint, { promptTokensMax, from: NOON, until, asked }).inputNanoPerMillionMax / 1e9
  t.equal(input(200_000, NOON), 1.25)
  t.equal(input(200_001, NOON), 2.5)
  t.equal(input(null, NOON), 2.5)
  t.equal(input(1, at('26T14:59:59.999')), 1.25)
  t.equal(input(1, at('26T15:00:00')), 9)
  t.equal(input(1, NOON, { speed: 'fast' }), 7.5)
  const cheaper = priced({}, [{ when: { service_tier: 'flex' }, multiplier: '0.5' }])
  const flex = { promptTokensMax: 1, from: NOON, until: NOON, asked: { service_tier: 'flex' } }
  t.equal(dearestPricesAt(cheaper, flex).inputNanoPerMillionMax, 1.25e9)
})

t.test('the dearest price includes windows opening at midnight, and all of them after a week', async (t) => {
  const night = { utc_start: 2230, utc_end: 630, utc_days: ['friday' as const], prompt: '0.000009' }
  const endpoint = priced({ overrides: [night] })
  const input = (from: number, until: number): number =>
    dearestPricesAt(endpoint, { promptTokensMax: 1, from, until, asked: NO_TIERS }).inputNanoPerMillionMax /
    1e9
  t.equal(input(NOON, at('26T23:59:59.999')), 1.25, 'Thursday')
  t.equal(input(NOON, at('27T00:00:00')), 9, 'Friday, in the window of its first hours')
  t.equal(input(at('27T06:30:00'), at('27T22:29:59.999')), 1.25, 'Friday, between its hours')
  t.equal(input(at('28T00:00:00'), at('28T00:00:00') + 6 * 86_400_000), 9, 'until the next Friday')
  t.equal(input(at('28T00:00:00'), at('28T00:00:00') + 60 * 86_400_000), 9)
})

const Usd = fc.integer({ min: 0, max: 50 }).map((n) => (n / 1e6).toFixed(6))
const Prices = fc.record(Object.fromEntries(TOKEN_PRICE_KEYS.slice(0, 7).map((key) => [key, Usd])), {
  requiredKeys: [],
})
const Clock = fc.tuple(fc.nat(23), fc.nat(59)).map(([hour, minute]) => hour * 100 + minute)
const Override: fc.Arbitrary<PricingOverride> = fc
  .tuple(
    Prices,
    fc.option(fc.nat(1_000)),
    fc.option(fc.tuple(Clock, Clock)),
    fc.option(fc.uniqueArray(fc.constantFrom(...UTC_DAYS), { minLength: 1 })),
  )
  .map(([prices, min, window, days]) => ({
    ...prices,
    ...(min !== null && { min_prompt_tokens: min }),
    ...(window !== null && { utc_start: window[0], utc_end: window[1] }),
    ...(days !== null && { utc_days: days }),
  }))
const Overrides = fc.array(Override, { maxLength: 8 })
const WHENS = [{ service_tier: 'flex' }, { speed: 'fast' }, { inference_geo: 'us' }] as const
const Modifier: fc.Arbitrary<PriceModifier> = fc.oneof(
  fc.record({ when: fc.constantFrom(...WHENS), multiplier: fc.constantFrom('0.5', '1.1', '2.5', '0', '6') }),
  fc.record({
    when: fc.constantFrom(...WHENS),
    pricing: fc.tuple(Prices, Overrides).map(([prices, overrides]) => ({ ...prices, overrides })),
  }),
)
const Asked = fc.record(
  { service_tier: fc.constant('flex'), speed: fc.constant('fast'), inference_geo: fc.constant('us') },
  { requiredKeys: [] },
)

t.test('no price of a call exceeds the dearest price that was computed for it', async () => {
  fc.assert(
    fc.property(
      ...[Prices, Overrides, fc.array(Modifier, { maxLength: 5 }), Asked, Asked],
      ...[
        fc.nat(1_200),
        fc.nat(7 * 86_400_000),
        fc.nat(2 * 86_400_000),
        fc.double({ min: 0, max: 1, noNaN: true }),
      ],
      (prices, overrides, modifiers, asked, kept, tokens, from, length, part) => {
        const endpoint = { prices: endpointPrices({ pricing: { ...BASE, ...prices, overrides }, modifiers }) }
        // The answer may report any of the tiers that were asked for.
        const reported: Tiers = Object.fromEntries(Object.entries(asked).filter(([name]) => name in kept))
        const price = priceAt(endpoint, {
          promptTokens: tokens,
          at: from + Math.floor(length * part),
          reported,
        })
        const most = dearestPricesAt(endpoint, { promptTokensMax: tokens, from, until: from + length, asked })
        const { promptNanoPerMillion, cacheReadNanoPerMillion, cacheWriteNanoPerMillion, media } = price
        const inputs = [promptNanoPerMillion, cacheReadNanoPerMillion, cacheWriteNanoPerMillion]
        inputs.push(
          price.cacheWriteHourNanoPerMillion,
          media?.audio ?? 0,
          media?.image ?? 0,
          media?.audioRead ?? 0,
        )
        const outputs = [
          price.completionNanoPerMillion,
          price.reasoningNanoPerMillion,
          media?.audioOutput ?? 0,
        ]
        return (
          Math.max(...inputs) <= most.inputNanoPerMillionMax &&
          Math.max(...outputs) <= most.outputNanoPerMillionMax
        )
      },
    ),
    { numRuns: 2_000 },
  )
})
