/** Decimal places of a price in USD per token that whole nano-USD per million tokens can hold. C14. */
export const TOKEN_PRICE_PLACES = 15
/** Decimal places of a price per request, image or search in whole nano-USD. C14. */
export const UNIT_PRICE_PLACES = 9

/**
 * Scales a decimal by a power of ten without ever being a float: `('0.00000002', 15)` is 20,000,000.
 * @param decimal digits, and a fraction behind a point
 * @returns null when it is not such a decimal, has more places than fit, or the result is not a safe integer
 */
export function scaled(decimal: string, places: number): number | null {
  const parts = /^(\d+)(?:\.(\d+))?$/.exec(decimal)
  if (parts === null) return null
  const whole = parts[1] ?? ''
  const fraction = (parts[2] ?? '').replace(/0+$/, '')
  if (fraction.length > places) return null
  const value = BigInt(whole + fraction.padEnd(places, '0'))
  return value > BigInt(Number.MAX_SAFE_INTEGER) ? null : Number(value)
}

/** Nano-USD per million tokens of a price in USD per token. */
export function nanoPerMillion(usdPerToken: string): number | null {
  return scaled(usdPerToken, TOKEN_PRICE_PLACES)
}

/** Nano-USD of a price in USD per request. */
export function nano(usd: string): number | null {
  return scaled(usd, UNIT_PRICE_PLACES)
}
