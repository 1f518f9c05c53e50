/** Seconds: from the duration of a hit in memory to the longest deadline. */
export const CALL_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]
/** Seconds: from a model in memory to one that thinks as long as a provider may. */
export const FIRST_OUTPUT_BUCKETS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120]

/** The bucket of a value: the first whose bound it does not exceed, else the one behind all bounds. */
export function bucketOf(bounds: readonly number[], value: number): number {
  let at = 0
  while (at < bounds.length && value > (bounds[at] ?? 0)) at++
  return at
}

/**
 * A quantile in milliseconds, interpolated as if each bucket were filled evenly; null without measurements.
 * @param bounds of the buckets, in seconds
 */
export function quantileMs(
  buckets: ArrayLike<number>,
  quantile: number,
  bounds: readonly number[] = CALL_BUCKETS,
): number | null {
  let all = 0
  for (let at = 0; at < buckets.length; at++) all += buckets[at] ?? 0
  if (all === 0) return null
  const rank = quantile * all
  let below = 0
  for (let at = 0; at < bounds.length; at++) {
    const count = buckets[at] ?? 0
    if (below + count >= rank && count > 0) {
      const [from, bound] = [bounds[at - 1] ?? 0, bounds[at] ?? 0]
      return rounded((from + (bound - from) * ((rank - below) / count)) * 1_000)
    }
    below += count
  }
  return (bounds.at(-1) ?? 0) * 1_000
}

/** Rounds to three decimals: more would only lengthen an answer. */
export function rounded(value: number): number {
  return Math.round(value * 1_000) / 1_000
}
