import { fail, type FailureName, type Outcome } from '../../schemas/failures.ts'
import type { Journal } from '../ports/money/journal.ts'
import type { EpochFeed } from '../ports/keys/keys.ts'
import type { JournalOwner, Lender } from '../ports/money/lending.ts'
import type { Hold, HoldInput, MoneyReading, MoneyRefuser, Spend } from '../ports/money/money.ts'
import type { Log } from '../ports/observe.ts'
import type { FrontCount, LocalBalance } from '../ports/rates.ts'
import { JournalFlush } from './journal-flush.ts'
import { Balances } from './balances.ts'
import { moneyRefused } from '../../schemas/money/money-refusals.ts'
import { Borrowing } from './borrowing.ts'
import {
  balancesOf,
  Reservation,
  type MoneyCounts,
  type MoneyContext,
  GroupCommit,
  type MoneyTimers,
} from './reservation.ts'

export interface SpendOptions {
  readonly lender: Lender
  readonly journal: Journal
  readonly owner: JournalOwner
  readonly fronts: FrontCount
  readonly feed: Pick<EpochFeed, 'subscribe'>
  readonly timers: MoneyTimers
  readonly log: Log
  /** Called when another process closed the journal while this front runs. The front can take no more money and must be replaced. */
  readonly fenced: () => void
}

export interface FrontSpend extends Spend {
  readonly reading: MoneyReading
  /** Resolves when paid calls need not wait for the day, or when the store's first request for it failed. */
  readonly dayAsked: Promise<void>
  /**
   * Accepts no more calls, returns every balance, and closes the journal in Postgres if no call is under way.
   * Does not resolve while the store is unavailable.
   */
  close(): Promise<void>
}

/** Builds the money of one front, and starts its flush. Design §6. */
export function createSpend(options: SpendOptions): FrontSpend {
  return new Money(options)
}

class Money implements FrontSpend, LocalBalance<Reservation, Outcome<Hold>> {
  readonly #context: MoneyContext
  readonly #timers: MoneyTimers
  readonly #borrowing: Borrowing
  readonly #journalFlush: JournalFlush
  readonly #leaveFeed: () => void
  readonly #counts: MoneyCounts = { takes: 0, overruns: 0, spentNano: 0, open: 0 }
  readonly #refusals: Record<MoneyRefuser, number> = {
    credit: 0,
    key_limit: 0,
    budget: 0,
    unbounded: 0,
    unavailable: 0,
    busy: 0,
  }
  /** The failure of every call once the front accepts no more paid calls. */
  #stopped: Outcome<never> | null = null

  constructor({ lender, journal, owner, fronts, feed, timers, log, fenced }: SpendOptions) {
    const stop = (): void => {
      if (this.#stopped !== null) return
      this.#stop(fail('store_unavailable'))
      log.error('money.fenced')
      fenced()
    }
    this.#timers = timers
    this.#context = {
      balances: new Balances(journal),
      journal,
      groupCommit: new GroupCommit(journal, timers.soon),
      now: timers.now,
      epochNow: timers.epochNow,
      counts: this.#counts,
      ended: (reservation) => this.#ended(reservation),
    }
    const shared = { context: this.#context, lender, timers, log, fenced: stop }
    this.#borrowing = new Borrowing({ ...shared, fronts })
    this.#journalFlush = new JournalFlush({ ...shared, owner, wake: () => this.#borrowing.wake() })
    this.#leaveFeed = feed.subscribe((change) => this.#context.balances.apply(change))
    this.#journalFlush.start()
  }

  hold(ask: HoldInput): Outcome<Hold> | Promise<Outcome<Hold>> {
    if (this.#stopped !== null) return this.#counted(this.#stopped)
    // If takes cannot be written, money lent for these calls would be borrowed and returned repeatedly, each
    // time with a record that stays in memory.
    if (!this.#mayWrite()) return this.#counted(fail('store_unavailable'))
    const balances = balancesOf(ask, this.#context.balances, this.#timers.now)
    if (!balances.ok) return this.#counted(balances)
    const reservation = new Reservation(this.#context, ask, balances.value)
    const held = this.take(reservation) ?? this.refill(reservation)
    if (held instanceof Promise) return held.then((outcome) => this.#counted(outcome))
    return this.#counted(held)
  }

  take(reservation: Reservation): Outcome<Hold> | null {
    if (reservation.mayTake()) return reservation.hold()
    const now = this.#timers.now()
    const refusing = reservation.balances.flatMap((balance) =>
      balance.refusing(reservation.amounts[balance.kind], now),
    )
    return refusing.length > 0 ? moneyRefused(refusing) : null
  }

  refill(reservation: Reservation): Outcome<Hold> | Promise<Outcome<Hold>> {
    return this.#borrowing.join(reservation)
  }

  giveBack(): number {
    return this.#context.balances.giveBackAll()
  }

  get dayAsked(): Promise<void> {
    return this.#journalFlush.dayAsked
  }

  async close(): Promise<void> {
    this.#stop(fail('draining'))
    this.#leaveFeed()
    await this.#journalFlush.close()
    this.#context.journal.close()
  }

  get reading(): MoneyReading {
    const { balances, journal } = this.#context
    return {
      ...this.#counts,
      refusals: this.#refusals,
      waiting: this.#borrowing.waiting,
      heldNano: balances.heldNano,
      lends: this.#borrowing.lends,
      lendS: this.#borrowing.lendMs / 1000,
      flushes: this.#journalFlush.batches,
      flushedEntries: this.#journalFlush.entries,
      flushLagS: this.#journalFlush.lagMs / 1000,
      giveBacks: balances.giveBacks,
      isJournalBroken: journal.isBroken,
    }
  }

  /** Tries a broken journal at every call: the disk may have room again. */
  #mayWrite(): boolean {
    const { journal, groupCommit } = this.#context
    if (journal.isBroken) groupCommit.write()
    return !journal.isBroken
  }

  #stop(outcome: Outcome<never>): void {
    this.#stopped ??= outcome
    this.#borrowing.stop(outcome)
    this.#journalFlush.stop()
  }

  /** Ends of one event-loop tick are written together, after their replies. */
  #ended(reservation: Reservation): void {
    if (reservation.balances.some(({ waiting }) => waiting > 0)) this.#borrowing.wake()
    this.#context.groupCommit.writeSoon()
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
