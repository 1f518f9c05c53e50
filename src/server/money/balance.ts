import { MONEY_REFUSED_MS } from '../../schemas/money/money-limits.ts'
import type { AccountGrant, LimitState } from '../ports/money/lending.ts'
import type { AccountKind } from '../ports/money/money.ts'
import type { RefusingLimit } from '../../schemas/money/money-refusals.ts'

/** A slot in which use is counted, in milliseconds. */
const USE_SLOT_MS = 1_000

interface Refusal {
  readonly until: number
  /** What needs less may still fit. */
  readonly fromNano: number
  readonly limits: readonly LimitState[]
}

/** What an account's answer means for a call that its balance does not cover. */
export interface Verdict {
  /** Finite limits that are in the way. */
  readonly limits: readonly LimitState[]
  /** Nothing that comes back can help: it does not fit beside what is spent. */
  readonly isFinal: boolean
}

/**
 * A front's balance of one account: money of one day, lent and neither taken by a call nor given back. Whole
 * nano-USD, below 2⁵³. Design §6.
 */
export class Balance {
  readonly kind: AccountKind
  readonly accountId: string
  /** Whose account it is, as invalidations name it; of a key any of its hashes. */
  readonly ownerId: string
  balanceNano = 0
  /** Taken by calls under way: some of it may come back. */
  openNano = 0
  /** Given back, and not in the books yet. */
  returningNano = 0
  /** Paid from here since the start, and what of that is in the books. */
  paidNano = 0
  bookedNano = 0
  /** The authority said so, and its owner has not changed since. */
  isUnlimited = false
  /** Calls that wait, and need money of it; of them those that stand in the request under way. */
  waiting = 0
  waitingAsked = 0
  /** It stands in the request under way: what is lent must find it. */
  isAsked = false
  /** Until then asking again is of no use: monotonic milliseconds. */
  quietUntil = 0
  /** Changes of its owner that were heard of: an answer from before the last one is not remembered. */
  changes = 0
  lastUsedAt: number
  #limits: readonly LimitState[] = []
  #bookedAtAnswer = 0
  #isLentElsewhere = false
  #refusal: Refusal | null = null
  #slotAt: number
  #used = 0
  #usedBefore = 0

  constructor(owner: Pick<Balance, 'kind' | 'accountId' | 'ownerId'>, now: number) {
    this.kind = owner.kind
    this.accountId = owner.accountId
    this.ownerId = owner.ownerId
    this.lastUsedAt = now
    this.#slotAt = now
  }

  take(amountNano: number, now: number): void {
    this.balanceNano -= amountNano
    this.openNano += amountNano
    this.#count(amountNano, now)
  }

  /** A call has ended. @param keptNano what of its take stays here */
  settle(amountNano: number, keptNano: number): void {
    this.openNano -= amountNano
    this.balanceNano += keptNano
  }

  receive(grant: AccountGrant): void {
    this.balanceNano += grant.lentNano
    this.isUnlimited = grant.isUnlimited
    this.#limits = grant.limits
    this.#bookedAtAnswer = this.bookedNano
    this.#isLentElsewhere = grant.isLentElsewhere
    this.#refusal = null
  }

  /** Its owner changed: what the authority said of it may be wrong now. What it lent stays lent. */
  forget(): void {
    this.changes += 1
    this.isUnlimited = false
    this.#refusal = null
    this.quietUntil = 0
  }

  /** Of the last answer, for a call that needs more than the balance. */
  judge(amountNano: number): Verdict {
    const hopeless = this.#limits.filter(({ limitNano, spentNano }) => amountNano > limitNano - spentNano)
    if (hopeless.length > 0) return { limits: hopeless, isFinal: true }
    const limits = this.#limits.filter(({ restNano }) => restNano + this.balanceNano < amountNano)
    return { limits, isFinal: limits.length > 0 && !this.#mayComeBack() }
  }

  refuse(amountNano: number, limits: readonly LimitState[], now: number): void {
    this.#refusal = { until: now + MONEY_REFUSED_MS, fromNano: amountNano, limits }
  }

  /** Limits that refused as much a moment ago. */
  refusing(amountNano: number, now: number): readonly RefusingLimit[] {
    const refusal = this.#refusal
    if (
      refusal === null ||
      now >= refusal.until ||
      amountNano < refusal.fromNano ||
      amountNano <= this.balanceNano
    )
      return []
    return this.told(refusal.limits, amountNano)
  }

  /**
   * Limits of the last answer as a caller is told of them: what was paid here is used, before the books say
   * so, and what lies here is held by nobody.
   */
  told(limits: readonly LimitState[], boundNano: number): readonly RefusingLimit[] {
    const unbookedNano = Math.max(0, this.paidNano - this.#bookedAtAnswer)
    return limits.map((limit) => {
      const spentNano = Math.min(limit.limitNano - limit.restNano, limit.spentNano + unbookedNano)
      const restNano = Math.min(limit.limitNano - spentNano, limit.restNano + this.balanceNano)
      return { kind: this.kind, limit: { ...limit, spentNano, restNano }, boundNano }
    })
  }

  /** Nano-USD that calls took in a second, lately. */
  useNano(now: number): number {
    this.#count(0, now)
    return Math.max(this.#used, this.#usedBefore)
  }

  #mayComeBack(): boolean {
    return this.#isLentElsewhere || this.openNano > 0 || this.returningNano > 0
  }

  #count(amountNano: number, now: number): void {
    const slots = Math.floor((now - this.#slotAt) / USE_SLOT_MS)
    if (slots !== 0) {
      this.#usedBefore = slots === 1 ? this.#used : 0
      this.#used = 0
      this.#slotAt = slots === 1 ? this.#slotAt + USE_SLOT_MS : now
    }
    this.#used += amountNano
    if (amountNano > 0) this.lastUsedAt = now
  }
}
