/** Milliseconds from a failed attempt to the next; the first attempt is immediate, and the eighth is the last. */
export const WEBHOOK_DELAYS_MS: readonly number[] = [5, 300, 1_800, 7_200, 18_000, 36_000, 36_000].map(
  (seconds) => seconds * 1_000,
)

/** The largest share of a delay that is added at random. */
const JITTER = 0.2

export interface FailedTry {
  /** Attempts so far, this one included. */
  readonly tries: number
  /** The delay that the receiver requested. */
  readonly retryAfterMs: number | null
}

export interface DelayRules {
  readonly delaysMs: readonly number[]
  readonly retryAfterMsMax: number
  /** Returns a number from 0 to 1. */
  readonly random: () => number
}

/** @returns milliseconds until the next attempt, never less than the schedule's delay; null after the last attempt */
export function nextTryIn(
  { tries, retryAfterMs }: FailedTry,
  { delaysMs, retryAfterMsMax, random }: DelayRules,
): number | null {
  const delayMs = delaysMs[tries - 1]
  if (delayMs === undefined) return null
  return Math.round(Math.max(delayMs * (1 + JITTER * random()), Math.min(retryAfterMs ?? 0, retryAfterMsMax)))
}

/**
 * Reads `Retry-After`: whole seconds, or an HTTP date. RFC 9110 §10.2.3.
 * @param nowMs of the wall clock
 * @returns milliseconds from now, 0 for a past date; null without the header, or when it cannot be read
 */
export function retryAfterMsOf(text: string | null, nowMs: number): number | null {
  if (text === null) return null
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1_000
  // Accepts only the form in use today; for any other text, `Date` would only guess.
  if (!/^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/.test(text)) return null
  const atMs = Date.parse(text)
  return Number.isNaN(atMs) ? null : Math.max(0, atMs - nowMs)
}
