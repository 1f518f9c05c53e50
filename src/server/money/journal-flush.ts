import { BOOKS_FLUSH_ENTRIES_MAX, BOOKS_FLUSH_MS, LEND_REPEAT_MS } from '../../schemas/money/money-limits.ts'
import type { Flush, FlushResult, JournalOwner, Lender } from '../ports/money/lending.ts'
import type { Log } from '../ports/observe.ts'
import type { MoneyTimers } from './money-timers.ts'
import type { MoneyContext } from './reservation.ts'

export interface JournalFlushOptions {
  readonly till: MoneyContext
  readonly lender: Lender
  readonly owner: JournalOwner
  readonly timers: MoneyTimers
  readonly log: Log
  /** Money came back, or the day is known. */
  readonly wake: () => void
  readonly fenced: () => void
}

const DAY_MS = 86_400_000

/**
 * Keeps a front's books: makes its journal known, flushes it, and gives back what is idle, wanted or of a day
 * that is over. Design §6.
 */
export class JournalFlush {
  readonly #options: JournalFlushOptions
  #isFlushing = false
  /** Somebody waits for what was gathered while a flush was under way. */
  #isDue = false
  #isAsking = false
  #isStopped = false
  /** The store did not take the last flush: an outage is told once. */
  #isAway = false
  /** Of the journal: what of it is in the books. */
  #applied = 0
  #localDay: number
  /** All from before is in the books: monotonic milliseconds; null when all is. */
  #behindSince: number | null = null
  batches = 0
  entries = 0

  constructor(options: JournalFlushOptions) {
    this.#options = options
    this.#localDay = this.#dayHere()
  }

  start(): void {
    void this.#open()
    this.#tick()
  }

  stop(): void {
    this.#isStopped = true
  }

  /** Milliseconds that the books are behind. */
  get lagMs(): number {
    return this.#behindSince === null ? 0 : this.#options.till.now() - this.#behindSince
  }

  /**
   * Gives everything back, brings the books up to date and closes the journal in them. Calls that are still
   * under way, a request for money without an answer, and entries that cannot be read again, are left to
   * whoever reads the journal when this process is gone. While the store is away it goes on trying: whoever
   * ends the process sets the time.
   */
  async close(): Promise<void> {
    const {
      till: { purses, journal, turn, counts },
      lender,
    } = this.#options
    this.#isStopped = true
    purses.giveBackAll()
    if (!turn.write() || !(await this.#drain())) return
    if (counts.open > 0 || journal.isBroken) return
    const rest = { from: this.#applied, to: this.#applied, entries: [] }
    await lender.close({ journalId: journal.id, rest, open: [], isComplete: true })
  }

  async #open(): Promise<void> {
    const {
      lender,
      owner,
      till: { purses },
      timers,
      wake,
      log,
    } = this.#options
    let isAway = false
    while (!this.#isStopped) {
      try {
        purses.turn(await lender.open(owner))
        return wake()
      } catch (problem) {
        if (!isAway) log.warn('money.away', { cause: problem })
        isAway = true
      }
      await this.#pause(timers)
    }
  }

  #tick(): void {
    const {
      timers,
      till: { purses },
    } = this.#options
    timers.after(BOOKS_FLUSH_MS, () => {
      if (this.#isStopped) return
      this.#endDay()
      purses.giveBackIdle(timers.now())
      this.flushSoon()
      void this.#pulse()
      this.#tick()
    })
  }

  /** By the front's own clock, and once a day: it may be ahead of the authority's. */
  #endDay(): void {
    const day = this.#dayHere()
    if (day <= this.#localDay) return
    this.#localDay = day
    this.#options.till.purses.giveBackAll()
  }

  flushSoon(): void {
    this.#options.till.turn.write()
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

  /**
   * @returns whether there is a next batch: what came meanwhile is no more than a part of one, and waits for
   * its turn
   */
  async #flushNext(): Promise<boolean> {
    const { till, lender, fenced } = this.#options
    const begunAt = till.now()
    this.#isDue = false
    const flush = till.journal.next(BOOKS_FLUSH_ENTRIES_MAX)
    if (flush === null) {
      this.#behindSince = null
      return false
    }
    this.#behindSince ??= begunAt
    if ((await lender.flush(flush)) === 'fenced') {
      this.#isStopped = true
      fenced()
      return false
    }
    this.#apply(flush)
    const isFull = flush.entries.length >= BOOKS_FLUSH_ENTRIES_MAX
    if (!isFull) this.#behindSince = begunAt
    return isFull
  }

  #apply({ to, entries }: Flush): void {
    const { till, wake } = this.#options
    till.journal.applied(to)
    this.#applied = to
    this.#isAway = false
    this.batches += 1
    this.entries += entries.length
    for (const entry of entries) till.purses.booked(entry)
    wake()
  }

  /** All that the journal still holds. @returns false when the front was fenced */
  async #drain(): Promise<boolean> {
    const {
      till: { journal, turn },
      lender,
      timers,
    } = this.#options
    while (this.#isFlushing) await this.#pause(timers, 1)
    // A call may have ended a moment ago, and what it cost is only gathered.
    const next = (): Flush | null => (turn.write() ? journal.next(BOOKS_FLUSH_ENTRIES_MAX) : null)
    for (let flush = next(); flush !== null; flush = next()) {
      const result = await lender.flush(flush).catch((): FlushResult | null => null)
      if (result === 'fenced') return false
      if (result === 'applied') this.#apply(flush)
      else await this.#pause(timers)
    }
    return true
  }

  async #pulse(): Promise<void> {
    const {
      till: { purses },
      lender,
      wake,
    } = this.#options
    const held = purses.held()
    if (this.#isAsking || purses.day === null) return
    // Of a front that nothing is lent to nobody else asks for the day: its next call would count on the one
    // that it last knew.
    const isDayOver = Date.parse(purses.day) < this.#dayHere() * DAY_MS
    if (held.length === 0 && this.#behindSince === null && !isDayOver) return
    this.#isAsking = true
    try {
      const { day, wanted } = await lender.pulse(held)
      if (this.#isStopped) return
      const before = purses.giveBacks
      purses.turn(day)
      for (const accountId of wanted) {
        const purse = purses.byAccount(accountId)
        // What callers here were promised stays.
        if (purse !== undefined && purse.waitingAsked === 0) purses.giveBackBalance(purse)
      }
      // Somebody waits for it.
      if (purses.giveBacks > before) this.flushSoon()
      wake()
    } catch {
      // The next one is a moment away; an outage is told by the flush and by the epoch.
    } finally {
      this.#isAsking = false
    }
  }

  async #pause(timers: MoneyTimers, ms = LEND_REPEAT_MS): Promise<void> {
    await new Promise<void>((resolve) => void timers.after(ms, resolve))
  }

  #dayHere(): number {
    return Math.floor(this.#options.till.epochNow() / DAY_MS)
  }
}
