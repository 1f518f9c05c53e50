import { nano } from '../money/prices.ts'
import { VIDEO_PRICE_USD_MAX } from './video-model-limits.ts'

/**
 * The price of a video, from the `pricing_skus` of an endpoint. Names are those in public lists of video
 * models: `duration_seconds`, then `_with_audio` or `_without_audio`, then `_` and a resolution in lower
 * case, both optional; the price is USD per second of the result. `per_video` is an extension by Sluice: USD
 * per result, in addition to its seconds.
 */
export interface VideoPricing {
  readonly perSecond: readonly SecondPrice[]
  /** Nano-USD. */
  readonly perVideoNano: number
}

export interface SecondPrice {
  /** Lower case; null = every resolution. */
  readonly resolution: string | null
  /** Null = with and without audio. */
  readonly hasAudio: boolean | null
  /** Nano-USD per second. */
  readonly nano: number
}

export interface VideoMade {
  /** May have a fraction: the length of the result, not the requested one. */
  readonly seconds: number
  /** Null: unknown; the highest price that could apply counts. */
  readonly resolution: string | null
  readonly hasAudio: boolean
}

const SECOND_SKU = /^duration_seconds(?:_(with|without)_audio)?(?:_([0-9]+[pk]))?$/
const VIDEO_SKU = 'per_video'
const MICRO = 1_000_000

/** Unknown SKUs are refused, since such a price would never be charged. */
export function isVideoSku(name: string): boolean {
  return name === VIDEO_SKU || SECOND_SKU.test(name)
}

/** Nano-USD of one SKU; null for a fraction of a nano-USD, for a text that is not a decimal, and above VIDEO_PRICE_USD_MAX. */
export function videoSkuNano(usd: string): number | null {
  const price = nano(usd)
  return price === null || price > VIDEO_PRICE_USD_MAX * 1_000_000_000 ? null : price
}

/** @param skus decimal strings of USD by name @returns null when a name or a price is invalid */
export function videoPricing(skus: Readonly<Record<string, string>>): VideoPricing | null {
  const perSecond: SecondPrice[] = []
  let perVideoNano = 0
  for (const [name, usd] of Object.entries(skus)) {
    const price = videoSkuNano(usd)
    const parts = SECOND_SKU.exec(name)
    if (price === null || (parts === null && name !== VIDEO_SKU)) return null
    if (parts === null) perVideoNano = price
    else perSecond.push({ resolution: parts[2] ?? null, hasAudio: audioOf(parts[1]), nano: price })
  }
  return { perSecond, perVideoNano }
}

function audioOf(word: string | undefined): boolean | null {
  return word === undefined ? null : word === 'with'
}

/** Whether every video of this kind has a price. @param resolution null: for any resolution */
export function isPriced(
  { perSecond, perVideoNano }: VideoPricing,
  resolution: string | null,
  hasAudio: boolean,
): boolean {
  if (perSecond.length === 0) return perVideoNano > 0
  return perSecond.some(
    (price) =>
      (resolution !== null || price.resolution === null) && rankOf(price, folded(resolution), hasAudio) > 0,
  )
}

/**
 * Nano-USD of one video: its seconds at the most specific price that applies, where a matching resolution
 * counts more than matching audio, plus `per_video` once. Rounded up once. Without a matching price, the
 * highest price that could apply counts.
 */
export function videoCostNano(
  { perSecond, perVideoNano }: VideoPricing,
  { seconds, resolution, hasAudio }: VideoMade,
): number {
  const rate = rateOf(perSecond, folded(resolution), hasAudio)
  // Durations are measured in microseconds, since floats cannot represent decimal fractions of a second exactly.
  const micros = BigInt(Math.round(seconds * MICRO)) * BigInt(rate)
  const whole = (micros + BigInt(MICRO) - 1n) / BigInt(MICRO)
  return Number(whole) + perVideoNano
}

/** The highest price of several endpoints: the amount to reserve before the endpoint of the video is known. */
export function dearestVideoNano(pricings: readonly (VideoPricing | null)[], made: VideoMade): number {
  return pricings.reduce(
    (most, pricing) => Math.max(most, pricing === null ? 0 : videoCostNano(pricing, made)),
    0,
  )
}

function rateOf(prices: readonly SecondPrice[], resolution: string | null, hasAudio: boolean): number {
  let best = 0
  let rate = 0
  for (const price of prices) {
    const rank = rankOf(price, resolution, hasAudio)
    if (rank > best || (rank === best && price.nano > rate)) [best, rate] = [rank, price.nano]
  }
  if (best > 0) return rate
  // An error in prices must not make a video free.
  return resolution === null
    ? prices.reduce((most, price) => Math.max(most, price.nano), 0)
    : rateOf(prices, null, hasAudio)
}

/** 0 = does not apply. For an unknown resolution all prices rank alike, since any of them may apply. */
function rankOf(price: SecondPrice, resolution: string | null, hasAudio: boolean): number {
  if (price.hasAudio !== null && price.hasAudio !== hasAudio) return 0
  if (resolution === null) return 1
  if (price.resolution !== null && price.resolution !== resolution) return 0
  return 1 + (price.resolution === null ? 0 : 2) + (price.hasAudio === null ? 0 : 1)
}

function folded(resolution: string | null): string | null {
  return resolution?.toLowerCase() ?? null
}
