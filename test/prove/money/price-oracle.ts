/**
 * What a call costs by the catalogue's own texts: exact fractions, the calendar of `Date`, and nothing of the
 * product's arithmetic.
 */
import type { Pricing } from '../../../src/schemas/models/models.ts'
import type { PriceModifier, PricingOverride } from '../../../src/schemas/models/price-conditions.ts'
import type { TokenCounts } from '../../../src/schemas/money/costs.ts'

export interface PricedCall {
  readonly usage: TokenCounts
  readonly at: Date
  /** As the provider spells it. */
  readonly reported: Readonly<Partial<Record<string, string>>>
  readonly images: number
}

type Prices = Readonly<Partial<Record<string, string>>>

/** A price as a fraction of nano-USD for a million tokens. */
interface Fraction {
  readonly over: bigint
  readonly under: bigint
}

const NANO_PLACES = 15
const UNIT_PLACES = 9
const MILLION = 1_000_000n
const NOTHING: Fraction = { over: 0n, under: 1n }

function fraction(decimal: string, places: number): Fraction {
  const [whole = '0', digits = ''] = decimal.split('.')
  return { over: BigInt(whole + digits) * 10n ** BigInt(places), under: 10n ** BigInt(digits.length) }
}

/** Whole nano-USD, rounded up once. */
export function oracleNano(
  pricing: Partial<Pricing>,
  modifiers: readonly PriceModifier[],
  call: PricedCall,
): bigint {
  const prices = resolved(pricing, modifiers, call)
  const price = (...keys: readonly string[]): Fraction =>
    keys.map((key) => prices.get(key)).find((one) => one !== undefined) ?? NOTHING
  const { usage } = call
  const { cacheWriteHour: hour = 0, searches = 0, media } = usage
  // Sounds and pictures have buckets of their own only where one of them has a price.
  const hasMedia = ['audio', 'image_token', 'input_audio_cache', 'audio_output'].some((key) =>
    prices.has(key),
  )
  const { audio, image, audioRead, audioOutput } =
    hasMedia && media !== undefined ? media : { audio: 0, image: 0, audioRead: 0, audioOutput: 0 }
  const buckets: readonly (readonly [number, Fraction])[] = [
    [usage.input - audio - image, price('prompt')],
    [audio, price('audio', 'prompt')],
    [image, price('image_token', 'prompt')],
    [usage.cacheRead - audioRead, price('input_cache_read', 'prompt')],
    [audioRead, price('input_audio_cache', 'input_cache_read', 'prompt')],
    [usage.cacheWrite - hour, price('input_cache_write', 'prompt')],
    [hour, price('input_cache_write_1h', 'input_cache_write', 'prompt')],
    [usage.output - audioOutput, price('completion')],
    [audioOutput, price('audio_output', 'completion')],
    [usage.reasoning, price('internal_reasoning', 'completion')],
  ]
  let sum: Fraction = NOTHING
  for (const [tokens, { over, under }] of buckets) {
    sum = { over: sum.over * under + BigInt(tokens) * over * sum.under, under: sum.under * under }
  }
  const per = sum.under * MILLION
  const tokens = (sum.over + per - 1n) / per
  return (
    tokens +
    units(pricing.request) +
    units(pricing.web_search) * BigInt(searches) +
    units(pricing.image) * BigInt(call.images)
  )
}

function units(usd = '0'): bigint {
  const { over, under } = fraction(usd, UNIT_PLACES)
  return over / under
}

function resolved(
  pricing: Partial<Pricing>,
  modifiers: readonly PriceModifier[],
  call: PricedCall,
): ReadonlyMap<string, Fraction> {
  const prices = new Map<string, Fraction>()
  const { overrides = [], ...base } = pricing
  put(prices, base as Prices)
  putOverrides(prices, overrides, call)
  for (const modifier of modifiers) {
    const [[member = '', tier = ''] = []] = Object.entries(modifier.when)
    if (nameOf(member, call.reported[member]) !== nameOf(member, tier)) continue
    if ('pricing' in modifier) {
      const { overrides: inner = [], ...own } = modifier.pricing
      put(prices, own)
      putOverrides(prices, inner, call)
    } else {
      const { over, under } = fraction(modifier.multiplier, 0)
      for (const [key, price] of prices)
        prices.set(key, { over: price.over * over, under: price.under * under })
    }
  }
  return prices
}

const PER_UNIT: readonly string[] = ['request', 'web_search', 'image', 'image_output', 'discount']

function put(prices: Map<string, Fraction>, text: Prices): void {
  for (const [key, usd] of Object.entries(text))
    if (typeof usd === 'string' && !PER_UNIT.includes(key)) prices.set(key, fraction(usd, NANO_PLACES))
}

function putOverrides(
  prices: Map<string, Fraction>,
  overrides: readonly PricingOverride[],
  call: PricedCall,
): void {
  const { input, cacheRead, cacheWrite } = call.usage
  for (const override of overrides) {
    const { min_prompt_tokens: tokens, utc_start: start, utc_end: end, utc_days: days, ...own } = override
    if (tokens !== undefined && input + cacheRead + cacheWrite <= tokens) continue
    const day = WEEK[call.at.getUTCDay()] ?? ''
    if (days !== undefined && !(days as readonly string[]).includes(day)) continue
    const clock = call.at.getUTCHours() * 100 + call.at.getUTCMinutes()
    const isIn =
      start === undefined ||
      end === undefined ||
      (start < end ? clock >= start && clock < end : clock >= start || clock < end)
    if (isIn) put(prices, own)
  }
}

const WEEK = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday']

/** Spellings of one tier. */
const SAME: Readonly<Record<string, string>> = {
  'service_tier standard': 'default',
  'service_tier standard_only': 'default',
  'service_tier on_demand': 'default',
  'service_tier fast': 'priority',
  'speed standard': 'default',
  'inference_geo global': 'default',
  'inference_geo not_available': 'default',
}

function nameOf(member: string, tier: string | undefined): string | undefined {
  const lower = tier?.toLowerCase()
  return SAME[`${member} ${lower}`] ?? lower
}
