import type { LoadResult } from '../../test/support/load/load-plan.ts'

/** Each rate that is tried, of the one before it. */
export const RATE_STEP = 0.8
/** Of what was offered. */
const ANSWERED_SHARE_MIN = 0.98
/**
 * Milliseconds from when a request was due: beyond them requests queue up, and the machine is not where it
 * could stay.
 */
const P99_MS_MAX = 500

/** Whether a short load at this rate was answered, all of it well, and in time. */
export function holdsRate(
  { statuses, requests, measuredMs, latency }: LoadResult,
  ratePerS: number,
): boolean {
  const offered = (ratePerS * measuredMs) / 1_000
  return requests >= offered * ANSWERED_SHARE_MIN && statuses[200] === requests && latency.p99 <= P99_MS_MAX
}
