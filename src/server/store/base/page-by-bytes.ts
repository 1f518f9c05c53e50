import { LIST_PAGE_BYTES_MAX } from '../../../schemas/limits/limits.ts'
import type { Fragment } from './guarded-row.ts'
import type { Queryable } from './open.ts'

/** A list with rows so large that rows after the end of its page should not even be read. */
export interface SizedPage {
  /** A statement for one row more than the page may have, so that `found` says whether the list goes on. */
  readonly rows: Fragment
  /** Bytes of a row. Each call builds a new fragment, for each place in the statement. */
  readonly bytes: () => Fragment
  /** The order of the rows, which must be unique. */
  readonly order: () => Fragment
}

/**
 * The rows of a page in order, up to the row that reaches LIST_PAGE_BYTES_MAX. @returns a statement, with
 * `found`: number of rows without that limit
 */
export function endedByBytes(sql: Queryable, { rows, bytes, order }: SizedPage): Fragment {
  return sql`
    SELECT * FROM (
      SELECT *, sum(${bytes()}) OVER (ORDER BY ${order()}) - ${bytes()} AS bytes_before, count(*) OVER ()::int AS found FROM (${rows}) page
    ) sized WHERE bytes_before < ${LIST_PAGE_BYTES_MAX} ORDER BY ${order()}`
}
