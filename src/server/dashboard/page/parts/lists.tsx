import { h, type ComponentChild } from 'preact'
import { hashOf, type PageContext } from '../page.ts'
import { count } from './figures.tsx'
import type { Loaded } from './loaded.tsx'
import { offsetOf, Pager } from './pager.tsx'
import type { ADMIN_LISTED_MAX, ADMIN_PAGE_DEFAULT } from '../../../../schemas/operator/admin-port-limits.ts'

export interface Listed<Row> {
  readonly data: readonly Row[]
  readonly total_count: number
}

/** Rows on one page of an operator's list, and rows that are counted at most. */
export const LIST_PAGE: typeof ADMIN_PAGE_DEFAULT = 50
const LISTED_MAX: typeof ADMIN_LISTED_MAX = 10_000

export function rowsOf<Row>(loaded: Loaded<{ readonly data: readonly Row[] }>): Loaded<readonly Row[]> {
  return { ...loaded, value: loaded.value?.data }
}

/** `1,234`, or `10,000 or more` when counting stopped there. */
export function total(listed: number): string {
  return listed >= LISTED_MAX ? `${count(listed)} or more` : count(listed)
}

/** Buttons to page through a list whose position is in the address. */
export function ListPager({
  context: { query, setQuery },
  loaded: { value },
}: {
  readonly context: PageContext
  readonly loaded: Loaded<Listed<unknown>>
}): ComponentChild {
  const onMove = (to: number): void => setQuery({ offset: to === 0 ? null : String(to) })
  return (
    <Pager
      offset={offsetOf(query)}
      limit={LIST_PAGE}
      shown={value?.data.length ?? 0}
      total={value?.total_count ?? 0}
      onMove={onMove}
    />
  )
}

/** The current address of a page with some parameters changed. */
export function linkWith(
  path: string,
  query: URLSearchParams,
  change: Readonly<Record<string, string | null>>,
): string {
  return hashOf(path, { ...Object.fromEntries(query), ...change })
}

export function Reload({ loaded: { reload } }: { readonly loaded: Loaded<unknown> }): ComponentChild {
  return (
    <button type="button" onClick={reload}>
      Reload
    </button>
  )
}
