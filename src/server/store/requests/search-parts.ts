import type { LoggedRequest, RequestPlace, RequestQuery } from '../../ports/requests/request-log.ts'

/** What a search looks for, with what its texts stand for. */
export interface Search {
  readonly query: RequestQuery
  readonly organizationId: string
  readonly workspaceId: string | null
  /** Hashes of the keys with the name that is searched for; null: no name is. */
  readonly keys: readonly string[] | null
  /** Unix microseconds; null: without end. */
  readonly fromUs: number | null
  readonly toUs: number | null
}

export interface Found {
  /** One more than a page has, at most. */
  readonly rows: readonly LoggedRequest[]
  /** Rows after this place were not examined; null: all were, or there are more rows than a page has. */
  readonly examinedTo: RequestPlace | null
}

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
