/** Prices with conditions, in words. */
import type { PriceModifier, PricingOverride } from '../../../../schemas/models/price-conditions.ts'

const MINUTES = 100
const grouped = new Intl.NumberFormat('en-US')

/** `more than 200,000 tokens; 22:00 to 06:00 UTC; saturday, sunday` */
function conditionsOf({
  min_prompt_tokens: tokens,
  utc_start: start,
  utc_end: end,
  utc_days: days,
}: PricingOverride): string {
  const parts = [
    tokens !== undefined && `more than ${grouped.format(tokens)} tokens`,
    start !== undefined && end !== undefined && `${clock(start)} to ${clock(end)} UTC`,
    days !== undefined && days.join(', '),
  ]
  return parts.filter((part) => part !== false).join('; ')
}

function clock(time: number): string {
  const two = (count: number): string => String(count).padStart(2, '0')
  return `${two(Math.floor(time / MINUTES))}:${two(time % MINUTES)}`
}

/** `service_tier: flex` */
function tierWords({ when }: Pick<PriceModifier, 'when'>): string {
  return Object.entries(when)
    .map(([member, tier]) => `${member}: ${String(tier)}`)
    .join(', ')
}

export interface PriceChange {
  readonly when: string
  /** A factor of all prices of tokens; null: `prices` replace others. */
  readonly multiplier: string | null
  /** USD per token, by the names of `pricing`. */
  readonly prices: readonly (readonly [string, string])[]
}

interface Conditional {
  readonly overrides?: readonly PricingOverride[] | undefined
  readonly modifiers?: readonly PriceModifier[] | undefined
}

/** All changes of the prices of an endpoint, in the order in which they apply. */
export function priceChanges({ overrides = [], modifiers = [] }: Conditional): readonly PriceChange[] {
  return [
    ...overrides.map((override) => changeOf('', override)),
    ...modifiers.flatMap((modifier): readonly PriceChange[] => {
      const when = tierWords(modifier)
      if ('multiplier' in modifier) return [{ when, multiplier: modifier.multiplier, prices: [] }]
      const { overrides: own = [], ...prices } = modifier.pricing
      return [
        { when, multiplier: null, prices: pricesOf(prices) },
        ...own.map((override) => changeOf(`${when}; `, override)),
      ]
    }),
  ]
}

function changeOf(before: string, override: PricingOverride): PriceChange {
  const when = `${before}${conditionsOf(override)}`
  return { when, multiplier: null, prices: pricesOf(override) }
}

/** The prices among the members: conditions are numbers and lists, prices are texts. */
function pricesOf(members: object): readonly (readonly [string, string])[] {
  return Object.entries(members).flatMap(([name, price]: [string, unknown]) =>
    typeof price === 'string' ? [[name, price] as const] : [],
  )
}

/** Conditions of a price besides the model: `length, hour, tier`; empty: none. */
export function dependenciesOf({ overrides = [], modifiers = [] }: Conditional): string {
  const all = [
    ...overrides,
    ...modifiers.flatMap((one) => ('pricing' in one ? (one.pricing.overrides ?? []) : [])),
  ]
  const parts = [
    all.some((one) => one.min_prompt_tokens !== undefined) && 'length',
    all.some((one) => one.utc_start !== undefined || one.utc_days !== undefined) && 'hour',
    modifiers.length > 0 && 'tier',
  ]
  return parts.filter((part) => part !== false).join(', ')
}
