import { COST_NANO_MAX } from './money-limits.ts'

/** Tokens that a price per million is of. */
export const TOKENS_PER_PRICE = 1_000_000

export interface Price {
  /** Nano-USD per million tokens of the prompt. */
  readonly promptNanoPerMillion: number
  /** Nano-USD. */
  readonly requestNano: number
}

/** Cost of one call in whole nano-USD, rounded up once; at most COST_NANO_MAX. C14. */
export function costNano(tokens: number, price: Price): number {
  const product = tokens * price.promptNanoPerMillion
  return Math.min(COST_NANO_MAX, promptNano(product, tokens, price) + price.requestNano)
}

function promptNano(product: number, tokens: number, price: Price): number {
  if (Number.isSafeInteger(product)) return Math.ceil(product / TOKENS_PER_PRICE)
  const exact = BigInt(tokens) * BigInt(price.promptNanoPerMillion)
  return Number((exact + BigInt(TOKENS_PER_PRICE) - 1n) / BigInt(TOKENS_PER_PRICE))
}

/**
 * The limits of a call that are finite, and whether each counts calls that the workspace pays itself. B2.9,
 * B2.10.
 */
export interface LimitFlags {
  readonly isCreditLimited: boolean
  readonly isWorkspaceLimited: boolean
  readonly isKeyLimited: boolean
  readonly workspaceCountsByok: boolean
  readonly keyCountsByok: boolean
}

/**
 * Whether a finite limit counts the calls of an endpoint.
 * @param isOwn called with a credential of the workspace
 */
export function isCounted(flags: LimitFlags, isOwn: boolean): boolean {
  if (!isOwn) return flags.isCreditLimited || flags.isWorkspaceLimited || flags.isKeyLimited
  // Credit is the operator's money.
  return (
    (flags.isWorkspaceLimited && flags.workspaceCountsByok) || (flags.isKeyLimited && flags.keyCountsByok)
  )
}

/** The charged part of a cost: no more than the bound that was computed before the call. Design §6.4. */
export function chargedNano(
  cost: { readonly costNano: number; readonly isByok: boolean },
  bound: { readonly paidNano: number | null; readonly anyNano: number | null },
): number {
  return Math.min(cost.costNano, (cost.isByok ? bound.anyNano : bound.paidNano) ?? Infinity)
}
