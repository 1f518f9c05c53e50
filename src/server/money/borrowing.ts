import { fail, type Outcome } from '../../schemas/failures.ts'
import { LEND_REPEAT_MS, MONEY_TRIED_MS_MAX, MONEY_TRY_MS } from '../../schemas/money/money-limits.ts'
import { moneyRefused } from '../../schemas/money/money-refusals.ts'
import type { AccountNeed, LendInput, Lender, LendReply } from '../ports/money/lending.ts'
import type { Hold } from '../ports/money/money.ts'
import type { Log } from '../ports/observe.ts'
import type { FrontCount } from '../ports/rates.ts'
import type { MoneyContext, MoneyTimers, Reservation } from './reservation.ts'
import type { Balance, Verdict } from './balances.ts'

/**
 * Milliseconds that a call waits for money from a store that does not answer; the call's own deadline may be
 * earlier. Decision.
 */
export const MONEY_WAIT_MS_MAX = 1_000
/** Calls of one front that wait for money; `busy` beyond. Decision. */
export const MONEY_WAITING_MAX = 4_096
/** Accounts in one request for money; the next request contains the others. Decision. */
export const LEND_ACCOUNTS_MAX = 256

export interface BorrowingOptions {
  readonly context: MoneyContext
  readonly lender: Pick<Lender, 'lend'>
  readonly fronts: FrontCount
  readonly timers: MoneyTimers
  readonly log: Log
  /** Called when the authority no longer accepts anything from this front. */
  readonly fenced: () => void
}

/** Milliseconds between two checks for calls that have waited long enough. */
const LOOK_MS = 25

/**
 * Borrows money for calls that the balances do not cover. At the end of an event-loop tick one request asks
 * for all waiting calls. Only one request is under way at a time, and it is repeated unchanged until it is
 * answered. Design §6.
 */
export class Borrowing {
  readonly #options: BorrowingOptions
  readonly #waiters: BalanceWaiters
  #sequence = 0
  #isScheduled = false
  #isLooking = false
  #isStopped = false
  /** True while a request is under way or its outcome is unknown. */
  isRequesting = false
  lends = 0
  /** Milliseconds that all answered requests took. */
  lendMs = 0

  constructor(options: BorrowingOptions) {
    this.#options = options
    this.#waiters = new BalanceWaiters(options.context.now)
  }

  get waiting(): number {
    return this.#waiters.size
  }

  /** Failures: credit_exhausted, key_limit_exceeded, budget_exceeded, store_unavailable, busy, client_gone. */
  join(reservation: Reservation): Outcome<Hold> | Promise<Outcome<Hold>> {
    if (this.#waiters.size >= MONEY_WAITING_MAX) return fail('busy')
    if (reservation.ask.signal?.().aborted === true) return fail('client_gone')
    const answer = this.#waiters.add(reservation)
    this.wake()
    this.#look()
    return answer
  }

  /** Called when something changed: calls that are covered now take their money, and at the end of this tick a request asks for the rest. */
  wake(): void {
    if (this.#isScheduled || this.#waiters.size === 0) return
    this.#isScheduled = true
    this.#options.timers.soon(() => {
      this.#isScheduled = false
      this.#waiters.serve()
      this.#request()
    })
  }

  stop(outcome: Outcome<Hold>): void {
    this.#isStopped = true
    this.#waiters.settleAll(outcome)
  }

