/** Tokens of the least budget of reasoning. Part D, mapping table. */
export const REASONING_TOKENS_MIN = 1_024

/** The share of the most tokens of an answer that an effort may reason with. Part D, mapping table. */
const SHARES: Readonly<Record<string, number>> = {
  minimal: 0,
  low: 0.2,
  medium: 0.5,
  high: 0.8,
  xhigh: 0.95,
  max: 0.95,
}

/**
 * The tokens of reasoning that an effort stands for.
 * @param tokensMax of the whole answer
 * @returns null: no effort has this name
 */
export function budgetOfEffort(effort: string, tokensMax: number): number | null {
  const share = Object.hasOwn(SHARES, effort) ? SHARES[effort] : undefined
  return share === undefined ? null : Math.max(REASONING_TOKENS_MIN, Math.floor(tokensMax * share))
}
