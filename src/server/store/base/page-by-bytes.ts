import { LIST_PAGE_BYTES_MAX } from '../../../schemas/limits/limits.ts'
import type { Fragment } from './guarded-row.ts'
import type { Queryable } from './open.ts'

/** A list whose rows are so large that those behind the end of its page should not even be read. */
export interface SizedPage {
  /** A statement; with one row more than the page may have, `found` tells whether the list goes on. */
  readonly rows: Fragment
  /** Bytes of a row. Fragments are made anew for each place that they stand at. */
  readonly bytes: () => Fragment
  /** What the rows are ordered by, each once. */
  readonly order: () => Fragment
}

/**
 * The rows of a page in order, up to the one with which it has LIST_PAGE_BYTES_MAX. @returns a statement,
 * with `found`: rows without that end
 */
export function endedByBytes(sql: Queryable, { rows, bytes, order }: SizedPage): Fragment {
  return sql`
    SELECT * FROM (
      SELECT *, sum(${bytes()}) OVER (ORDER BY ${order()}) - ${bytes()} AS bytes_before, count(*) OVER ()::int AS found FROM (${rows}) page
    ) sized WHERE bytes_before < ${LIST_PAGE_BYTES_MAX} ORDER BY ${order()}`
}
