import { RATE_BURST_DIVISOR, RATE_BURST_MIN } from '../limits/rate-limits.ts'

/**
 * The burst in requests, never more than the limit per minute; may be a fraction.
 * @param set burst of the key, otherwise the operator's; null: neither is set
 */
export function burstOf(limitRpm: number, set: number | null = null): number {
  return Math.min(limitRpm, set ?? Math.max(limitRpm / RATE_BURST_DIVISOR, RATE_BURST_MIN))
}

/** The burst of each of several fronts that share a limit without Redis. */
export function burstShare(burst: number, fronts: number): number {
  return Math.max(1, burst / fronts)
}

/**
 * The stored burst of a key, at most its limit; null for a key without a limit. Reduced here because nodes of
 * an older version lower the limit without the burst.
 */
export function keptBurst(burst: number | null, limitRpm: number | null): number | null {
  return burst === null || limitRpm === null ? null : Math.min(burst, limitRpm)
}

/** The fault of a burst that a caller sent for a key with this limit; null: none. */
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
