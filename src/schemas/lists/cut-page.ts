import { LIST_PAGE_BYTES_MAX } from '../limits/limits.ts'

/** What one page of a list answers with. */
interface CutPage<Row, Wire> {
  /** Those that the page has. */
  readonly rows: readonly Row[]
  readonly data: Wire[]
  /** There were more, which the next page has. */
  readonly isCut: boolean
}

/**
 * Ends a page behind the row with which it has LIST_PAGE_BYTES_MAX. Every list passes here, or its statement
 * ends it by the same rule.
 */
export function cutPage<Row, Wire>(rows: readonly Row[], wireOf: (row: Row) => Wire): CutPage<Row, Wire> {
  const data: Wire[] = []
  let bytes = 0
  for (const row of rows) {
    if (bytes >= LIST_PAGE_BYTES_MAX) break
    const wire = wireOf(row)
    bytes += Buffer.byteLength(JSON.stringify(wire))
    data.push(wire)
  }
  return { rows: rows.slice(0, data.length), data, isCut: data.length < rows.length }
}

/**
 * A page of a list that goes on by `offset`: the next one begins behind what this one has, which may be less
 * than its limit.
 */
export function offsetPage<Row, Wire>(
  { rows, totalCount }: { readonly rows: readonly Row[]; readonly totalCount: number },
  { offset }: { readonly offset: number },
  wireOf: (row: Row) => Wire,
): { readonly data: Wire[]; readonly total_count: number; readonly has_more: boolean } {
  const { data } = cutPage(rows, wireOf)
  return { data, total_count: totalCount, has_more: data.length > 0 && offset + data.length < totalCount }
}
