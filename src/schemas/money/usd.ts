import { USD_MAX } from './money-limits.ts'

export const NANO_PER_USD = 1_000_000_000
const NANO_PLACES = 9

/**
 * Whole nano-USD of a JSON number of USD: the nearest amount, and of two equally near ones the one farther
 * from zero. Computed from the number's decimal digits: a product would be rounded before this rounding.
 * @param usd may be negative
 * @returns null when the number is not finite, or farther from zero than USD_MAX
 * Source: C14.
 */
export function nanoOfUsd(usd: number): bigint | null {
  if (!Number.isFinite(usd) || Math.abs(usd) > USD_MAX) return null
  return BigInt(usd.toFixed(NANO_PLACES).replace('.', ''))
}

/**
 * The JSON number of USD nearest to an amount in nano-USD. `nanoOfUsd` returns the same amount below 2²³ USD;
 * above, numbers are more than a nano-USD apart.
 * Source: C14.
 */
export function usdOfNano(nano: bigint | number): number {
  // A division rounds once, and so does reading a decimal; a division would round a bigint above 2⁵³ twice.
  const whole = Number(nano)
  return Number.isSafeInteger(whole) ? whole / NANO_PER_USD : Number(`${nano}e-${NANO_PLACES}`)
}

/** Exact USD for people from whole nano-USD: `0.000000001`, `9.99`, `-10`; never `1e-9`. */
export function usdText(nano: number | bigint): string {
  const digits = String(nano < 0 ? -BigInt(nano) : BigInt(nano)).padStart(NANO_PLACES + 1, '0')
  const fraction = digits.slice(-NANO_PLACES).replace(/0+$/, '')
  return `${nano < 0 ? '-' : ''}${digits.slice(0, -NANO_PLACES)}${fraction === '' ? '' : `.${fraction}`}`
}
