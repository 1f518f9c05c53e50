import { LEND_REPEAT_MS } from '../../schemas/money/money-limits.ts'
import type { Flush, JournalOwner, Lender } from '../ports/money/lending.ts'
import type { Log } from '../ports/observe.ts'
import type { Journal } from '../ports/money/journal.ts'
import type { MoneyContext, MoneyTimers } from './reservation.ts'

/** Milliseconds between two flushes of a front's journal, and between two requests for the accounts that other fronts want. Design §6.6; Decision. */
export const BOOKS_FLUSH_MS = 200
/** Entries of one flush: its statements cost as much as 500 entries. Design §6.6; Decision. */
export const BOOKS_FLUSH_ENTRIES_MAX = 3_000
/** Number of entries down to which a flush is halved after a missing answer. Decision. */
export const BOOKS_FLUSH_ENTRIES_MIN = 100
/** Number of entries by which flushes grow again after each applied one. Decision. */
export const BOOKS_FLUSH_ENTRIES_STEP = 100

export interface JournalFlushOptions {
  readonly context: MoneyContext
  readonly lender: Lender
  readonly owner: JournalOwner
  readonly timers: MoneyTimers
  readonly log: Log
  /** Called when money was returned, or when the day becomes known. */
  readonly wake: () => void
  readonly fenced: () => void
}

const DAY_MS = 86_400_000

/**
 * Keeps a front's money in Postgres current: opens its journal there, flushes it, and returns balances that
 * are idle, wanted by other fronts or of a past day. Design §6.
 */
export class JournalFlush {
  readonly #options: JournalFlushOptions
  readonly #batches: FlushBatches
  #isFlushing = false
  /** True when another flush was requested while one was under way. */
  #isDue = false
  #isRequesting = false
  #isStopped = false
  /** True when the last flush failed at the store; an outage is logged once. */
  #isAway = false
  /** Offset in the journal up to which entries are applied in Postgres. */
  #applied = 0
  #localDay: number
  /** Monotonic milliseconds: all entries from before this time are applied. Null when every entry is. */
  #behindSince: number | null = null
  batches = 0
  entries = 0
  /** Resolves when the day is known, or when the first request to Postgres for it failed. */
  readonly dayAsked: Promise<void>
  #tell: () => void = () => undefined

