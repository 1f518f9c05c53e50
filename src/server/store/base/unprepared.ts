import type postgres from 'postgres'

/**
 * A statement whose text depends on a caller's input. As a prepared statement each new text would stay in the
 * memory of Postgres and of this process for as long as the connection lives: 400 filters of 60 terms took
 * 280 MB.
 */
export function unprepared<T extends readonly postgres.MaybeRow[]>(
  query: postgres.PendingQuery<T>,
): postgres.PendingQuery<T> {
  // The library documents this option for a whole client, or for a text without parameters; it also reads the
  // option of a single query.
  ;(query as unknown as { readonly options: { prepare?: boolean } }).options.prepare = false
  return query
}