  #request(): void {
    const {
      balances: { day },
      journal,
    } = this.#options.context
    if (this.isRequesting || this.#isStopped || day === null) return
    const accounts = this.#gather()
    if (accounts.length === 0) return
    this.isRequesting = true
    this.#sequence += 1
    void this.#send({
      journalId: journal.id,
      sequence: this.#sequence,
      day,
      liveFronts: this.#options.fronts.liveFronts,
      accounts,
    })
  }

  async #send(ask: LendInput): Promise<void> {
    const {
      lender,
      timers,
      log,
      context: { now },
      fenced,
    } = this.#options
    // Read before the request: an answer does not reflect changes made after it.
    const before = this.#changesOf(ask)
    for (let isFirst = true; ; isFirst = false) {
      const sentAt = now()
      let reply: LendReply | null
      try {
        reply = await lender.lend(ask)
      } catch (problem) {
        if (isFirst) log.warn('money.lend_failed', { cause: problem })
        // The authority may have lent the money nevertheless; the repeated request returns its answer.
        await new Promise<void>((resolve) => void timers.after(LEND_REPEAT_MS, resolve))
        if (this.#isStopped) return
        continue
      }
      this.isRequesting = false
      if (reply === null) return fenced()
      this.lends += 1
      this.lendMs += now() - sentAt
      this.#receive(reply, before)
      return
    }
  }

  #receive({ day, accounts }: LendReply, before: ReadonlyMap<string, number>): void {
    const { balances } = this.#options.context
    const isNewDay = balances.advance(day)
    const outdated: Balance[] = []
    for (const grant of accounts) {
      const balance = balances.byAccount(grant.accountId)
      if (balance === undefined) continue
      balance.isRequested = false
      if (day !== balances.day) balances.giveBack(balance, day, grant.lentNano)
      else balance.receive(grant)
      if (balance.changes !== before.get(grant.accountId)) outdated.push(balance)
    }
    this.#waiters.serve()
    // If the day has changed, the balances of the old day no longer exist: the rest is requested again.
    this.#waiters.judge(!isNewDay && day === balances.day)
    for (const balance of outdated) balance.forget()
    this.wake()
  }

  /**
   * The amounts that waiting calls need beyond the balances. Accounts that the authority found empty a moment
   * ago are left out.
   */
  #gather(): readonly AccountNeed[] {
    const now = this.#options.context.now()
    const needs = new Map<Balance, { needNano: number; leastNano: number }>()
    for (const waiter of this.#waiters) {
      const { reservation } = waiter
      if (needs.size >= LEND_ACCOUNTS_MAX) break
      if (reservation.short().some(({ quietUntil }) => now < quietUntil)) continue
      this.#waiters.mark(waiter, true)
      for (const balance of reservation.balances) {
        const amount = reservation.amounts[balance.kind]
        const need = needs.get(balance)
        if (need === undefined) needs.set(balance, { needNano: amount, leastNano: amount })
        else {
          need.needNano += amount
          need.leastNano = Math.min(need.leastNano, amount)
        }
      }
    }
    const asks: AccountNeed[] = []
    for (const [balance, { needNano, leastNano }] of needs) {
      const { accountId, balanceNano } = balance
      if (needNano <= balanceNano) continue
      balance.isRequested = true
      const useNano = balance.useNano(now)
      asks.push({
        accountId,
        needNano: needNano - balanceNano,
        leastNano: Math.max(1, leastNano - balanceNano),
        useNano,
      })
    }
    return asks
  }

  #changesOf(ask: LendInput): ReadonlyMap<string, number> {
    const { balances } = this.#options.context
    return new Map(
      ask.accounts.map(({ accountId }) => [accountId, balances.byAccount(accountId)?.changes ?? 0]),
    )
  }

  /** Repeated while calls wait: ends those that have waited long enough, and sends a request for the others. */
  #look(): void {
    if (this.#isLooking) return
    this.#isLooking = true
    this.#options.timers.after(LOOK_MS, () => {
      this.#isLooking = false
      this.#waiters.expire()
      if (this.#waiters.size === 0) return
      this.wake()
      this.#look()
    })
  }
}

interface Waiter {
  readonly reservation: Reservation
  /** Monotonic milliseconds at which the call stops waiting, with or without an answer. */
  readonly until: number
  /**
   * Monotonic milliseconds at which a refusal becomes final. Set when the authority had too little while
   * other fronts held some.
   */
  refusedAt: number | null
  /** True while a request asks for this call's money. */
  isRequested: boolean
  readonly settle: (outcome: Outcome<Hold>) => void
  readonly unlisten: () => void
}

/**
 * Calls that wait for money, the oldest first. A `FairSemaphore` does not fit, since no places are returned:
 * an answer of the authority covers some calls, and a call needs several balances at once.
 */
export class BalanceWaiters {
  readonly #waiters = new Set<Waiter>()
  readonly #now: () => number

  constructor(now: () => number) {
    this.#now = now
  }

  get size(): number {
    return this.#waiters.size
  }

  [Symbol.iterator](): IterableIterator<Waiter> {
    return this.#waiters.values()
  }

