import type { BookEntry, Flush, OpenTake } from './lending.ts'

export type Settlement = Extract<BookEntry, { kind: 'settle' }>
export type GiveBack = Extract<BookEntry, { kind: 'give_back' }>

/**
 * A front's own account of its money, on local disk: what it says is in the books sooner or later, whatever
 * happens to the front. Records are gathered until `write`, which is one append without fsync. Nothing here
 * throws. Design §6.5.
 */
export interface Journal {
  /** Of the journal and of its front. */
  readonly id: string
  /** The last append failed, or what was written cannot be read again: nothing may be taken until it can. */
  readonly isBroken: boolean
  /** @returns what `settle` and `release` name it by: never twice the same */
  take(take: OpenTake): number
  settle(takeId: number, entry: Settlement): void
  /** The call cost nothing: all that it took is in the purses again. */
  release(takeId: number): void
  giveBack(entry: GiveBack): void
  /**
   * Appends what was gathered, all or nothing. Call it before a byte leaves for a provider, and from time to
   * time: after a failure it tries again, with nothing gathered too.
   * @returns false when the disk would not: then the takes gathered since the last `write` never were (their
   * ids name nothing, what they took returns to the purses); all else waits for the next one
   */
  write(): boolean
  /**
   * The oldest part that was written and is not applied yet, with at most `entriesMax` entries; null when
   * there is none. Until `applied` it is the same at every call, so that a flush without an answer is
   * repeated as it was.
   */
  next(entriesMax: number): Flush | null
  /** That part is in the books. @param to of the flush */
  applied(to: number): void
  /**
   * Closes the file, which stays: whoever saw the front end hands the rest of it to `Lender.close`, and
   * removes it.
   */
  close(): void
}
