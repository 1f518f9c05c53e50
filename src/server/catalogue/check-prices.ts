/** Refuses prices that cannot be counted or would never be used, so that no file promises them. */
import type { Issue } from '../../schemas/failure-metadata.ts'
import { pointer } from '../../schemas/issues.ts'
import type { Pricing } from '../../schemas/models/models.ts'
import {
  MULTIPLIER_PLACES,
  OVERRIDE_KEYS,
  TIER_MEMBERS,
  TOKEN_PRICE_KEYS,
  type PriceModifier,
  type PricingOverride,
  type TierMember,
  type TokenPriceKey,
  ACCOUNT_TIERS,
  tierOf,
  USUAL_TIER,
} from '../../schemas/models/price-conditions.ts'
import { nanoPerMillion, scaled, TOKEN_PRICE_PLACES, UNIT_PRICE_PLACES } from '../../schemas/money/prices.ts'
import { writesText } from './build-text.ts'
import { makesVideo } from './build-video.ts'
import type { EndpointEntry, ModelEntry, ProviderEntry } from './format.ts'
import { allTermsOf, isFree } from './terms.ts'

/** Prices per request, image or search; every other price is per token. */
const PER_UNIT: ReadonlySet<string> = new Set(['request', 'image', 'image_output', 'web_search'])

type Priced = Pick<EndpointEntry, 'free' | 'pricing' | 'modifiers' | 'video'>

/** @param path of the model, variant or endpoint */
export function checkPrices(model: ModelEntry, priced: Priced, path: string): readonly Issue[] {
  const { pricing, modifiers = [] } = priced
  return [
    ...checkPricing(pricing, `${path}/pricing`),
    ...checkConditions(model, priced, path),
    ...modifiers.flatMap((modifier, index) =>
      checkModifier(modifiers, modifier, `${path}/modifiers/${index}`),
    ),
    ...checkFree(priced, path),
  ]
}

function checkPricing(pricing: Partial<Pricing> | undefined, path: string): readonly Issue[] {
  if (pricing === undefined) return []
  const { discount = 0, image_output: output = '0', overrides = [] } = pricing
  const issues = [...checkCountable(pricing, path), ...checkOverrides(overrides, `${path}/overrides`)]
  if (discount !== 0) {
    const expected = '0 or no `discount`; enter prices after the discount'
    issues.push({ path: `${path}/discount`, message: 'is not 0, but is never subtracted', expected })
  }
  if (Number(output) > 0) {
    const expected = '`"0"` or no `image_output`'
    issues.push({ path: `${path}/image_output`, message: 'is above 0, but is never charged', expected })
  }
  return issues
}

/** Refuses a price with too many places: rounding it would bill a price that no file contains. */
function checkCountable(pricing: object, path: string): readonly Issue[] {
  return Object.entries(pricing).flatMap(([name, price]: [string, unknown]) => {
    if (typeof price !== 'string') return []
    const places = PER_UNIT.has(name) ? UNIT_PRICE_PLACES : TOKEN_PRICE_PLACES
    if (scaled(price, places) !== null) return []
    const most = BigInt(Number.MAX_SAFE_INTEGER) / 10n ** BigInt(places)
    const expected = `USD with at most ${places} decimal places, and at most ${most}`
    return [{ path: pointer(path, name), message: 'has too many decimal places or is too large', expected }]
  })
}

function checkOverrides(overrides: readonly PricingOverride[], path: string): readonly Issue[] {
  return overrides.flatMap((override, index) => {
    const here = pointer(path, index)
    const issues = [...checkCountable(override, here), ...checkWindow(override, here)]
    const { min_prompt_tokens: tokens, utc_start: start, utc_end: end, utc_days: days } = override
    if ((tokens ?? start ?? end ?? days) === undefined)
      issues.push({ path: here, message: 'has no condition', expected: CONDITIONS })
    if (OVERRIDE_KEYS.every((key) => override[key] === undefined))
      issues.push({ path: here, message: 'has no price', expected: `one of ${OVERRIDE_KEYS.join(', ')}` })
    return issues
  })
}

const CONDITIONS = '`min_prompt_tokens`, `utc_start` with `utc_end`, or `utc_days`'