  /** Waits until the call is settled, or until its caller disconnects; a call whose caller disconnected takes nothing. */
  add(reservation: Reservation): Promise<Outcome<Hold>> {
    return new Promise((resolve) => {
      const leave = (): void => this.settle(waiter, fail('client_gone'))
      const signal = reservation.ask.signal?.()
      signal?.addEventListener('abort', leave, { once: true })
      const waiter: Waiter = {
        reservation,
        until: Math.min(this.#now() + MONEY_WAIT_MS_MAX, reservation.ask.deadlineAt),
        refusedAt: null,
        isRequested: false,
        settle: resolve,
        unlisten: () => signal?.removeEventListener('abort', leave),
      }
      this.#waiters.add(waiter)
      for (const balance of reservation.balances) balance.waiting += 1
    })
  }

  /** Settles a call once; a second settlement does nothing. */
  settle(waiter: Waiter, outcome: Outcome<Hold>): void {
    if (!this.#waiters.delete(waiter)) return
    for (const balance of waiter.reservation.balances) balance.waiting -= 1
    this.mark(waiter, false)
    waiter.unlisten()
    waiter.settle(outcome)
  }

  /** Marks calls for which a request asks: they take precedence over later calls. */
  mark(waiter: Waiter, isRequested: boolean): void {
    if (waiter.isRequested === isRequested) return
    waiter.isRequested = isRequested
    for (const balance of waiter.reservation.balances) balance.waitingRequested += isRequested ? 1 : -1
  }

  settleAll(outcome: Outcome<Hold>): void {
    for (const waiter of this.#waiters) this.settle(waiter, outcome)
  }

  /**
   * Takes money for every call that is covered now, in their order. A call that is not covered does not hold
   * back the calls after it.
   */
  serve(): void {
    for (const waiter of this.#waiters) {
      if (waiter.reservation.mayTake(waiter.isRequested)) this.settle(waiter, waiter.reservation.hold())
    }
  }

  /**
   * To be called when the authority has answered for the marked calls: calls that are still short of money
   * are refused or tried again.
   * @param isConclusive false: the money of all marked calls is requested again
   */
  judge(isConclusive: boolean): void {
    const now = this.#now()
    for (const waiter of this.#waiters) {
      if (!waiter.isRequested) continue
      this.mark(waiter, false)
      if (!isConclusive) continue
      const short = waiter.reservation.short()
      const refusing = refusingOf(waiter.reservation, short)
      if (refusing.final.length > 0) this.#refuse(waiter, refusing.final)
      else {
        if (refusing.all.length > 0) waiter.refusedAt ??= now + MONEY_TRIED_MS_MAX
        for (const balance of short) balance.quietUntil = now + MONEY_TRY_MS
      }
    }
  }

  /** Ends calls whose waiting time is over. A call that the authority has refused is refused; other calls fail because the store is unavailable. */
  expire(): void {
    const now = this.#now()
    for (const waiter of this.#waiters) {
      const isRefused = waiter.refusedAt !== null && now >= waiter.refusedAt
      if (!isRefused && now < waiter.until) continue
      const { all } = refusingOf(waiter.reservation, waiter.reservation.short())
      if (waiter.refusedAt !== null && all.length > 0) this.#refuse(waiter, all)
      // Money was returned meanwhile, partly to the front and partly to the authority: it is requested.
      else if (now < waiter.until) waiter.refusedAt = null
      else this.settle(waiter, fail('store_unavailable'))
    }
  }

  #refuse(waiter: Waiter, refusing: readonly Refusing[]): void {
    const now = this.#now()
    const { amounts } = waiter.reservation
    for (const { balance, limits } of refusing) balance.refuse(amounts[balance.kind], limits, now)
    this.settle(
      waiter,
      moneyRefused(
        refusing.flatMap(({ balance, limits }) => balance.refusingLimits(limits, amounts[balance.kind])),
      ),
    )
  }
}

interface Refusing {
  readonly balance: Balance
  readonly limits: Verdict['limits']
}

function refusingOf(
  reservation: Reservation,
  short: readonly Balance[],
): { final: readonly Refusing[]; all: readonly Refusing[] } {
  const judged = short.map((balance) => ({ balance, ...balance.judge(reservation.amounts[balance.kind]) }))
  return {
    final: judged.filter(({ isFinal }) => isFinal),
    all: judged.filter(({ limits }) => limits.length > 0),
  }
}
