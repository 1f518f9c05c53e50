import type { Model } from '../../../../schemas/models/models.ts'
import type { VideoModel } from '../../../../schemas/videos/video-models.ts'
import { NONE } from './figures.tsx'
import { dependenciesOf, type PriceChange } from './price-changes.ts'

/** The word for a price of zero, the same everywhere. */
export const FREE = 'free'
const MILLION = 1_000_000
/** Prices are shown exactly, amounts are rounded. */
const exact = new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD', maximumFractionDigits: 9 })

/** USD per million tokens, from a price per token; no figure for a price of zero. */
export function perMillion(price: string | undefined): string {
  const value = Number(price ?? 0) * MILLION
  return value === 0 ? NONE : exact.format(value)
}

const SHOWN: readonly string[] = ['prompt', 'completion']
const OF_TOKENS = /cache|reasoning|token/

/** Prices without columns: `request $0.001, input cache read $0.18 a million`, what prices depend on: `by length, hour`; `free` for none. */
export function otherPrices({ pricing, x }: Pick<Model, 'pricing' | 'x'>): string {
  const by = dependenciesOf({ overrides: pricing.overrides, modifiers: x?.modifiers })
  const isZero = Object.values(pricing).every((price) => typeof price !== 'string' || Number(price) === 0)
  if (isZero && by === '') return FREE
  const others = Object.entries(pricing).filter(
    ([name, price]) => !SHOWN.includes(name) && typeof price === 'string' && Number(price) > 0,
  )
  const texts = others.map(([name, price]) => {
    const text = OF_TOKENS.test(name) ? `${perMillion(String(price))} per 1M` : exact.format(Number(price))
    return `${spaced(name)} ${text}`
  })
  return [...texts, ...(by === '' ? [] : [`by ${by}`])].join(', ')
}

/** The prices of a change, per million tokens: `prompt $4, completion $15`, or `× 0.5`. */
export function changedPrices({ multiplier, prices }: PriceChange): string {
  if (multiplier !== null) return `× ${multiplier}`
  return prices.map(([name, price]) => `${spaced(name)} ${exact.format(Number(price) * MILLION)}`).join(', ')
}

function spaced(name: string): string {
  return name.replaceAll('_', ' ')
}

/** `$0.05 to $0.40 per second`. */
export function videoPrice(skus: VideoModel['pricing_skus']): string {
  const entries = Object.entries(skus ?? {})
  const seconds = rangeOf(entries.filter(([name]) => name !== PER_VIDEO))
  const whole = rangeOf(entries.filter(([name]) => name === PER_VIDEO))
  const texts = [seconds !== '' && `${seconds} per second`, whole !== '' && `${whole} per video`].filter(
    Boolean,
  )
  return texts.length === 0 ? FREE : texts.join(', ')
}

const PER_VIDEO = 'per_video'

function rangeOf(entries: readonly (readonly [string, string])[]): string {
  if (entries.length === 0) return ''
  const prices = entries.map(([, price]) => Number(price))
  const [least, most] = [Math.min(...prices), Math.max(...prices)]
  return least === most ? exact.format(least) : `${exact.format(least)} to ${exact.format(most)}`
}
