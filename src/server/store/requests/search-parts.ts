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
