import type { BookEntry, Flush, OpenTake, TakeProgress } from './lending.ts'

export type Settlement = Extract<BookEntry, { kind: 'settle' }>
export type GiveBack = Extract<BookEntry, { kind: 'give_back' }>

/**
 * Entries reach Postgres eventually, even if the front dies. Records are gathered until `write`, which is one
 * append without fsync. No method throws.
 */
export interface Journal {
  /** Id of the journal and of its front. */
  readonly id: string
  /** The last append failed, or written bytes cannot be read again: nothing may be taken until this is repaired. */
  readonly isBroken: boolean
  /** @returns the id for `settle` and `release`, never the same twice */
  take(take: OpenTake): number
  /** Progress of the answer of an open take; replaces earlier progress. */
  progress(takeId: number, progress: TakeProgress): void
  settle(takeId: number, entry: Settlement): void
  /** The call cost nothing: the full amount that it took is returned to the balances. */
  release(takeId: number): void
  giveBack(entry: GiveBack): void
  /**
   * Writes all gathered records or none. Called before a byte is sent to a provider, and periodically: after a
   * failure it retries, even with nothing gathered. @returns false when the disk refused: the takes since the
   * last `write` are void and their money returns to the balances, progress must be reported again, and other
   * records wait for the next write
   */
  write(): boolean
  /**
   * The oldest part that is written but not applied, at most `entriesMax` entries; null: everything is
   * applied. Until `applied` is called it returns the same part, or a shorter one with the same start, so that
   * a flush without an answer is repeated unchanged.
   */
  next(entriesMax: number): Flush | null
  /** Reports that a part returned by `next` is applied in Postgres. @param to of the flush */
  applied(to: number): void
  /** The file is kept: the process that recovers the journal passes the rest to `Lender.close`, and removes the file. */
  close(): void
}
