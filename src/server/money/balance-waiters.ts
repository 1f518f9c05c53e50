import { fail, type Outcome } from '../../schemas/failures.ts'
import { MONEY_TRIED_MS_MAX, MONEY_TRY_MS, MONEY_WAIT_MS_MAX } from '../../schemas/money/money-limits.ts'
import type { Hold } from '../ports/money/money.ts'
import { moneyRefused } from '../../schemas/money/money-refusals.ts'
import type { Reservation } from './reservation.ts'
import type { Balance, Verdict } from './balances.ts'

/** A call that waits for money. */
export interface Waiter {
  readonly reservation: Reservation
  /** Monotonic milliseconds at which the call stops waiting, with or without an answer. */
  readonly until: number
  /**
   * Monotonic milliseconds at which a refusal becomes final. Set when the authority had too little while
   * other fronts held some.
   */
  refusedAt: number | null
  /** The request under way asks for this call's money. */
  isRequested: boolean
  readonly settle: (outcome: Outcome<Hold>) => void
  readonly unlisten: () => void
}

/**
 * Calls that wait for money, the oldest first. Unlike a `FairSemaphore` there are no places that come back:
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

  /** Waits until the call is settled, or until its caller leaves; a call whose caller left takes nothing. */
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

  /** Calls that the request under way asks for go before calls that came later. */
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
   * back the calls behind it.
   */
  serve(): void {
    for (const waiter of this.#waiters) {
      if (waiter.reservation.mayTake(waiter.isRequested)) this.settle(waiter, waiter.reservation.hold())
    }
  }

  /**
   * To be called when the authority has answered for the marked calls: calls that are still short of money
   * are refused or tried again.
   * @param isConclusive false: the money of all marked calls is asked for once more
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

  /**
   * Ends calls whose waiting time is over. A call that the authority refused so far is refused; for any other
   * the store counts as unavailable.
   */
  expire(): void {
    const now = this.#now()
    for (const waiter of this.#waiters) {
      const isRefused = waiter.refusedAt !== null && now >= waiter.refusedAt
      if (!isRefused && now < waiter.until) continue
      const { all } = refusingOf(waiter.reservation, waiter.reservation.short())
      if (waiter.refusedAt !== null && all.length > 0) this.#refuse(waiter, all)
      // Money came back meanwhile, in part to the front and in part to the authority: it is asked for.
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
