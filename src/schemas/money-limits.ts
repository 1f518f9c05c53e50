/** Named limits of money, each once, with its unit and its source. */

/** USD that a budget, a key's limit, a top-up or all credit may amount to: their nano-USD fit a `bigint` nine times over. Decision. */
export const USD_MAX = 1_000_000_000
