import { RATE_BURST_DIVISOR, RATE_BURST_MIN } from '../limits/rate-limits.ts'

/**
 * Requests that may come at once, never more than a minute's; may be a fraction.
 * @param set burst of the key, else of the operator; null: neither has one
 */
export function burstOf(limitRpm: number, set: number | null = null): number {
  return Math.min(limitRpm, set ?? Math.max(limitRpm / RATE_BURST_DIVISOR, RATE_BURST_MIN))
}

/** Burst of one of several fronts that share a limit without Redis. */
export function burstShare(burst: number, fronts: number): number {
  return Math.max(1, burst / fronts)
}

/**
 * The stored burst of a key, at most its limit; null for a key without a limit. Nodes of an older version lower
 * the limit and leave the burst.
 */
export function keptBurst(burst: number | null, limitRpm: number | null): number | null {
  return burst === null || limitRpm === null ? null : Math.min(burst, limitRpm)
}

/** What is wrong with a burst that a caller sent for a key with this limit; null: nothing. */
export function burstMistake(
  burst: number | null,
  limitRpm: number | null,
): { readonly message: string; readonly expected: string } | null {
  if (burst === null) return null
  if (limitRpm === null)
    return { message: 'requires a request limit', expected: '`rate_limit_rpm` as well, or null' }
  if (burst <= limitRpm) return null
  return {
    message: `exceeds the limit of ${limitRpm} requests a minute`,
    expected: `a whole number from 1 to ${limitRpm}, or a higher \`rate_limit_rpm\``,
  }
}
