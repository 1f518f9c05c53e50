import type postgres from 'postgres'

/**
 * A statement whose text follows what a caller writes. As a prepared one each new text would stay in the
 * memory of Postgres and of this process for as long as the connection lives: 400 filters of 60 terms took
 * 280 MB.
 */
export function unprepared<T extends readonly postgres.MaybeRow[]>(
  query: postgres.PendingQuery<T>,
): postgres.PendingQuery<T> {
  // The library takes this option of a whole client, or of text without parameters of its own; here it reads
  // it of one query.
  ;(query as unknown as { readonly options: { prepare?: boolean } }).options.prepare = false
  return query
}