  constructor(options: JournalFlushOptions) {
    this.#options = options
    this.#batches = new FlushBatches({ journal: options.context.journal, lender: options.lender })
    this.#localDay = this.#dayHere()
    this.dayAsked = new Promise((resolve) => (this.#tell = resolve))
  }

  start(): void {
    void this.#open()
    this.#tick()
  }

  stop(): void {
    this.#isStopped = true
  }

  /** Milliseconds that Postgres lags the journal. */
  get lagMs(): number {
    return this.#behindSince === null ? 0 : this.#options.context.now() - this.#behindSince
  }

  /**
   * Returns every balance, applies the rest of the journal and closes the journal in Postgres. Calls that are
   * still under way, a request for money without an answer, and entries that cannot be read again are left to
   * the process that reads the journal after this one has ended. While the store is unavailable `close` keeps
   * trying: the supervisor that ends the process sets the time limit.
   */
  async close(): Promise<void> {
    const {
      context: { balances, journal, groupCommit, counts },
      lender,
    } = this.#options
    this.#isStopped = true
    balances.giveBackAll()
    if (!groupCommit.write() || !(await this.#drain())) return
    if (counts.open > 0 || journal.isBroken) return
    const rest = { from: this.#applied, to: this.#applied, entries: [] }
    await lender.close({ journalId: journal.id, rest, open: [], isComplete: true })
  }

  async #open(): Promise<void> {
    const {
      lender,
      owner,
      context: { balances },
      timers,
      wake,
      log,
    } = this.#options
    let isAway = false
    while (!this.#isStopped) {
      try {
        balances.advance(await lender.open(owner))
        return wake()
      } catch (problem) {
        if (!isAway) log.warn('money.away', { cause: problem })
        isAway = true
      } finally {
        this.#tell()
      }
      await this.#pause(timers)
    }
  }

  #tick(): void {
    const {
      timers,
      context: { balances },
    } = this.#options
    timers.after(BOOKS_FLUSH_MS, () => {
      if (this.#isStopped) return
      this.#endDay()
      balances.giveBackIdle(timers.now())
      this.flushSoon()
      void this.#pulse()
      this.#tick()
    })
  }

  /** Ends the day by the front's own clock, once a day, since this clock may be ahead of the authority's. */
  #endDay(): void {
    const day = this.#dayHere()
    if (day <= this.#localDay) return
    this.#localDay = day
    this.#options.context.balances.giveBackAll()
  }

  flushSoon(): void {
    this.#options.context.groupCommit.write()
    if (this.#isFlushing) this.#isDue = true
    else void this.#flushAll()
  }

  async #flushAll(): Promise<void> {
    this.#isFlushing = true
    try {
      while (!this.#isStopped && ((await this.#flushNext()) || this.#isDue)) continue
    } catch (problem) {
      if (!this.#isAway) this.#options.log.warn('money.flush_failed', { cause: problem })
      this.#isAway = true
    }
    this.#isFlushing = false
  }

  /** @returns whether a full batch was flushed. Entries that arrived meanwhile make a partial batch and wait for the next flush */
  async #flushNext(): Promise<boolean> {
    const { context, fenced } = this.#options
    const begunAt = context.now()
    this.#isDue = false
    const flush = this.#batches.next()
    if (flush === null) {
      this.#behindSince = null
      return false
    }
    this.#behindSince ??= begunAt
    const applied = await this.#batches.send(flush)
    if (applied === null) {
      this.#isStopped = true
      fenced()
      return false
    }
    this.#apply(applied.batch)
    if (!applied.isFull) this.#behindSince = begunAt
    return applied.isFull
  }

  #apply({ to, entries }: Flush): void {
    const { context, wake } = this.#options
    context.journal.applied(to)
    this.#applied = to
    this.#isAway = false
    this.batches += 1
    this.entries += entries.length
    for (const entry of entries) context.balances.booked(entry)
    wake()
  }

  /** Flushes all entries that the journal still holds. @returns false when the front was fenced */
  async #drain(): Promise<boolean> {
    const {
      context: { groupCommit },
      timers,
    } = this.#options
    while (this.#isFlushing) await this.#pause(timers, 1)
    // A call may have ended a moment ago, and its settlement may be gathered but not yet written.
    const next = (): Flush | null => (groupCommit.write() ? this.#batches.next() : null)
    for (let flush = next(); flush !== null; flush = next()) {
      const applied = await this.#batches.send(flush).catch(() => undefined)
      if (applied === null) return false
      if (applied === undefined) await this.#pause(timers)
      else this.#apply(applied.batch)
    }
    return true
  }

  async #pulse(): Promise<void> {
    const {
      context: { balances },
      lender,
      wake,
    } = this.#options
    const held = balances.held()
    if (this.#isRequesting || balances.day === null) return
    // When nothing is lent to this front, no other request returns the day, and the next call would use the
    // day that the front knew last.
    const isDayOver = Date.parse(balances.day) < this.#dayHere() * DAY_MS
    if (held.length === 0 && this.#behindSince === null && !isDayOver) return
    this.#isRequesting = true
    try {
      const { day, wanted } = await lender.pulse(held)
      if (this.#isStopped) return
      const before = balances.giveBacks
      balances.advance(day)
      for (const accountId of wanted) {
        const balance = balances.byAccount(accountId)
        // Money that is needed by waiting calls is kept.
        if (balance !== undefined && balance.waitingRequested === 0) balances.giveBackBalance(balance)
      }
      // Another front waits for the money.
      if (balances.giveBacks > before) this.flushSoon()
      wake()
    } catch {
      // Ignored: the next pulse follows soon, and an outage is reported by the flush and the epoch.
    } finally {
      this.#isRequesting = false
    }
  }

  async #pause(timers: MoneyTimers, ms = LEND_REPEAT_MS): Promise<void> {
    await new Promise<void>((resolve) => void timers.after(ms, resolve))
  }

  #dayHere(): number {
    return Math.floor(this.#options.context.epochNow() / DAY_MS)
  }
}

interface AppliedBatch {
  readonly batch: Flush
  /** True when more entries may follow this batch. */
  readonly isFull: boolean
}

/**
 * Sends a journal in batches to the books. A batch without an answer may have been too large to be applied in
 * time: the next one begins at the same place with half of its entries, and the size grows again with each
 * batch that is applied. Exactly one of these batches is applied, since each is only valid if the books have
 * been applied up to its beginning. If an earlier batch was applied after all, the position of the books shows
 * it.
 */
export class FlushBatches {
  readonly #journal: Pick<Journal, 'next'>
  readonly #lender: Pick<Lender, 'flush'>
  #entriesMax = BOOKS_FLUSH_ENTRIES_MAX
  /** Batches that may have been applied; all begin at the same position. */
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
    // A batch this small cannot have been too large.
    if (flush.entries.length <= BOOKS_FLUSH_ENTRIES_MIN) return
    this.#entriesMax = Math.max(Math.floor(flush.entries.length / 2), BOOKS_FLUSH_ENTRIES_MIN)
  }
}
