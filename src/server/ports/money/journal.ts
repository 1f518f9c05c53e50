import type { BookEntry, Flush, OpenTake, TakeProgress } from './lending.ts'

export type Settlement = Extract<BookEntry, { kind: 'settle' }>
export type GiveBack = Extract<BookEntry, { kind: 'give_back' }>

/**
 * A front's own record of its money, on local disk: its entries reach Postgres sooner or later, whatever
 * happens to the front. Records are gathered until `write`, which is one append without fsync. No method
 * throws. Design §6.5.
 */
export interface Journal {
  /** Id of the journal and of its front. */
  readonly id: string
  /**
   * The last append failed, or the written bytes cannot be read again: nothing may be taken until they can.
   */
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
   * Appends the gathered records, all or none. To be called before a byte leaves for a provider, and from
   * time to time: after a failure it tries again, also with nothing gathered.
   * @returns false when the disk refused: the takes gathered since the last `write` are void (their ids name
   * nothing, and their money returns to the balances), progress waits to be reported again; all other records
   * wait for the next write
   */
  write(): boolean
  /**
   * The oldest part that was written and is not applied yet, with at most `entriesMax` entries; null if all
   * is applied. Until `applied` every call returns the same part, so that a flush without an answer is
   * repeated unchanged, or a shorter part from the same place where that part has more entries.
   */
  next(entriesMax: number): Flush | null
  /** A part that `next` returned is applied in Postgres. @param to of the flush */
  applied(to: number): void
  /**
   * Closes the file, which stays: the process that recovers the front's journal passes the rest to
   * `Lender.close`, and removes the file.
   */
  close(): void
}
