import type { BookEntry, Flush, OpenTake, TakeProgress } from './lending.ts'

export type Settlement = Extract<BookEntry, { kind: 'settle' }>
export type GiveBack = Extract<BookEntry, { kind: 'give_back' }>

/**
 * Entries reach Postgres sooner or later, whatever happens to the front. Records are gathered until `write`,
 * which is one append without fsync. No method throws.
 */
export interface Journal {
  /** Id of the journal and of its front. */
  readonly id: string
  /** The last append failed, or written bytes cannot be read again: nothing may be taken until they can. */
  readonly isBroken: boolean
  /** @returns the id for `settle` and `release`, never the same twice */
  take(take: OpenTake): number
  /** Progress of the answer of an open take; replaces earlier progress. */
  progress(takeId: number, progress: TakeProgress): void
  settle(takeId: number, entry: Settlement): void
  /** The call cost nothing: all that it took is back in the balances. */
  release(takeId: number): void
  giveBack(entry: GiveBack): void
  /**
   * All or none, before a byte leaves for a provider, and from time to time: after a failure it tries again,
   * also with nothing gathered. @returns false: the disk refused; the takes gathered since the last `write`
   * are void, their money returns to the balances, progress has to be reported again, and other records wait
   * for the next write
   */
  write(): boolean
  /**
   * The oldest part that is written and not applied, at most `entriesMax` entries; null: all is applied.
   * Until `applied` it stays the same, or shorter from the same place, so that a flush without an answer is
   * repeated unchanged.
   */
  next(entriesMax: number): Flush | null
  /** A part that `next` returned is applied in Postgres. @param to of the flush */
  applied(to: number): void
  /** The file stays: the process that recovers the journal passes the rest to `Lender.close`, and removes the file. */
  close(): void
}
