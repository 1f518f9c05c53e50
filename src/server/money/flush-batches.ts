import {
  BOOKS_FLUSH_ENTRIES_MAX,
  BOOKS_FLUSH_ENTRIES_MIN,
  BOOKS_FLUSH_ENTRIES_STEP,
} from '../../schemas/money/money-limits.ts'
import type { Journal } from '../ports/money/journal.ts'
import type { Flush, Lender } from '../ports/money/lending.ts'

/** A batch that is applied. */
export interface AppliedBatch {
  readonly batch: Flush
  /** More entries may wait behind it. */
  readonly isFull: boolean
}

/**
 * Sends a journal in batches to the books. A batch without an answer may have been too large to be applied in
 * time: the next one begins at the same place with half of its entries, and the size grows again with each
 * batch that is applied. Exactly one of these batches is applied, since each needs the books to stand where it
 * begins. An earlier one that was applied after all is recognized by where the books stand.
 */
export class FlushBatches {
  readonly #journal: Pick<Journal, 'next'>
  readonly #lender: Pick<Lender, 'flush'>
  #entriesMax = BOOKS_FLUSH_ENTRIES_MAX
  /** Batches that may have been applied; all begin at the same place. */
  #unanswered: Flush[] = []

  constructor({ journal, lender }: { journal: Pick<Journal, 'next'>; lender: Pick<Lender, 'flush'> }) {
    this.#journal = journal
    this.#lender = lender
  }

  next(): Flush | null {
    return this.#journal.next(this.#entriesMax)
  }

  /** @returns null when the journal was closed. Rejects when the batch must be sent again */
  async send(flush: Flush): Promise<AppliedBatch | null> {
    const result = await this.#lender.flush(flush).catch((problem: unknown) => {
      this.#shrink(flush)
      throw problem
    })
    if (result === 'fenced') return null
    const batch = result === 'applied' ? flush : this.#unanswered.find(({ to }) => to === result.standsAt)
    if (batch === undefined)
      throw new Error(`journal ${flush.journalId} was applied up to the middle of a batch`)
    const isFull = batch.entries.length >= this.#entriesMax
    this.#unanswered = []
    this.#entriesMax = Math.min(this.#entriesMax + BOOKS_FLUSH_ENTRIES_STEP, BOOKS_FLUSH_ENTRIES_MAX)
    return { batch, isFull }
  }

  #shrink(flush: Flush): void {
    if (!this.#unanswered.includes(flush)) this.#unanswered.push(flush)
    // Few entries were not too many.
    if (flush.entries.length <= BOOKS_FLUSH_ENTRIES_MIN) return
    this.#entriesMax = Math.max(Math.floor(flush.entries.length / 2), BOOKS_FLUSH_ENTRIES_MIN)
  }
}
