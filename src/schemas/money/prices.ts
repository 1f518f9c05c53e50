/** Decimal places of a price in USD per token; with these, the price is a whole number of nano-USD per million tokens. */
export const TOKEN_PRICE_PLACES = 15
/** Decimal places of a price per request, image or search; with these, the price is a whole number of nano-USD. */
export const UNIT_PRICE_PLACES = 9

/**
 * Scales a decimal by a power of ten without floating point: `('0.00000002', 15)` is 20,000,000.
 * @param decimal digits, with or without a fraction after a point
 * @returns null for another text, for more places than `places`, or for a result that is not a safe integer
 */
export function scaled(decimal: string, places: number): number | null {
  const parts = /^(\d+)(?:\.(\d+))?$/.exec(decimal)
  if (parts === null) return null
  const whole = (parts[1] ?? '').replace(/^0+/, '')
  const fraction = parts[2] ?? ''
  // Not a regular expression: workspaces write prices of any length, and it would start again at each zero.
  let end = fraction.length
  while (fraction[end - 1] === '0') end -= 1
  if (end > places || whole.length > SAFE_DIGITS) return null
  const value = BigInt(whole + fraction.slice(0, end).padEnd(places, '0'))
  return value > BigInt(Number.MAX_SAFE_INTEGER) ? null : Number(value)
}

/** The shortest decimal text of a scaled number: `(20_000_000, 15)` is `0.00000002`. */
export function unscaled(value: number, places: number): string {
  const digits = String(value).padStart(places + 1, '0')
  const fraction = digits.slice(-places).replace(/0+$/, '')
  return `${digits.slice(0, -places)}${fraction === '' ? '' : `.${fraction}`}`
}

const SAFE_DIGITS = String(Number.MAX_SAFE_INTEGER).length

/** Nano-USD per million tokens of a price in USD per token. */
export function nanoPerMillion(usdPerToken: string): number | null {
  return scaled(usdPerToken, TOKEN_PRICE_PLACES)
}

/** Nano-USD of a price in USD per request. */
export function nano(usd: string): number | null {
  return scaled(usd, UNIT_PRICE_PLACES)
}
