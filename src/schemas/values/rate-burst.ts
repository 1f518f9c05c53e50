import { RATE_BURST_DIVISOR } from '../limits/rate-limits.ts'

/** Requests that may come at once at a limit or a share of a limit; may be a fraction. C11. */
export function burstOf(limitRpm: number): number {
  return Math.max(1, limitRpm / RATE_BURST_DIVISOR)
}