function checkWindow({ utc_start: start, utc_end: end }: PricingOverride, path: string): readonly Issue[] {
  const clocks = { utc_start: start, utc_end: end }
  const issues = Object.entries(clocks).flatMap(([name, clock = 0]): readonly Issue[] =>
    clock % 100 > LAST_MINUTE
      ? [
          {
            path: pointer(path, name),
            message: 'is not a time of day',
            expected: 'HHMM, with minutes from 0 to 59',
          },
        ]
      : [],
  )
  if ((start === undefined) !== (end === undefined)) {
    const [is, lacks] = start === undefined ? ['utc_end', 'utc_start'] : ['utc_start', 'utc_end']
    const message = `requires \`${lacks}\``
    issues.push({ path: pointer(path, is), message, expected: 'both `utc_start` and `utc_end`, or neither' })
  } else if (start !== undefined && start === end)
    issues.push({
      path: `${path}/utc_end`,
      message: 'equals `utc_start`',
      expected: 'a time other than `utc_start`',
    })
  return issues
}

const LAST_MINUTE = 59

/** Refuses overrides and modifiers in places where they are not used. */
function checkConditions(model: ModelEntry, { pricing, modifiers }: Priced, path: string): readonly Issue[] {
  const issues: Issue[] = []
  const expected = 'the member to be absent'
  if (makesVideo(model) && pricing?.overrides !== undefined) {
    const message = 'belongs to a video model'
    issues.push({ path: `${path}/pricing/overrides`, message, expected })
  }
  if (modifiers !== undefined && (makesVideo(model) || !writesText(model))) {
    const message = makesVideo(model) ? 'belongs to a video model' : 'belongs to a model without text output'
    issues.push({ path: `${path}/modifiers`, message, expected })
  }
  return issues
}

function checkModifier(
  all: readonly PriceModifier[],
  modifier: PriceModifier,
  path: string,
): readonly Issue[] {
  const issues: Issue[] = []
  const [member, name, tier] = whenOf(modifier)
  const at = `${path}/when/${member}`
  if (tier === undefined) {
    const expected =
      "a tier that answers can report; set the meaning of `auto` with the provider's `account_tier`"
    issues.push({ path: at, message: 'is never reported by an answer', expected })
  }
  if (tier === USUAL_TIER) {
    const expected = 'a tier with its own price'
    issues.push({ path: at, message: 'is the usual tier, priced by `pricing`', expected })
  }
  const twin = all.slice(0, all.indexOf(modifier)).map(whenOf)
  const other = twin.find(([of, named, same]) => of === member && same === tier && named !== name)
  if (other !== undefined) {
    const message = `is another name for the tier \`${other[1]}\`, so both modifiers would apply`
    issues.push({ path: at, message, expected: 'each tier once, under one name' })
  }
  if ('multiplier' in modifier) return issues
  const { overrides = [], ...prices } = modifier.pricing
  if (Object.keys(prices).length === 0 && overrides.length === 0)
    issues.push({ path: `${path}/pricing`, message: 'has no price', expected: 'a price per token' })
  const here = `${path}/pricing`
  return [...issues, ...checkCountable(prices, here), ...checkOverrides(overrides, `${here}/overrides`)]
}

function whenOf({ when }: PriceModifier): readonly [TierMember, string, string | undefined] {
  const named: Partial<Record<string, string>> = when
  const member = TIER_MEMBERS.find((one) => named[one] !== undefined) ?? 'service_tier'
  const name = named[member] ?? ''
  return [member, name, tierOf(member, name)]
}

/**
 * Refuses a tier that neither providers nor the modifiers of the provider's own endpoints know: otherwise a
 * spending limit would refuse each call, or a price would not apply.
 */
export function checkAccountTier(
  { slug, account_tier: given }: ProviderEntry,
  models: readonly ModelEntry[],
): readonly Issue[] {
  const tier = tierOf('service_tier', given)
  if (given === undefined || (tier !== undefined && isKnownTier(tier))) return []
  const own = new Set(models.filter((model) => isServedBy(model, slug)).flatMap(serviceTiersOf))
  if (tier !== undefined && own.has(tier)) return []
  const known = new Set([...ACCOUNT_TIERS, ...own])
  const message = 'is not an account tier'
  return [{ path: '/account_tier', message, expected: `one of ${[...known].join(', ')}` }]
}

function isKnownTier(tier: string): boolean {
  return ACCOUNT_TIERS.some((name) => tierOf('service_tier', name) === tier)
}

/** A model and its variants, each of which has endpoints and prices. */
function formsOf(model: ModelEntry): readonly Pick<ModelEntry, 'endpoints' | 'modifiers'>[] {
  const { variants = [] } = model
  return [model, ...variants.filter((variant) => typeof variant !== 'string')]
}

function isServedBy(model: ModelEntry, slug: string): boolean {
  return formsOf(model).some(({ endpoints = [] }) => endpoints.some(({ provider }) => provider === slug))
}

