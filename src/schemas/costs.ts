import { COST_NANO_MAX } from './money-limits.ts'

const TOKENS_PER_PRICE = 1_000_000

export interface Price {
  /** Nano-USD per million tokens of the prompt. */
  readonly promptNanoPerMillion: number
  /** Nano-USD. */
  readonly requestNano: number
}

/** Cost of one call in whole nano-USD, rounded up once; never more than COST_NANO_MAX. C14. */
export function costNano(tokens: number, price: Price): number {
  const product = tokens * price.promptNanoPerMillion
  return Math.min(COST_NANO_MAX, promptNano(product, tokens, price) + price.requestNano)
}

function promptNano(product: number, tokens: number, price: Price): number {
  if (Number.isSafeInteger(product)) return Math.ceil(product / TOKENS_PER_PRICE)
  const exact = BigInt(tokens) * BigInt(price.promptNanoPerMillion)
  return Number((exact + BigInt(TOKENS_PER_PRICE) - 1n) / BigInt(TOKENS_PER_PRICE))
}

/** What of a cost is charged: no more than the bound that was told before the call. Design §6.4. */
export function chargedNano(
  cost: { readonly costNano: number; readonly isByok: boolean },
  bound: { readonly paidNano: number | null; readonly anyNano: number | null },
): number {
  return Math.min(cost.costNano, (cost.isByok ? bound.anyNano : bound.paidNano) ?? Infinity)
}
