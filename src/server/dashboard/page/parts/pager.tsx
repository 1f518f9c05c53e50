import { h, type ComponentChild } from 'preact'
import { count } from './figures.tsx'

export interface PagerProps {
  readonly offset: number
  readonly limit: number
  readonly shown: number
  /** Rows of all pages; null if the list has no total. */
  readonly total: number | null
  onMove(offset: number): void
}

/** `1–50 of 312`, with buttons for the previous and the next page. Empty when all rows fit on one page. */
export function Pager({ offset, limit, shown, total, onMove }: PagerProps): ComponentChild | null {
  const hasMore = total === null ? shown === limit : offset + shown < total
  if (offset === 0 && !hasMore) return null
  const range = shown === 0 ? 'none' : `${count(offset + 1)}–${count(offset + shown)}`
  return (
    <nav class="pager" aria-label="Pagination">
      <button type="button" disabled={offset === 0} onClick={() => onMove(Math.max(0, offset - limit))}>
        Previous
      </button>
      <span role="status">{total === null ? range : `${range} of ${count(total)}`}</span>
      <button type="button" disabled={!hasMore} onClick={() => onMove(offset + limit)}>
        Next
      </button>
    </nav>
  )
}

/** `?offset=` of an address: never below 0, never a fraction. */
export function offsetOf(query: URLSearchParams): number {
  return Math.max(0, Math.trunc(Number(query.get('offset')) || 0))
}
