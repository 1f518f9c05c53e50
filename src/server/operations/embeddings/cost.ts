const TOKENS_PER_PRICE = 1_000_000

interface Price {
  /** Nano-USD per million tokens of the prompt. */
  readonly promptNanoPerMillion: number
  /** Nano-USD. */
  readonly requestNano: number
}

/**
 * Cost of one call in whole nano-USD, rounded up once. C14.
 */
export function costNano(tokens: number, price: Price): number {
  const product = tokens * price.promptNanoPerMillion
  if (Number.isSafeInteger(product)) return Math.ceil(product / TOKENS_PER_PRICE) + price.requestNano
  const exact = BigInt(tokens) * BigInt(price.promptNanoPerMillion)
  return Number((exact + BigInt(TOKENS_PER_PRICE) - 1n) / BigInt(TOKENS_PER_PRICE)) + price.requestNano
}
