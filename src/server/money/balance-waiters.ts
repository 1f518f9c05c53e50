import { fail, type Outcome } from '../../schemas/failures.ts'
import { MONEY_TRIED_MS_MAX, MONEY_TRY_MS, MONEY_WAIT_MS_MAX } from '../../schemas/money/money-limits.ts'
import type { Hold } from '../ports/money/money.ts'
import type { Balance, Verdict } from './balance.ts'
import { moneyRefused } from '../../schemas/money/money-refusals.ts'
import type { Reservation } from './reservation.ts'

/** A call that waits for money. */
export interface Waiter {
  readonly taking: Reservation
  /** Monotonic milliseconds at which it gives up, answer or not. */
  readonly until: number
  /**
   * Set when the authority had too little, while others hold some: monotonic milliseconds at which that is
   * final.
   */
  refusedAt: number | null
  /** It stands in the request under way. */
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

  /** Waits until somebody settles it, or the caller leaves, who then takes nothing. */
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

  /** Once; a second time is nothing. */
  settle(waiter: Waiter, outcome: Outcome<Hold>): void {
    if (!this.#waiters.delete(waiter)) return
    for (const purse of waiter.taking.purses) purse.waiting -= 1
    this.mark(waiter, false)
    waiter.unlisten()
    waiter.settle(outcome)
  }

  /** Those who stand in a request go before those who came later. */
  mark(waiter: Waiter, isAsked: boolean): void {
    if (waiter.isAsked === isAsked) return
    waiter.isAsked = isAsked
    for (const purse of waiter.taking.purses) purse.waitingAsked += isAsked ? 1 : -1
  }

  settleAll(outcome: Outcome<Hold>): void {
    for (const waiter of this.#waiters) this.settle(waiter, outcome)
  }

  /** All that are covered now take, in their order; one that is not keeps nobody behind it from going. */
  serve(): void {
    for (const waiter of this.#waiters) {
      if (waiter.taking.mayTake(waiter.isAsked)) this.settle(waiter, heldBy(waiter.taking))
    }
  }

  /**
   * The authority has answered those that were asked for: what is still short of money is refused, or tried
   * again.
   * @param isConclusive false: all are asked for once more
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

  /** Those whose time is over: refused where that was the answer so far, else the store is to blame. */
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

/** The hold of a call whose purses cover it, before it is written. */
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