function serviceTiersOf(model: ModelEntry): readonly string[] {
  const priced = formsOf(model).flatMap((form) => [form, ...(form.endpoints ?? [])])
  return priced
    .flatMap(({ modifiers = [] }) => modifiers.map(whenOf))
    .flatMap(([member, name]) => (member === 'service_tier' ? [name] : []))
}

/** Refuses an entry that is free and has a price, since the intention is unclear. */
function checkFree({ free, pricing, modifiers, video }: Priced, path: string): readonly Issue[] {
  if (free !== true) return []
  if (pricing === undefined && modifiers === undefined && video?.pricing_skus === undefined) return []
  const message = 'must not be combined with a price'
  return [{ path: `${path}/free`, message, expected: 'either `free` or a price' }]
}

/** Refuses multipliers whose product with an affected price is too fine or too large to count. */
export function checkProducts(model: ModelEntry): readonly Issue[] {
  const places = placesOf(model)
  if (places.size === 0) return []
  const issues = new Map<string, Issue>()
  for (const terms of allTermsOf(model)) {
    for (const endpoint of terms.endpoints) {
      const modifiers = endpoint.modifiers ?? terms.modifiers ?? []
      const path = places.get(modifiers)
      if (path === undefined || isFree(endpoint, terms)) continue
      for (const [index, key] of uncountableProducts(endpoint.pricing ?? terms.pricing ?? {}, modifiers)) {
        const at = `${path}/${index}/multiplier`
        const message = `times the price \`${key}\` has too many decimal places or is too large`
        const expected = `products with at most ${TOKEN_PRICE_PLACES} decimal places`
        issues.set(at, { path: at, message, expected })
      }
    }
  }
  return [...issues.values()]
}

/** Paths of the lists of modifiers; offers that inherit a list share the same object. */
function placesOf(model: ModelEntry): ReadonlyMap<readonly PriceModifier[], string> {
  const places = new Map<readonly PriceModifier[], string>()
  const put = (priced: { modifiers?: PriceModifier[]; endpoints?: EndpointEntry[] }, path: string): void => {
    if (priced.modifiers !== undefined) places.set(priced.modifiers, `${path}/modifiers`)
    priced.endpoints?.forEach((endpoint, index) => {
      put(endpoint, `${path}/endpoints/${index}`)
    })
  }
  put(model, '')
  model.variants?.forEach((variant, index) => {
    if (typeof variant !== 'string') put(variant, `/variants/${index}`)
  })
  return places
}

type TokenPricing = Partial<Pick<Pricing, TokenPriceKey | 'overrides'>>

/** Multipliers, by index, whose product with a price cannot be counted in some combination of modifiers; the value is the key of the price. */
function uncountableProducts(
  pricing: TokenPricing,
  modifiers: readonly PriceModifier[],
): ReadonlyMap<number, string> {
  const faulty = new Map<number, string>()
  for (const reported of combinationsOf(modifiers)) {
    const met = TOKEN_PRICE_KEYS.map((key) => pricesOf(key, pricing))
    for (const [index, modifier] of modifiers.entries()) {
      const [member, , tier] = whenOf(modifier)
      if (reported.get(member) !== tier) continue
      for (const [nth, key] of TOKEN_PRICE_KEYS.entries()) {
        const before = met[nth] ?? []
        if ('pricing' in modifier) {
          const own = pricesOf(key, modifier.pricing)
          met[nth] = modifier.pricing[key] === undefined ? [...before, ...own] : own
        } else {
          met[nth] = before.flatMap((price) => {
            const product = productOf(price, modifier.multiplier)
            if (product === null) faulty.set(index, key)
            return product ?? []
          })
        }
      }
    }
  }
  return faulty
}

function combinationsOf(
  modifiers: readonly PriceModifier[],
): readonly ReadonlyMap<TierMember, string | undefined>[] {
  let all: readonly ReadonlyMap<TierMember, string | undefined>[] = [new Map()]
  for (const member of TIER_MEMBERS) {
    const tiers = new Set(modifiers.map(whenOf).flatMap(([of, , tier]) => (of === member ? [tier] : [])))
    all = all.flatMap((one) => [
      one,
      ...Array.from(tiers, (tier) => new Map([...one, [member, tier] as const])),
    ])
  }
  return all
}

/** The prices in nano-USD per million tokens that a key may have, without those whose faults are reported elsewhere. */
function pricesOf(key: TokenPriceKey, pricing: TokenPricing): readonly number[] {
  const overriding: readonly Partial<Record<string, unknown>>[] = pricing.overrides ?? []
  const written = [pricing[key], ...overriding.map((override) => override[key])]
  return written.flatMap((usd) => (typeof usd === 'string' ? (nanoPerMillion(usd) ?? []) : []))
}

