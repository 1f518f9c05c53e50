import { LIST_PAGE_BYTES_MAX } from '../limits/limits.ts'

interface CutPage<Row, Wire> {
  /** The rows on the page. */
  readonly rows: readonly Row[]
  readonly data: Wire[]
  /** Whether the next page has further rows. */
  readonly isCut: boolean
}

/**
 * Ends a page after the row with which it reaches LIST_PAGE_BYTES_MAX. Every list uses this function or
 * applies the same rule in its SQL statement.
 */
export function cutPage<Row, Wire>(rows: readonly Row[], wireOf: (row: Row) => Wire): CutPage<Row, Wire> {
  const data: Wire[] = []
  let bytes = 0
  for (const row of rows) {
    if (bytes >= LIST_PAGE_BYTES_MAX) break
    const wire = wireOf(row)
    data.push(wire)
    // The last row needs no size, since no row follows it.
    if (data.length < rows.length) bytes += Buffer.byteLength(JSON.stringify(wire))
  }
  return { rows: rows.slice(0, data.length), data, isCut: data.length < rows.length }
}

/**
 * A page of a list that continues by `offset`: the next page begins after the items of this one, which may be
 * fewer than its limit.
 */
export function offsetPage<Row, Wire>(
  { rows, totalCount }: { readonly rows: readonly Row[]; readonly totalCount: number },
  { offset }: { readonly offset: number },
  wireOf: (row: Row) => Wire,
): { readonly data: Wire[]; readonly total_count: number; readonly has_more: boolean } {
  const { data } = cutPage(rows, wireOf)
  return { data, total_count: totalCount, has_more: data.length > 0 && offset + data.length < totalCount }
}

const PREFIX = 'after:'
const BACK_PREFIX = 'before:'

/** Cursor of the page after this id. Opaque to callers, so its content may change. */
export function cursorBehind(id: string): string {
  return Buffer.from(PREFIX + id).toString('base64url')
}

/** Cursor of a list that is read backwards: its next page ends before this id. */
export function cursorBefore(id: string): string {
  return Buffer.from(BACK_PREFIX + id).toString('base64url')
}

/** @returns the id, or null for a text that is not a cursor from `cursorBehind` */
export function idOfCursor(cursor: string): string | null {
  const id = Buffer.from(cursor, 'base64url').toString().slice(PREFIX.length)
  return cursorBehind(id) === cursor ? id : null
}

/** @returns the id, or null for a text that is not a cursor from `cursorBefore` */
export function idOfBackCursor(cursor: string): string | null {
  const id = Buffer.from(cursor, 'base64url').toString().slice(BACK_PREFIX.length)
  return cursorBefore(id) === cursor ? id : null
}
