/** Converts prices of the catalogue to the form with which calls are priced, and back. */
import type { Pricing } from '../models/models.ts'
import {
  MULTIPLIER_PLACES,
  TIER_MEMBERS,
  TOKEN_PRICE_KEYS,
  UTC_DAYS,
  type PriceModifier,
  type PricingOverride,
  type TokenPriceKey,
  type WrittenPrice,
  tierOf,
  USUAL_TIER,
} from '../models/price-conditions.ts'
import {
  ABSENT,
  dearestOf,
  NOTHING_APPLIED,
  withDefaults,
  type EndpointPrices,
  type KeptPrice,
  type Modifier,
  type Override,
  type TokenPrices,
} from './price-at.ts'
import { nano, nanoPerMillion, scaled, TOKEN_PRICE_PLACES, UNIT_PRICE_PLACES, unscaled } from './prices.ts'

/** Bits of all days of a week. */
const EVERY_DAY = 127

export interface PriceSource {
  readonly pricing: Partial<Pricing>
  readonly modifiers?: readonly PriceModifier[] | undefined
  readonly accountTier?: string | undefined
}

/** @param source checked: its prices can be counted */
export function endpointPrices({ pricing, modifiers = [], accountTier }: PriceSource): EndpointPrices {
  const prices = tokenPrices(pricing)
  const overrides = (pricing.overrides ?? []).map(overrideOf)
  const isPlain = overrides.length === 0 && modifiers.length === 0
  const tier = tierOf('service_tier', accountTier) ?? USUAL_TIER
  return {
    ...withDefaults(prices),
    ...dearestOf(prices),
    requestNano: counted(nano(pricing.request ?? '0')),
    searchNano: counted(nano(pricing.web_search ?? '0')),
    imageNano: counted(nano(pricing.image ?? '0')),
    isSearchPriced: pricing.web_search !== undefined,
    applied: NOTHING_APPLIED,
    conditions: isPlain ? null : { prices, overrides, modifiers: modifiers.map(modifierOf) },
    ...(tier !== USUAL_TIER && { accountTier: tier }),
  }
}

function tokenPrices(pricing: Partial<Record<TokenPriceKey, string>>): TokenPrices {
  return TOKEN_PRICE_KEYS.map((key) => {
    const usd = pricing[key]
    return usd === undefined ? ABSENT : counted(nanoPerMillion(usd))
  })
}

function overrideOf(entry: PricingOverride): Override {
  const { min_prompt_tokens: minPromptTokens = -1, utc_start: start = 0, utc_end: end = 0, utc_days } = entry
  const days = utc_days?.reduce((bits, day) => bits | (1 << UTC_DAYS.indexOf(day)), 0) ?? EVERY_DAY
  const prices = tokenPrices(entry)
  return { minPromptTokens, startMinute: minuteOf(start), endMinute: minuteOf(end), days, prices }
}

function minuteOf(clock: number): number {
  return Math.floor(clock / 100) * 60 + (clock % 100)
}

function modifierOf(entry: PriceModifier): Modifier {
  const when: Partial<Record<string, string>> = entry.when
  const member = TIER_MEMBERS.find((name) => when[name] !== undefined) ?? 'service_tier'
  const tier = tierOf(member, when[member]) ?? USUAL_TIER
  if ('multiplier' in entry) {
    const multiplierMicro = counted(scaled(entry.multiplier, MULTIPLIER_PLACES))
    return { member, tier, multiplierMicro, prices: [], overrides: [] }
  }
  const { pricing } = entry
  const overrides = (pricing.overrides ?? []).map(overrideOf)
  return { member, tier, multiplierMicro: null, prices: tokenPrices(pricing), overrides }
}

/** Resolved prices in the form of the catalogue, with all keys that a call can have. */
export function writtenPrice(price: KeptPrice): WrittenPrice {
  const token = (nanoPerMillion: number): string => unscaled(nanoPerMillion, TOKEN_PRICE_PLACES)
  const { media, applied } = price
  return {
    prompt: token(price.promptNanoPerMillion),
    completion: token(price.completionNanoPerMillion),
    input_cache_read: token(price.cacheReadNanoPerMillion),
    input_cache_write: token(price.cacheWriteNanoPerMillion),
    input_cache_write_1h: token(price.cacheWriteHourNanoPerMillion),
    internal_reasoning: token(price.reasoningNanoPerMillion),
    ...(media !== undefined && {
      audio: token(media.audio),
      image_token: token(media.image),
      input_audio_cache: token(media.audioRead),
      audio_output: token(media.audioOutput),
    }),
    request: unscaled(price.requestNano, UNIT_PRICE_PLACES),
    image: unscaled(price.imageNano, UNIT_PRICE_PLACES),
    web_search: unscaled(price.searchNano, UNIT_PRICE_PLACES),
    overrides: [...applied.overrides],
    modifiers: [...applied.modifiers],
  }
}

/** The number of a price that the check has accepted. Throws for null, so that a bug in the check does not make calls free. */
export function counted(price: number | null): number {
  if (price === null) throw new Error('catalogue: a price was not checked')
  return price
}
