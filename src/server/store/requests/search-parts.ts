import type { LoggedRequest, RequestPlace, RequestQuery } from '../../ports/requests/request-log.ts'

/** The query, with its references resolved. */
export interface Search {
  readonly query: RequestQuery
  readonly organizationId: string
  readonly workspaceId: string | null
  /** Hashes of the keys with the requested name; null when the query has no name. */
  readonly keys: readonly string[] | null
  /** Unix microseconds; null: without end. */
  readonly fromUs: number | null
  readonly toUs: number | null
}

export interface Found {
  /** At most one more row than a page has. */
  readonly rows: readonly LoggedRequest[]
  /** Rows after this place were not examined; null when all were examined, or when the page is full. */
  readonly examinedTo: RequestPlace | null
}

/** The order of the log. */
export function newestFirst(a: RequestPlace, b: RequestPlace): number {
  return byDigits(b.endedUs, a.endedUs) || byDigits(b.batch, a.batch) || b.n - a.n
}

/** Whether a place comes later in the log, so its call ended earlier. */
export function isBehind(place: RequestPlace, other: RequestPlace): boolean {
  return newestFirst(place, other) > 0
}

/** Compares decimal digits without leading zeros; they may exceed the range of a number. */
function byDigits(a: string, b: string): number {
  return a.length - b.length || (a < b ? -1 : a > b ? 1 : 0)
}
