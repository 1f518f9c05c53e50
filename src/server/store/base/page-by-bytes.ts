import { LIST_PAGE_BYTES_MAX } from '../../../schemas/limits/limits.ts'
import type { Fragment } from './guarded-row.ts'
import type { Queryable } from './open.ts'

/** A list whose rows are so large that rows after the end of a page should not even be read. */
export interface SizedPage {
  /** A statement that selects one row more than fits on the page, so that `found` shows whether the list continues. */
  readonly rows: Fragment
  /** Bytes of a row. Each call builds a new fragment, for each place in the statement. */
  readonly bytes: () => Fragment
  /** The order of the rows, which must be unique. */
  readonly order: () => Fragment
}

/**
 * The rows of a page in order, up to the row that reaches LIST_PAGE_BYTES_MAX. @returns a statement, with
 * `found`: number of rows without the limit in bytes
 */
export function endedByBytes(sql: Queryable, { rows, bytes, order }: SizedPage): Fragment {
  return sql`
    SELECT * FROM (
      SELECT *, sum(${bytes()}) OVER (ORDER BY ${order()}) - ${bytes()} AS bytes_before, count(*) OVER ()::int AS found FROM (${rows}) page
    ) sized WHERE bytes_before < ${LIST_PAGE_BYTES_MAX} ORDER BY ${order()}`
}
