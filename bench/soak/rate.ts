import type { LoadResult } from '../../test/support/load/load-plan.ts'

/** Factor between a tried rate and the next. */
export const RATE_STEP = 0.8
/** Share of the offered requests that must be answered. */
const ANSWERED_SHARE_MIN = 0.98
/**
 * Milliseconds from the time when a request was due: beyond them requests queue, and the machine cannot hold
 * the rate.
 */
const P99_MS_MAX = 500

/** True when a short load at this rate was answered well and in time. */
export function holdsRate(
  { statuses, requests, measuredMs, latency }: LoadResult,
  ratePerS: number,
): boolean {
  const offered = (ratePerS * measuredMs) / 1_000
  return requests >= offered * ANSWERED_SHARE_MIN && statuses[200] === requests && latency.p99 <= P99_MS_MAX
}