/** Null: not a whole number of nano-USD per million tokens, or too large. */
function productOf(price: number, multiplier: string): number | null {
  const micro = BigInt(scaled(multiplier, MULTIPLIER_PLACES) ?? 0)
  const [product, whole] = [BigInt(price) * micro, 10n ** BigInt(MULTIPLIER_PLACES)]
  const counted = product / whole
  return product % whole === 0n && counted <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(counted) : null
}

/** Prices that are valid but probably not as intended: warnings, not errors. */
export function doubtfulPrices(model: ModelEntry): readonly Issue[] {
  const endpoints = (list: readonly EndpointEntry[] | undefined, path: string): readonly Issue[] =>
    (list ?? []).flatMap((one, index) => doubtful(one.pricing, `${path}/endpoints/${index}/pricing`))
  return [
    ...doubtful(model.pricing, '/pricing'),
    ...endpoints(model.endpoints, ''),
    ...(model.variants ?? []).flatMap((variant, index) =>
      typeof variant === 'string'
        ? []
        : [
            ...doubtful(variant.pricing, `/variants/${index}/pricing`),
            ...endpoints(variant.endpoints, `/variants/${index}`),
          ],
    ),
  ]
}

/**
 * USD per token, $1,000 per million, from which a price is probably a mistake in its unit: the highest list
 * price of a large provider was $600 per million, for the output of OpenAI's o1-pro. Decision.
 */
const DOUBTFUL_TOKEN_USD = 0.001

/** Prices that are probably per million tokens although the field is per token. */
function highPrices(pricing: TokenPricing, path: string): readonly Issue[] {
  return TOKEN_PRICE_KEYS.flatMap((key) => {
    const usd = pricing[key]
    if (usd === undefined || Number(usd) < DOUBTFUL_TOKEN_USD) return []
    const message = `is $${Number(usd) * 1e6} per million tokens`
    return [
      {
        path: pointer(path, key),
        message,
        expected: 'USD per token, such as `"0.000002"` for $2 per million',
      },
    ]
  })
}

/** Whether a later override applies in all cases of this one and sets all its prices, so that this one has no effect. */
function isCovered(override: PricingOverride, later: PricingOverride): boolean {
  const { utc_start: start, utc_end: end, utc_days: days } = later
  const isSameTime =
    start === override.utc_start && end === override.utc_end && String(days) === String(override.utc_days)
  const isAnyTime = start === undefined && days === undefined
  return (
    (isAnyTime || isSameTime) &&
    (later.min_prompt_tokens ?? 0) <= (override.min_prompt_tokens ?? 0) &&
    OVERRIDE_KEYS.every((key) => override[key] === undefined || later[key] !== undefined)
  )
}

function deadOverrides(overrides: readonly PricingOverride[], path: string): readonly Issue[] {
  return overrides.flatMap((override, index) => {
    const by = overrides.findIndex((later, at) => at > index && isCovered(override, later))
    if (by === -1) return []
    const message = `never applies: override ${by} matches the same calls, and the later override wins`
    return [
      {
        path: pointer(path, index),
        message,
        expected: 'the wider override before the narrower override',
      },
    ]
  })
}

function doubtful(pricing: Partial<Pricing> | undefined, path: string): readonly Issue[] {
  if (pricing === undefined) return []
  const { prompt = '0', completion = '0', internal_reasoning: reasoning, overrides = [] } = pricing
  const unlikely = [
    ...highPrices(pricing, path),
    ...overrides.flatMap((override, index) => highPrices(override, `${path}/overrides/${index}`)),
    ...deadOverrides(overrides, `${path}/overrides`),
  ]
  const stale = overrides.flatMap((override, index): readonly Issue[] => {
    const isDearer = Number(override.prompt ?? 0) > Number(prompt)
    if (!isDearer || pricing.input_cache_read === undefined || override.input_cache_read !== undefined)
      return []
    const message = 'raises `prompt`, but not the `input_cache_read` of the base price'
    const expected = 'the override to set `input_cache_read` as well'
    return [{ path: `${path}/overrides/${index}`, message, expected }]
  })
  const issues = [...unlikely, ...stale]
  if (reasoning === undefined || Number(reasoning) > 0 || Number(completion) === 0) return issues
  const message = 'is 0 while `completion` is above 0, so reasoning is free'
  const expected = 'no `internal_reasoning` if reasoning costs the same as `completion`'
  return [...issues, { path: `${path}/internal_reasoning`, message, expected }]
}
