/** The level of a window, in milliseconds until it is empty again; between 0 and `toleranceMs`. */
export interface Window {
  /** Milliseconds per token. */
  readonly intervalMs: number
  /** The burst in milliseconds: interval × burst. */
  readonly toleranceMs: number
  levelMs: number
  /** Monotonic milliseconds at which `levelMs` was true. */
  at: number
}

/** A window of `perMinute` tokens with `burst` at once; both may be fractions. */
export function windowOf(perMinute: number, burst: number): Pick<Window, 'intervalMs' | 'toleranceMs'> {
  const intervalMs = 60_000 / perMinute
  return { intervalMs, toleranceMs: intervalMs * burst }
}

/** Takes one token, or returns the milliseconds until one is free. A clock that is set back does not empty the window. */
export function takeOne(
  window: Window,
  now: number,
): { readonly isTaken: boolean; readonly retryAfterMs: number } {
  const retryAfterMs = waitFor(window, now, 1)
  if (retryAfterMs > 0) return { isTaken: false, retryAfterMs }
  window.levelMs += window.intervalMs
  return { isTaken: true, retryAfterMs: 0 }
}

/** Milliseconds until this many tokens are free; 0: they are free now. */
export function waitFor(window: Window, now: number, tokens: number): number {
  settle(window, now)
  const over = window.levelMs + tokens * window.intervalMs - window.toleranceMs
  // A thousandth of a millisecond is tolerated, since sums of fractions are inexact.
  return over > 0.001 ? Math.ceil(over) : 0
}

/**
 * Takes this many tokens even if they are not free; a negative number returns tokens.
 * @param owedMsMax milliseconds by which the level may exceed the burst
 */
export function add(window: Window, now: number, tokens: number, owedMsMax: number): void {
  settle(window, now)
  const levelMs = window.levelMs + tokens * window.intervalMs
  window.levelMs = Math.max(0, Math.min(levelMs, window.toleranceMs + owedMsMax))
}

/** Whole tokens that are free at `now`. */
export function freeOf(window: Window, now: number): number {
  settle(window, now)
  return Math.max(0, Math.floor((window.toleranceMs - window.levelMs) / window.intervalMs + 0.000001))
}

/** Milliseconds until the window is empty. */
export function levelOf(window: Window, now: number): number {
  return Math.max(0, window.levelMs - Math.max(0, now - window.at))
}

function settle(window: Window, now: number): void {
  window.levelMs = levelOf(window, now)
  window.at = now
}
