import type { Pricing } from '../../../../schemas/models/models.ts'
import type { VideoModel } from '../../../../schemas/videos/video-models.ts'
import { NONE } from './figures.tsx'

/** What nothing is asked for, said alike wherever it is shown. */
export const FREE = 'free'
const MILLION = 1_000_000
/** A price is told as it is, an amount only as far as it matters. */
const exact = new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD', maximumFractionDigits: 9 })

/** USD of a million tokens, of a price for one; nothing where nothing is asked. */
export function perMillion(price: string | undefined): string {
  const value = Number(price ?? 0) * MILLION
  return value === 0 ? NONE : exact.format(value)
}

const SHOWN: readonly string[] = ['prompt', 'completion']
const OF_TOKENS = /cache|reasoning|token/

/**
 * The prices beside those that have columns: `request $0.001, input cache read $0.18 a million`; of a model
 * that asks nothing, `free`.
 */
export function otherPrices(pricing: Pricing): string {
  if (Object.values(pricing).every((price) => typeof price !== 'string' || Number(price) === 0)) return FREE
  const others = Object.entries(pricing).filter(
    ([name, price]) => !SHOWN.includes(name) && typeof price === 'string' && Number(price) > 0,
  )
  return others
    .map(([name, price]) => {
      const told = OF_TOKENS.test(name)
        ? `${perMillion(String(price))} a million`
        : exact.format(Number(price))
      return `${name.replaceAll('_', ' ')} ${told}`
    })
    .join(', ')
}

/** `$0.05 to $0.40 a second`. */
export function videoPrice(skus: VideoModel['pricing_skus']): string {
  const entries = Object.entries(skus ?? {})
  const seconds = rangeOf(entries.filter(([name]) => name !== PER_VIDEO))
  const whole = rangeOf(entries.filter(([name]) => name === PER_VIDEO))
  const told = [seconds !== '' && `${seconds} a second`, whole !== '' && `${whole} a video`].filter(Boolean)
  return told.length === 0 ? FREE : told.join(', ')
}

const PER_VIDEO = 'per_video'

function rangeOf(entries: readonly (readonly [string, string])[]): string {
  if (entries.length === 0) return ''
  const prices = entries.map(([, price]) => Number(price))
  const [least, most] = [Math.min(...prices), Math.max(...prices)]
  return least === most ? exact.format(least) : `${exact.format(least)} to ${exact.format(most)}`
}
