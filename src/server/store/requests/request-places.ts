import type { RequestPlace } from '../../ports/requests/request-log.ts'

/** The order of the log. */
export function newestFirst(a: RequestPlace, b: RequestPlace): number {
  return byDigits(b.endedUs, a.endedUs) || byDigits(b.batch, a.batch) || b.n - a.n
}

/** Whether a place comes later in the log, which is an earlier end. */
export function isBehind(place: RequestPlace, other: RequestPlace): boolean {
  return newestFirst(place, other) > 0
}

/** Decimal digits without zeros in front, which may be more than a number holds. */
function byDigits(a: string, b: string): number {
  return a.length - b.length || (a < b ? -1 : a > b ? 1 : 0)
}
