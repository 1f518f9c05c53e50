import { fail, type Outcome } from '../../schemas/failures.ts'
import { MONEY_TRIED_MS_MAX, MONEY_TRY_MS, MONEY_WAIT_MS_MAX } from '../../schemas/money/money-limits.ts'
import type { Hold } from '../ports/money/money.ts'
import type { Balance, Verdict } from './balance.ts'
import { moneyRefused } from '../../schemas/money/money-refusals.ts'
import type { Reservation } from './reservation.ts'

/** A call that waits for money. */
export interface Waiter {
  readonly taking: Reservation
  /** Monotonic milliseconds at which the call stops waiting, with or without an answer. */
  readonly until: number
  /**
   * Monotonic milliseconds at which a refusal becomes final. Set when the authority had too little while
   * other fronts held some.
   */
  refusedAt: number | null
  /** The request under way asks for this call's money. */
  isAsked: boolean
  readonly settle: (outcome: Outcome<Hold>) => void
  readonly unlisten: () => void
}

/** Calls that wait for money, the oldest first. */
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
  add(taking: Reservation): Promise<Outcome<Hold>> {
    return new Promise((resolve) => {
      const leave = (): void => this.settle(waiter, fail('client_gone'))
      const signal = taking.ask.signal?.()
      signal?.addEventListener('abort', leave, { once: true })
      const waiter: Waiter = {
        taking,
        until: Math.min(this.#now() + MONEY_WAIT_MS_MAX, taking.ask.deadlineAt),
        refusedAt: null,
        isAsked: false,
        settle: resolve,
        unlisten: () => signal?.removeEventListener('abort', leave),
      }
      this.#waiters.add(waiter)
      for (const purse of taking.purses) purse.waiting += 1
    })
  }

  /** Settles a call once; a second settlement does nothing. */
  settle(waiter: Waiter, outcome: Outcome<Hold>): void {
    if (!this.#waiters.delete(waiter)) return
    for (const purse of waiter.taking.purses) purse.waiting -= 1
    this.mark(waiter, false)
    waiter.unlisten()
    waiter.settle(outcome)
  }

  /** Calls that the request under way asks for go before calls that came later. */
  mark(waiter: Waiter, isAsked: boolean): void {
    if (waiter.isAsked === isAsked) return
    waiter.isAsked = isAsked
    for (const purse of waiter.taking.purses) purse.waitingAsked += isAsked ? 1 : -1
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
      if (waiter.taking.mayTake(waiter.isAsked)) this.settle(waiter, heldBy(waiter.taking))
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
      if (!waiter.isAsked) continue
      this.mark(waiter, false)
      if (!isConclusive) continue
      const short = waiter.taking.short()
      const refusing = refusingOf(waiter.taking, short)
      if (refusing.final.length > 0) this.#refuse(waiter, refusing.final)
      else {
        if (refusing.all.length > 0) waiter.refusedAt ??= now + MONEY_TRIED_MS_MAX
        for (const purse of short) purse.quietUntil = now + MONEY_TRY_MS
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
      const { all } = refusingOf(waiter.taking, waiter.taking.short())
      if (waiter.refusedAt !== null && all.length > 0) this.#refuse(waiter, all)
      else this.settle(waiter, fail('store_unavailable'))
    }
  }

  #refuse(waiter: Waiter, refusing: readonly Refusing[]): void {
    const now = this.#now()
    const { amounts } = waiter.taking
    for (const { purse, limits } of refusing) purse.refuse(amounts[purse.kind], limits, now)
    this.settle(
      waiter,
      moneyRefused(refusing.flatMap(({ purse, limits }) => purse.told(limits, amounts[purse.kind]))),
    )
  }
}

/** The hold of a call whose balances cover it, before the journal has it. */
export function heldBy(taking: Reservation): Outcome<Hold> {
  return taking.take() ? { ok: true, value: taking } : fail('store_unavailable')
}

interface Refusing {
  readonly purse: Balance
  readonly limits: Verdict['limits']
}

function refusingOf(
  taking: Reservation,
  short: readonly Balance[],
): { final: readonly Refusing[]; all: readonly Refusing[] } {
  const judged = short.map((purse) => ({ purse, ...purse.judge(taking.amounts[purse.kind]) }))
  return {
    final: judged.filter(({ isFinal }) => isFinal),
    all: judged.filter(({ limits }) => limits.length > 0),
  }
}
