import { fail, type FailureName, type Outcome } from '../../schemas/failures.ts'
import type { Journal } from '../ports/money/journal.ts'
import type { EpochFeed } from '../ports/keys/keys.ts'
import type { JournalOwner, Lender } from '../ports/money/lending.ts'
import type { Hold, HoldAsk, MoneyReading, MoneyRefuser, Spend } from '../ports/money/money.ts'
import type { Log } from '../ports/observe.ts'
import type { FrontCount } from '../ports/rates.ts'
import { JournalFlush } from './journal-flush.ts'
import { GroupCommit } from './group-commit.ts'
import { Balances } from './balances.ts'
import { moneyRefused } from '../../schemas/money/money-refusals.ts'
import type { MoneyTimers } from './money-timers.ts'
import { heldBy } from './balance-waiters.ts'
import { pursesOf } from './needs.ts'
import type { LocalBalance } from '../ports/local-balance.ts'
import { Borrowing } from './borrowing.ts'
import { Reservation, type MoneyCounts, type MoneyContext } from './reservation.ts'

export interface SpendOptions {
  readonly lender: Lender
  readonly journal: Journal
  readonly owner: JournalOwner
  readonly fronts: FrontCount
  readonly feed: Pick<EpochFeed, 'subscribe'>
  readonly timers: MoneyTimers
  readonly log: Log
  /**
   * Called when the journal was closed by another process while this front lives. The front takes no money
   * any more and must be replaced.
   */
  readonly fenced: () => void
}

/** Money of one front. */
export interface FrontSpend extends Spend {
  readonly reading: MoneyReading
  /**
   * Takes no more calls, gives every balance back, and closes the journal in Postgres if no call is under
   * way. Does not resolve while the store is away.
   */
  close(): Promise<void>
}

/** Builds the money of one front, and starts its flush. Design §6. */
export function createSpend(options: SpendOptions): FrontSpend {
  return new Money(options)
}

class Money implements FrontSpend, LocalBalance<Reservation, Outcome<Hold>> {
  readonly #till: MoneyContext
  readonly #timers: MoneyTimers
  readonly #refills: Borrowing
  readonly #books: JournalFlush
  readonly #leaveFeed: () => void
  readonly #counts: MoneyCounts = { takes: 0, overruns: 0, open: 0 }
  readonly #refusals: Record<MoneyRefuser, number> = {
    credit: 0,
    key_limit: 0,
    budget: 0,
    unbounded: 0,
    unavailable: 0,
    busy: 0,
  }
  /** The failure of every call once the front takes no more money. */
  #stopped: Outcome<never> | null = null

  constructor({ lender, journal, owner, fronts, feed, timers, log, fenced }: SpendOptions) {
    const stop = (): void => {
      if (this.#stopped !== null) return
      this.#stop(fail('store_unavailable'))
      log.error('money.fenced')
      fenced()
    }
    this.#timers = timers
    this.#till = {
      purses: new Balances(journal),
      journal,
      turn: new GroupCommit(journal, timers.soon),
      now: timers.now,
      epochNow: timers.epochNow,
      counts: this.#counts,
      ended: (taking) => this.#ended(taking),
    }
    const shared = { till: this.#till, lender, timers, log, fenced: stop }
    this.#refills = new Borrowing({ ...shared, fronts })
    this.#books = new JournalFlush({ ...shared, owner, wake: () => this.#refills.wake() })
    this.#leaveFeed = feed.subscribe((change) => this.#till.purses.obey(change))
    this.#books.start()
  }

  hold(ask: HoldAsk): Outcome<Hold> | Promise<Outcome<Hold>> {
    if (this.#stopped !== null) return this.#counted(this.#stopped)
    // Money that is lent to calls whose take cannot be written would go back and forth, with a record each
    // way that stays in memory.
    if (!this.#mayWrite()) return this.#counted(fail('store_unavailable'))
    const purses = pursesOf(ask, this.#till.purses, this.#timers.now())
    if (!purses.ok) return this.#counted(purses)
    const taking = new Reservation(this.#till, ask, purses.value)
    const held = this.take(taking) ?? this.refill(taking)
    if (held instanceof Promise) return held.then((outcome) => this.#counted(outcome))
    return this.#counted(held)
  }

  take(taking: Reservation): Outcome<Hold> | null {
    if (taking.mayTake()) return heldBy(taking)
    const now = this.#timers.now()
    const refusing = taking.purses.flatMap((purse) => purse.refusing(taking.amounts[purse.kind], now))
    return refusing.length > 0 ? moneyRefused(refusing) : null
  }

  refill(taking: Reservation): Outcome<Hold> | Promise<Outcome<Hold>> {
    return this.#refills.join(taking)
  }

  giveBack(): number {
    return this.#till.purses.giveBackAll()
  }

  async close(): Promise<void> {
    this.#stop(fail('draining'))
    this.#leaveFeed()
    await this.#books.close()
    this.#till.journal.close()
  }

  get reading(): MoneyReading {
    const { purses, journal } = this.#till
    return {
      ...this.#counts,
      refusals: this.#refusals,
      waiting: this.#refills.waiting,
      heldNano: purses.heldNano,
      lends: this.#refills.lends,
      lendS: this.#refills.lendMs / 1000,
      flushes: this.#books.batches,
      flushedEntries: this.#books.entries,
      flushLagS: this.#books.lagMs / 1000,
      giveBacks: purses.giveBacks,
      isJournalBroken: journal.isBroken,
    }
  }

  /** Tries a broken journal at every call: the disk may have room again. */
  #mayWrite(): boolean {
    const { journal, turn } = this.#till
    if (journal.isBroken) turn.write()
    return !journal.isBroken
  }

  #stop(outcome: Outcome<never>): void {
    this.#stopped ??= outcome
    this.#refills.stop(outcome)
    this.#books.stop()
  }

  /** Ends of one event-loop tick are written together, after their replies. */
  #ended(taking: Reservation): void {
    if (taking.purses.some(({ waiting }) => waiting > 0)) this.#refills.wake()
    this.#till.turn.writeSoon()
  }

  #counted(outcome: Outcome<Hold>): Outcome<Hold> {
    if (!outcome.ok) {
      const refuser = REFUSERS[outcome.failure.name]
      if (refuser !== undefined) this.#refusals[refuser] += 1
    }
    return outcome
  }
}

const REFUSERS: Partial<Record<FailureName, MoneyRefuser>> = {
  credit_exhausted: 'credit',
  key_limit_exceeded: 'key_limit',
  budget_exceeded: 'budget',
  cost_unbounded: 'unbounded',
  store_unavailable: 'unavailable',
  busy: 'busy',
}
